//! A transcript being written: its head, its messages one after the other, and its end.

use crate::place::STORE;
use sepia_ir::DriverError;
use sepia_sdk::metadata::Members;
use sepia_sdk::{Host, NewFile};

/// Bytes written at once.
const PIECE: usize = 1 << 20;
/// Mode of the agent's own files.
pub(super) const MODE: u32 = 0o644;

/// See the module.
pub(super) struct Output {
    /// None in a dry run.
    file: Option<Box<dyn NewFile>>,
    held: Vec<u8>,
    begun: bool,
}

impl Output {
    /// A transcript at this path; `None` writes nothing.
    pub(super) fn begin(host: &Host, path: Option<&str>, head: &[u8]) -> Result<Self, DriverError> {
        let file = path.map(|path| host.create(STORE, path, MODE)).transpose()?;
        Ok(Self { file, held: head.to_vec(), begun: false })
    }

    /// The next message.
    pub(super) fn message(&mut self, json: &[u8]) -> Result<(), DriverError> {
        self.begin_message()?;
        self.bytes(json)
    }

    /// Begins a message whose bytes come in pieces.
    pub(super) fn begin_message(&mut self) -> Result<(), DriverError> {
        let between: &[u8] = if self.begun { b",\n    " } else { b"\n    " };
        self.begun = true;
        self.bytes(between)
    }

    /// The next bytes of a message.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), DriverError> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        if let Some(file) = &mut self.file {
            for piece in self.held.chunks(8 * PIECE) {
                file.write(piece)?;
            }
        }
        self.held.clear();
        Ok(())
    }

    /// Ends it, with what follows the last message, and puts it in its place.
    pub(super) fn finish(mut self, tail: &[u8], expect: Option<u64>) -> Result<(), DriverError> {
        self.held.extend_from_slice(tail);
        self.flush()?;
        match self.file {
            Some(file) => file.commit(expect),
            None => Ok(()),
        }
    }
}

/// What follows the messages of a transcript.
pub(super) const TAIL: &[u8] = b"\n  ]\n}\n";

/// What a transcript begins with, up to its list of messages. The member of ours says that the
/// file is no session before a manifest stands beside it; the agent drops it.
pub(super) fn head(id: &str, updated: &str, version: Option<&str>) -> String {
    let mut origin = Members::default();
    origin.text("source", "cli");
    origin.text("mode", "user");
    origin.text("sessionId", id);
    origin.maybe("version", version);
    format!(
        "{{\n  \"version\": 1,\n  \"updated_at\": \"{updated}\",\n  \"agent\": \"lead\",\n  \"sessionId\": \"{id}\",\n  \"origin\": {},\n  \"{}\": true,\n  \"messages\": [",
        origin.finish(),
        sepia_sdk::carried::KEY,
    )
}
