//! Lines of a file, read in large pieces; nothing is read twice as long as lines are asked
//! for in order.

use sepia_ir::{DriverError, ErrorCode};
use sepia_sdk::Host;
use std::borrow::Cow;

use crate::place::STORE;

/// Bytes read at once: what is read, its copy in here and what is made of it stay in the
/// second-level cache together.
const BLOCK: u32 = 256 << 10;
/// Bytes of one read at most.
const MAX_READ: u32 = 8 << 20;
/// A longer line is not read: its node says so, with the place and the size.
pub(crate) const MAX_LINE: u32 = 16 << 20;

/// A window on a file.
pub(crate) struct Lines {
    host: Host,
    path: String,
    start: u64,
    held: Vec<u8>,
    block: u32,
}

impl Lines {
    /// A window for reading from start to end.
    pub(crate) fn new(host: Host, path: String) -> Self {
        Self { host, path, start: 0, held: Vec::new(), block: BLOCK }
    }

    /// A window for reading single lines here and there.
    pub(crate) fn sparse(host: Host, path: String) -> Self {
        Self { block: 0, ..Self::new(host, path) }
    }

    /// A window for lines that mostly stand close to each other.
    pub(crate) fn near(host: Host, path: String) -> Self {
        Self { block: BLOCK / 2, ..Self::new(host, path) }
    }

    /// The bytes of a line, at most [`MAX_LINE`].
    pub(crate) fn get(&mut self, offset: u64, length: u32) -> Result<&[u8], DriverError> {
        let end = self.start + self.held.len() as u64;
        if offset < self.start || offset + u64::from(length) > end {
            self.fill(offset, length.max(self.block).min(MAX_LINE.max(length)))?;
        }
        let from = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        self.held.get(from..from + length as usize).ok_or_else(|| {
            let path = &self.path;
            DriverError::new(ErrorCode::Conflict, format!("`{path}` became shorter while it was read; read it again"))
        })
    }

    fn fill(&mut self, offset: u64, mut bytes: u32) -> Result<(), DriverError> {
        self.start = offset;
        self.held = self.host.read(STORE, &self.path, offset, bytes.min(MAX_READ))?;
        while self.held.len() as u64 >= u64::from(MAX_READ) && bytes > MAX_READ {
            bytes -= MAX_READ;
            let more = self.host.read(STORE, &self.path, offset + self.held.len() as u64, bytes.min(MAX_READ))?;
            if more.is_empty() {
                break;
            }
            self.held.extend_from_slice(&more);
        }
        Ok(())
    }
}

/// What had to be repaired before a line could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repair {
    /// Bytes that are no UTF-8 became U+FFFD.
    Encoding,
    /// Halves of surrogate pairs became U+FFFD.
    Surrogates(usize),
}

impl Repair {
    /// Stable name, and a sentence without its place.
    pub(crate) fn told(self) -> (&'static str, String) {
        match self {
            Self::Encoding => ("not-utf8", "bytes that are not UTF-8 were replaced by U+FFFD".to_owned()),
            Self::Surrogates(count) => {
                ("lone-surrogate", format!("half surrogate pairs ({count}) were replaced by U+FFFD"))
            }
        }
    }
}

/// The way to the first string of a repaired record that holds U+FFFD, as in
/// `message.content[0].text`.
pub(crate) fn repaired_member(record: &str) -> Option<String> {
    fn way(value: &serde_json::Value) -> Option<String> {
        use serde_json::Value;
        match value {
            Value::String(text) => text.contains('\u{fffd}').then(String::new),
            Value::Array(items) => {
                items.iter().enumerate().find_map(|(at, item)| Some(format!("[{at}]{}", way(item)?)))
            }
            Value::Object(members) => {
                members.iter().find_map(|(name, member)| Some(format!(".{name}{}", way(member)?)))
            }
            _ => None,
        }
    }
    let value = serde_json::from_str(record).ok()?;
    Some(way(&value)?.trim_start_matches('.').to_owned())
}

/// The text of a line without a byte order mark.
pub(crate) fn text(line: &[u8]) -> (Cow<'_, str>, Option<Repair>) {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    match sepia_sdk::utf8(line) {
        Some(text) => (Cow::Borrowed(text), None),
        None => (String::from_utf8_lossy(line), Some(Repair::Encoding)),
    }
}

/// Parses a line and gives what was made of it to `read`; when it can't be parsed, once more with its lone
/// surrogates replaced.
pub(crate) fn parse<T>(
    line: &[u8],
    mut read: impl FnMut(&str) -> serde_json::Result<T>,
) -> Result<(T, Option<Repair>), serde_json::Error> {
    let (text, repair) = text(line);
    match read(&text) {
        Ok(value) => Ok((value, repair)),
        Err(error) => {
            let (repaired, count) = sepia_ir::json_text::replace_lone_surrogates(text.as_bytes());
            if count == 0 {
                return Err(error);
            }
            let repaired = String::from_utf8_lossy(&repaired);
            Ok((read(&repaired)?, Some(Repair::Surrogates(count))))
        }
    }
}
