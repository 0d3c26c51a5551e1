//! One pass over a file: its start, its end, its line feeds, and the lines that hold a needle.

use super::error::ServiceError;
use super::file::OpenFile;
use super::store::Deadline;
use aho_corasick::{AhoCorasick, Input, MatchKind};
use memchr::{memchr, memchr_iter, memrchr};
use sepia_ir::{FoundLine, SurveyQuery, SurveyReport};

/// Bytes read at once: what stays in the second-level cache between counting and searching.
const BLOCK: usize = 256 << 10;
const MAX_NEEDLES: usize = 16;
/// Bytes of head and of tail at most, as of one read.
const MAX_END: u32 = 8 << 20;
/// Bytes of all lines returned at most; more sets `truncated`.
const MAX_TEXT: usize = 64 << 20;

/// See [`super::store::Store::survey`].
pub(super) fn survey(file: &OpenFile, query: &SurveyQuery, deadline: Deadline) -> Result<SurveyReport, ServiceError> {
    survey_in_blocks(file, query, deadline, BLOCK)
}

fn survey_in_blocks(
    file: &OpenFile,
    query: &SurveyQuery,
    deadline: Deadline,
    block: usize,
) -> Result<SurveyReport, ServiceError> {
    if query.head > MAX_END || query.tail > MAX_END {
        return Err(ServiceError::Query(format!("a survey returns at most {MAX_END} bytes of either end of a file")));
    }
    let mut search = Search::new(file, query)?;
    let mut buffer = vec![0; block + search.overlap];
    // The buffer holds the file from `start`; its first `kept` bytes are of the block before.
    let (mut start, mut kept) = (0, 0);
    loop {
        deadline.check(&file.entry().path)?;
        let at = start + kept as u64;
        let wanted = usize::try_from(file.size() - at).unwrap_or(usize::MAX).min(block);
        let count = file.fill(&mut buffer[kept..kept + wanted], at)?;
        let held = &buffer[..kept + count];
        let last = count < wanted || at + count as u64 == file.size();
        search.line_feeds += memchr_iter(b'\n', &held[kept..]).count() as u64;
        let done = if last { held.len() } else { held.len().saturating_sub(search.overlap) };
        search.block(held, start, done)?;
        let end = held.len();
        if last {
            search.end(start + end as u64)?;
            break;
        }
        buffer.copy_within(done..end, 0);
        start += done as u64;
        kept = end - done;
    }
    Ok(SurveyReport {
        file: file.entry().clone(),
        line_feeds: search.line_feeds,
        head: file.part(0, u64::from(query.head))?,
        tail: file.part(file.size().saturating_sub(u64::from(query.tail)), u64::from(query.tail))?,
        lines: search.lines,
        truncated: search.truncated,
    })
}

struct Search<'a> {
    file: &'a OpenFile,
    max_line: u64,
    max_lines: usize,
    needles: Option<AhoCorasick>,
    /// Which needle of the query each pattern of the automaton is.
    numbers: Vec<u32>,
    /// Bytes that a match may reach beyond the place where it begins.
    overlap: usize,
    /// Where the line begins in which the search stands.
    line: u64,
    /// The needle found in it, if one was.
    found: Option<u32>,
    line_feeds: u64,
    lines: Vec<FoundLine>,
    text: usize,
    truncated: bool,
}

impl<'a> Search<'a> {
    fn new(file: &'a OpenFile, query: &SurveyQuery) -> Result<Self, ServiceError> {
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
        let (numbers, needles): (Vec<u32>, Vec<&[u8]>) =
            (0..).zip(needles.iter().map(Vec::as_slice)).filter(|(_, n)| !n.contains(&b'\n')).unzip();
        let longest = needles.iter().map(|n| n.len()).max().unwrap_or(1);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&needles);
        let automaton =
            automaton.map_err(|e| ServiceError::Query(format!("these needles can't be searched for: {e}")))?;
        Ok(Self {
            file,
            max_line: u64::from(query.max_line),
            max_lines: query.max_lines as usize,
            needles: (!needles.is_empty()).then_some(automaton),
            numbers,
            overlap: longest - 1,
            line: 0,
            found: None,
            line_feeds: 0,
            lines: Vec::new(),
            text: 0,
            truncated: false,
        })
    }

    /// Looks for needles that begin before `done` in the bytes at `start` of the file.
    fn block(&mut self, held: &[u8], start: u64, done: usize) -> Result<(), ServiceError> {
        let Some(needles) = self.needles.take() else { return Ok(()) };
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
            let Some(hit) = needles.find(Input::new(held).range(at..)).filter(|hit| hit.start() < done) else {
                if let Some(feed) = memrchr(b'\n', &held[at..done]) {
                    self.line = start + (at + feed + 1) as u64;
                }
                break;
            };
            if let Some(feed) = memrchr(b'\n', &held[at..hit.start()]) {
                self.line = start + (at + feed + 1) as u64;
            }
            at = hit.start();
            self.found = self.numbers.get(hit.pattern().as_usize()).copied();
        }
        self.needles = Some(needles);
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
