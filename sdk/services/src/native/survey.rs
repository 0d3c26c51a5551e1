//! The start of a file, its end, and in one pass the lines that hold a needle.

use super::error::ServiceError;
use super::file::OpenFile;
use super::store::Deadline;
use memchr::memmem::Finder;
use memchr::{memchr, memrchr};
use sepia_ir::{FoundLine, SurveyQuery, SurveyReport};
use std::cell::RefCell;

#[cfg(test)]
mod tests;

/// Bytes read at once: what stays in the second-level cache between counting and searching.
const BLOCK: usize = 128 << 10;
const MAX_NEEDLES: usize = 16;
/// Bytes of head and of tail at most, as of one read.
const MAX_END: u32 = 8 << 20;
/// Bytes of all lines returned at most; more sets `truncated`.
const MAX_TEXT: usize = 64 << 20;

thread_local! {
    /// One buffer a thread: a listing surveys thousands of small files, and fresh memory for
    /// each costs more than its search.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// See [`super::store::Store::survey`].
pub(super) fn survey(file: &OpenFile, query: &SurveyQuery, deadline: Deadline) -> Result<SurveyReport, ServiceError> {
    BUFFER.with_borrow_mut(|buffer| survey_in_blocks(file, query, deadline, BLOCK, buffer))
}

fn survey_in_blocks(
    file: &OpenFile,
    query: &SurveyQuery,
    deadline: Deadline,
    block_size: usize,
    buffer: &mut Vec<u8>,
) -> Result<SurveyReport, ServiceError> {
    if query.head > MAX_END || query.tail > MAX_END {
        return Err(ServiceError::Query(format!("a survey returns at most {MAX_END} bytes of either end of a file")));
    }
    let tail_at = file.size().saturating_sub(u64::from(query.tail));
    let mut search = Search::new(file, query)?;
    if search.needles.is_empty() {
        deadline.check(&file.entry().path)?;
        let head = file.part(0, u64::from(query.head))?;
        return Ok(search.report(head, file.part(tail_at, u64::from(query.tail))?));
    }
    if buffer.len() < block_size + search.overlap {
        buffer.resize(block_size + search.overlap, 0);
    }
    // The buffer holds the file from `start`; its first `kept` bytes are of the block before.
    let (mut start, mut kept) = (0, 0);
    let mut head = None;
    let tail = loop {
        deadline.check(&file.entry().path)?;
        let at = start + kept as u64;
        let wanted = usize::try_from(file.size() - at).unwrap_or(usize::MAX).min(block_size);
        let count = file.fill(&mut buffer[kept..kept + wanted], at)?;
        let block = &buffer[..kept + count];
        let last = count < wanted || at + count as u64 == file.size();
        if start == 0 && kept == 0 {
            head = part_of(block, 0, query.head, last);
        }
        let done = if last { block.len() } else { block.len().saturating_sub(search.overlap) };
        search.block(block, start, done)?;
        let end = block.len();
        if last {
            search.end(start + end as u64)?;
            break part_of(block, end.saturating_sub(query.tail as usize), query.tail, start == 0);
        }
        buffer.copy_within(done..end, 0);
        start += done as u64;
        kept = end - done;
    };
    let head = head.map_or_else(|| file.part(0, u64::from(query.head)), Ok)?;
    let tail = tail.map_or_else(|| file.part(tail_at, u64::from(query.tail)), Ok)?;
    Ok(search.report(head, tail))
}

/// `bytes` from `at` of what is held, if they are all there, or if this is the whole file.
fn part_of(held: &[u8], at: usize, bytes: u32, whole: bool) -> Option<Vec<u8>> {
    let rest = &held[at..];
    let bytes = bytes as usize;
    (whole || rest.len() >= bytes).then(|| rest[..rest.len().min(bytes)].to_vec())
}

struct Search<'a> {
    file: &'a OpenFile,
    max_line: u64,
    max_lines: usize,
    needles: Vec<Needle<'a>>,
    /// Bytes that a match may reach beyond the place where it begins.
    overlap: usize,
    /// Where the line begins in which the search stands.
    line: u64,
    /// The needle found in it, if one was.
    found: Option<u32>,
    lines: Vec<FoundLine>,
    text: usize,
    truncated: bool,
}

impl<'a> Search<'a> {
    fn new(file: &'a OpenFile, query: &'a SurveyQuery) -> Result<Self, ServiceError> {
        let needles = &query.needles;
        if needles.len() > MAX_NEEDLES {
            return Err(ServiceError::Query(format!(
                "a survey has at most {MAX_NEEDLES} needles, not {}",
                needles.len()
            )));
        }
        if needles.iter().any(Vec::is_empty) {
            return Err(ServiceError::Query("a needle of a survey is empty; leave it out".into()));
        }
        // A needle with a line feed in it is in no line.
        let needles: Vec<Needle> = (0..)
            .zip(needles)
            .filter(|(_, bytes)| !bytes.contains(&b'\n'))
            .map(|(number, bytes)| Needle { number, finder: Finder::new(bytes), next: 0, fresh: false })
            .collect();
        let longest = needles.iter().map(|needle| needle.finder.needle().len()).max().unwrap_or(1);
        Ok(Self {
            file,
            max_line: u64::from(query.max_line),
            max_lines: query.max_lines as usize,
            needles,
            overlap: longest - 1,
            line: 0,
            found: None,
            lines: Vec::new(),
            text: 0,
            truncated: false,
        })
    }

    fn report(self, head: Vec<u8>, tail: Vec<u8>) -> SurveyReport {
        SurveyReport { file: self.file.entry().clone(), head, tail, lines: self.lines, truncated: self.truncated }
    }

    /// Looks for needles that begin before `done` in the bytes at `start` of the file.
    fn block(&mut self, held: &[u8], start: u64, done: usize) -> Result<(), ServiceError> {
        for needle in &mut self.needles {
            needle.fresh = false;
        }
        let mut at = 0;
        while at < done {
            if self.found.is_some() {
                // Nothing more is asked of this line than where it ends.
                let Some(end) = memchr(b'\n', &held[at..done]) else { break };
                self.end(start + (at + end) as u64)?;
                at += end + 1;
                self.line = start + at as u64;
                continue;
            }
            if self.truncated {
                break;
            }
            let first = self.needles.iter_mut().map(|needle| (needle.from(held, at), needle.number)).min();
            let hit = first.filter(|(place, _)| *place < done);
            let seen = hit.map_or(done, |(place, _)| place);
            if let Some(feed) = memrchr(b'\n', &held[at..seen]) {
                self.line = start + (at + feed + 1) as u64;
            }
            self.found = hit.map(|(_, number)| number);
            at = seen;
        }
        Ok(())
    }

    /// The line ends here; keeps it if a needle was found in it.
    fn end(&mut self, end: u64) -> Result<(), ServiceError> {
        let Some(needle) = self.found.take() else { return Ok(()) };
        let bytes = end - self.line;
        let cut = bytes.min(self.max_line);
        if self.lines.len() >= self.max_lines || self.text as u64 + cut > MAX_TEXT as u64 {
            self.truncated = true;
            return Ok(());
        }
        let text = self.file.part(self.line, cut)?;
        self.text += text.len();
        self.lines.push(FoundLine { offset: self.line, bytes, needle, text });
        Ok(())
    }
}

/// A byte string that is looked for. Each has its own pass: up to eight of them that is
/// faster, by measurement, than one pass of a packed multi-string search (four needles in
/// 100 MB of session lines: 25 ms against 45).
struct Needle<'a> {
    /// Its place in the query.
    number: u32,
    finder: Finder<'a>,
    /// Where it is next in the block, if `fresh`; `usize::MAX`: nowhere.
    next: usize,
    fresh: bool,
}

impl Needle<'_> {
    /// Where it is at `at` or behind.
    fn from(&mut self, held: &[u8], at: usize) -> usize {
        if !self.fresh || self.next < at {
            self.next = self.finder.find(&held[at..]).map_or(usize::MAX, |place| at + place);
            self.fresh = true;
        }
        self.next
    }
}
