//! A file read in pieces, forward, in bounded memory.

use sepia_ir::DriverError;
use sepia_sdk::Host;

/// Bytes read at once: what is read and its copy in here stay in the second-level cache.
const PIECE: u32 = 256 << 10;

/// A file of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) store: &'static str,
    pub(crate) path: String,
    /// Bytes when it was looked at; what is appended later is not read.
    pub(crate) bytes: u64,
}

/// See the module.
pub(crate) struct Pieces {
    host: Host,
    place: Place,
    buffer: Vec<u8>,
    /// Offset of the buffer's start.
    base: u64,
    /// Position in the buffer.
    at: usize,
    /// Start of what must stay in the buffer.
    mark: Option<usize>,
    piece: u32,
}

impl Pieces {
    pub(crate) fn new(host: Host, place: Place) -> Self {
        Self { host, place, buffer: Vec::new(), base: 0, at: 0, mark: None, piece: PIECE }
    }

    /// With smaller pieces, for who wants only the start.
    pub(crate) fn with_piece(mut self, bytes: u32) -> Self {
        self.piece = bytes;
        self
    }

    /// Offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(crate) fn size(&self) -> u64 {
        self.place.bytes
    }

    /// What is at hand, from the next byte; empty at the end only.
    pub(crate) fn rest(&mut self) -> Result<&[u8], DriverError> {
        if self.at >= self.buffer.len() {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..])
    }

    /// Passes over bytes that [`Pieces::rest`] showed.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.buffer.len());
    }

    /// From here on everything stays at hand.
    pub(crate) fn mark(&mut self) {
        self.mark = Some(self.at);
    }

    /// Forgets what was to stay.
    pub(crate) fn unmark(&mut self) {
        self.mark = None;
    }

    /// Bytes since the mark.
    pub(crate) fn held(&self) -> usize {
        self.mark.map_or(0, |mark| self.at - mark)
    }

    /// What stands between the mark and here.
    pub(crate) fn marked(&self) -> &[u8] {
        self.mark.map_or(&[], |mark| &self.buffer[mark..self.at])
    }

    /// Reads on; nothing happens at the end.
    fn fill(&mut self) -> Result<(), DriverError> {
        let keep = self.mark.unwrap_or(self.at);
        let end = self.base + self.buffer.len() as u64;
        let bytes = u32::try_from(self.place.bytes.saturating_sub(end)).unwrap_or(u32::MAX).min(self.piece);
        if bytes == 0 {
            return Ok(());
        }
        let piece = self.host.read(self.place.store, &self.place.path, end, bytes)?;
        self.base += keep as u64;
        self.at -= keep;
        self.mark = self.mark.map(|_| 0);
        if keep == self.buffer.len() {
            self.buffer = piece;
        } else {
            self.buffer.drain(..keep);
            self.buffer.extend_from_slice(&piece);
        }
        self.piece = PIECE;
        Ok(())
    }
}
