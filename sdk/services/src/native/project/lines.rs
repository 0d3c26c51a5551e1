//! The lines of a part of a file, streamed through one buffer.

use super::Job;
use crate::members::Scanner;
use crate::native::error::ServiceError;
use crate::packed::{LineKind, Packer};
use memchr::{memchr, memchr_iter, memrchr};
use std::cell::RefCell;

thread_local! {
    /// One buffer a thread: a listing projects thousands of small files, and fresh memory for
    /// each costs more than its scan.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

pub(super) struct Lines<'a> {
    job: &'a Job<'a>,
    scanner: Scanner<'a>,
    packer: Packer,
    buffer: Vec<u8>,
    /// Bytes of the packer that the job knows of.
    counted: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(job: &'a Job<'a>) -> Self {
        let scanner = Scanner::new(job.pattern, job.max_value);
        let mut buffer = BUFFER.take();
        buffer.truncate(job.sizes.block);
        Self { job, scanner, packer: Packer::default(), buffer, counted: 0 }
    }

    /// The packed lines since the last time.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.counted = 0;
        std::mem::take(&mut self.packer).finish()
    }

    /// Packs all lines of a part of the file that begins where a line does, and ends behind a
    /// line feed or with the file.
    pub(super) fn range(&mut self, from: u64, to: u64) -> Result<(), ServiceError> {
        let job = self.job;
        let length = usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX).min(job.sizes.block);
        let mut buffer = std::mem::take(&mut self.buffer);
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        // The buffer holds the file from `start`; its first `kept` bytes were looked at and
        // hold no line feed.
        let (mut start, mut kept) = (from, 0);
        while start + (kept as u64) < to {
            job.check(self.packer.len() - self.counted)?;
            self.counted = self.packer.len();
            if kept == buffer.len() {
                if kept > job.sizes.max_line {
                    let Some(next) = self.pass_over(start, start + kept as u64, to)? else { return Ok(()) };
                    (start, kept) = (next, 0);
                    continue;
                }
                buffer.resize((kept * 2).min(job.sizes.max_line + 1), 0);
            }
            let room = buffer.len() - kept;
            let wanted = usize::try_from(to - start - kept as u64).map_or(room, |left| left.min(room));
            let count = job.file.fill(&mut buffer[kept..kept + wanted], start + kept as u64)?;
            let held = kept + count;
            let whole = memrchr(b'\n', &buffer[kept..held]).map_or(0, |feed| kept + feed + 1);
            self.whole_lines(&buffer[..whole], start);
            buffer.copy_within(whole..held, 0);
            start += whole as u64;
            kept = held - whole;
            // Somebody cut the file short meanwhile.
            if count < wanted {
                break;
            }
        }
        if kept > 0 {
            self.line(&buffer[..kept], start, LineKind::Unterminated);
        }
        self.buffer = buffer;
        job.check(self.packer.len() - self.counted)
    }

    fn whole_lines(&mut self, bytes: &[u8], start: u64) {
        let mut from = 0;
        for feed in memchr_iter(b'\n', bytes) {
            self.line(&bytes[from..feed], start + from as u64, LineKind::Object);
            from = feed + 1;
        }
    }

    fn line(&mut self, line: &[u8], offset: u64, kind: LineKind) {
        let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
        // Some editors put a byte order mark before the first line.
        let text = if offset == 0 { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line };
        self.packer.line(offset, length, kind);
        let short = line.len() <= self.job.sizes.max_line;
        let packer = &mut self.packer;
        let mut pack = |member, element, text: Option<&[u8]>| packer.value(member, element, text);
        if !short || self.scanner.line(text, &mut pack).is_none() {
            self.packer.restate(match kind {
                LineKind::Unterminated => kind,
                _ if text.iter().all(u8::is_ascii_whitespace) => LineKind::Empty,
                _ => LineKind::Other,
            });
        }
    }

    /// Passes over a line that is too long to hold; where the next one begins, if there is one.
    fn pass_over(&mut self, offset: u64, mut at: u64, to: u64) -> Result<Option<u64>, ServiceError> {
        let mut block = vec![0; self.job.sizes.block];
        let mut kind = LineKind::Unterminated;
        while at < to {
            self.job.check(0)?;
            let wanted = usize::try_from(to - at).map_or(block.len(), |left| left.min(block.len()));
            let count = self.job.file.fill(&mut block[..wanted], at)?;
            let feed = memchr(b'\n', &block[..count]);
            at += feed.unwrap_or(count) as u64;
            if feed.is_some() {
                kind = LineKind::Other;
                break;
            }
            if count < wanted {
                break;
            }
        }
        self.packer.line(offset, u32::try_from(at - offset).unwrap_or(u32::MAX), kind);
        Ok((kind == LineKind::Other).then_some(at + 1))
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        // One that grew for an endless line is not kept.
        if self.buffer.len() <= self.job.sizes.block {
            BUFFER.set(std::mem::take(&mut self.buffer));
        }
    }
}
