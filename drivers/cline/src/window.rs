//! Elements of a file whose places are known, read in large pieces.

use crate::pieces::Place;
use sepia_ir::{DriverError, ErrorCode};
use sepia_sdk::Host;

/// Bytes read at once.
const BLOCK: u32 = 256 << 10;
/// Bytes of one read at most.
const MOST: u64 = 8 << 20;

/// A window on a file.
pub(crate) struct Window {
    host: Host,
    place: Place,
    start: u64,
    held: Vec<u8>,
}

impl Window {
    pub(crate) fn new(host: Host, place: Place) -> Self {
        Self { host, place, start: 0, held: Vec::new() }
    }

    /// Bytes of the file.
    pub(crate) fn get(&mut self, offset: u64, length: u32) -> Result<&[u8], DriverError> {
        let end = self.start + self.held.len() as u64;
        if offset < self.start || offset + u64::from(length) > end {
            self.fill(offset, length.max(BLOCK))?;
        }
        let from = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        let path = &self.place.path;
        self.held.get(from..from.saturating_add(length as usize)).ok_or_else(|| changed(path))
    }

    fn fill(&mut self, offset: u64, bytes: u32) -> Result<(), DriverError> {
        self.start = offset;
        self.held.clear();
        let end = (offset + u64::from(bytes)).min(self.place.bytes);
        while self.start + (self.held.len() as u64) < end {
            let from = self.start + self.held.len() as u64;
            let wanted = u32::try_from((end - from).min(MOST)).unwrap_or(u32::MAX);
            let piece = self.host.read(self.place.store, &self.place.path, from, wanted)?;
            if piece.is_empty() {
                break;
            }
            if self.held.is_empty() {
                self.held = piece;
            } else {
                self.held.extend_from_slice(&piece);
            }
        }
        Ok(())
    }
}

/// The agent rewrites its files in place.
pub(crate) fn changed(path: &str) -> DriverError {
    DriverError::new(ErrorCode::Conflict, format!("`{path}` was rewritten while it was read; read it again"))
}
