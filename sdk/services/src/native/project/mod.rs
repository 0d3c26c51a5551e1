//! Members of all lines of a file of JSON lines.

mod escape;
mod pattern;
mod scan;

use super::error::ServiceError;
use super::file::OpenFile;
use super::store::Deadline;
use crate::packed::{LineKind, Packer};
use memchr::memrchr;
use pattern::Pattern;
use scan::Scanner;
use sepia_ir::Projection;

/// Bytes read at once.
const BLOCK: usize = 1 << 20;
/// A longer line is not looked into.
const MAX_LINE: usize = 256 << 20;
/// A packed result may be this large.
const MAX_PACKED: usize = 256 << 20;

/// See [`super::store::Store::project`].
pub(super) fn project(file: &OpenFile, query: &Projection, deadline: Deadline) -> Result<Vec<u8>, ServiceError> {
    let pattern = Pattern::of(&query.members)?;
    let mut lines = Lines {
        file,
        deadline,
        scanner: Scanner::new(&pattern, query.max_value),
        packer: Packer::default(),
        block: BLOCK,
        max_line: MAX_LINE,
    };
    if query.offset > 0 && query.offset < file.size() && file.part(query.offset - 1, 1)? != b"\n" {
        let path = &file.entry().path;
        return Err(ServiceError::Query(format!("offset {} is not where a line of `{path}` begins", query.offset)));
    }
    lines.range(query.offset, file.size())?;
    Ok(lines.packer.finish())
}

struct Lines<'a> {
    file: &'a OpenFile,
    deadline: Deadline,
    scanner: Scanner<'a>,
    packer: Packer,
    block: usize,
    max_line: usize,
}

impl Lines<'_> {
    /// All lines of a part of the file that begins where a line does.
    fn range(&mut self, from: u64, to: u64) -> Result<(), ServiceError> {
        let mut buffer = vec![0; self.block];
        // The buffer holds the file from `start`; its first `kept` bytes were looked at and
        // hold no line feed.
        let (mut start, mut kept) = (from, 0);
        while start + (kept as u64) < to {
            self.deadline.check(&self.file.entry().path)?;
            if self.packer.len() > MAX_PACKED {
                let path = &self.file.entry().path;
                return Err(ServiceError::Query(format!(
                    "the members asked of `{path}` are more than {MAX_PACKED} bytes; ask for fewer or shorter ones"
                )));
            }
            if kept == buffer.len() {
                if kept >= self.max_line {
                    match self.long_line(start, start + kept as u64, to)? {
                        Some(next) => (start, kept) = (next, 0),
                        None => return Ok(()),
                    }
                    continue;
                }
                buffer.resize((kept * 2).min(self.max_line), 0);
            }
            let room = buffer.len() - kept;
            let wanted = usize::try_from(to - start - kept as u64).map_or(room, |left| left.min(room));
            let count = self.file.fill(&mut buffer[kept..kept + wanted], start + kept as u64)?;
            let held = kept + count;
            let whole = memrchr(b'\n', &buffer[kept..held]).map_or(0, |feed| kept + feed + 1);
            self.whole_lines(&buffer[..whole], start);
            buffer.copy_within(whole..held, 0);
            start += whole as u64;
            kept = held - whole;
            if count < wanted {
                break;
            }
        }
        if kept > 0 {
            self.line(&buffer[..kept], start, LineKind::Unterminated);
        }
        Ok(())
    }

    fn whole_lines(&mut self, bytes: &[u8], start: u64) {
        let mut from = 0;
        for feed in memchr::memchr_iter(b'\n', bytes) {
            self.line(&bytes[from..feed], start + from as u64, LineKind::Object);
            from = feed + 1;
        }
    }

    fn line(&mut self, line: &[u8], offset: u64, kind: LineKind) {
        let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
        let text = if offset == 0 { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line };
        self.packer.line(offset, length, kind);
        if self.scanner.line(text, &mut self.packer).is_none() {
            let empty = text.iter().all(u8::is_ascii_whitespace);
            self.packer.restate(match kind {
                LineKind::Unterminated => kind,
                _ if empty => LineKind::Empty,
                _ => LineKind::Other,
            });
        }
    }

    /// Passes over a line that is too long to look into; where the next one begins.
    fn long_line(&mut self, offset: u64, mut at: u64, to: u64) -> Result<Option<u64>, ServiceError> {
        let mut block = vec![0; BLOCK];
        let mut kind = LineKind::Unterminated;
        let mut end = to;
        while at < to {
            self.deadline.check(&self.file.entry().path)?;
            let wanted = usize::try_from(to - at).map_or(block.len(), |left| left.min(block.len()));
            let count = self.file.fill(&mut block[..wanted], at)?;
            if let Some(feed) = memchr::memchr(b'\n', &block[..count]) {
                kind = LineKind::Other;
                end = at + feed as u64;
                break;
            }
            at += count as u64;
            if count < wanted {
                end = at;
                break;
            }
        }
        self.packer.line(offset, u32::try_from(end - offset).unwrap_or(u32::MAX), kind);
        Ok((kind == LineKind::Other).then_some(end + 1))
    }
}
