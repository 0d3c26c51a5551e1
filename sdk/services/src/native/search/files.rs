//! What the host answers of files: whether a match may be in one, and in which lines.

use super::super::error::ServiceError;
use super::super::file::OpenFile;
use super::super::project::Members;
use super::super::store::{Deadline, Store};
use super::atoms::Group;
use super::forms::Finder;
use super::pattern::Pattern;
use super::scan::{BLOCK, Go, Scan};
use crate::members::Pattern as Within;
use sepia_ir::{CandidateLines, LineSpan};

/// Files of one call at most.
const MOST_PATHS: usize = 100_000;
/// Lines of one call at most.
const MOST_LINES: u32 = 100_000;
/// A longer line counts without being looked into.
const LONGEST_LINE: u64 = 64 << 20;

impl Pattern {
    /// For each file whether a match may be in it; none where it can't be read.
    pub fn may_hold(&self, store: &Store, paths: &[String]) -> Result<Vec<Option<bool>>, ServiceError> {
        if paths.len() > MOST_PATHS {
            return Err(ServiceError::Query(format!(
                "a search looks at {MOST_PATHS} files at once, not {}",
                paths.len()
            )));
        }
        paths
            .iter()
            .map(|path| match store.file(path).and_then(|file| self.may_be_in(&file, store.deadline(), BLOCK)) {
                Ok(answer) => Ok(Some(answer)),
                Err(error @ (ServiceError::Time(_) | ServiceError::Outside(_))) => Err(error),
                Err(_) => Ok(None),
            })
            .collect()
    }

    pub(super) fn may_be_in(&self, file: &OpenFile, deadline: Deadline, block: usize) -> Result<bool, ServiceError> {
        let scan = Scan { file, deadline, block };
        for group in self.groups() {
            if !scan.holds(group)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The lines of a file in which a match may be; see `text-search.lines`.
    pub fn lines(
        &self,
        store: &Store,
        path: &str,
        within: &[String],
        offset: u64,
        max: u32,
    ) -> Result<CandidateLines, ServiceError> {
        self.lines_of(&*store.file(path)?, store.deadline(), within, offset, max, BLOCK)
    }

    pub(super) fn lines_of(
        &self,
        file: &OpenFile,
        deadline: Deadline,
        within: &[String],
        offset: u64,
        max: u32,
        block: usize,
    ) -> Result<CandidateLines, ServiceError> {
        let within = Within::of(within)?;
        if offset > 0 && offset < file.size() && file.part(offset - 1, 1)? != b"\n" {
            let path = &file.entry().path;
            return Err(ServiceError::Query(format!("offset {offset} is not where a line of `{path}` begins")));
        }
        let max = max.clamp(1, MOST_LINES) as usize;
        let group = self.groups().first();
        let mut members = Members::new(&within);
        let mut found = CandidateLines::default();
        Scan { file, deadline, block }.lines(offset, group, &mut |begin, end, held| {
            let bytes = end - begin;
            let read;
            let line = match held {
                Some(line) => Some(line),
                None if bytes <= LONGEST_LINE && group.is_some() && !within.is_empty() => {
                    read = file.part(begin, bytes)?;
                    Some(read.as_slice())
                }
                None => None,
            };
            let counts = match (line, group) {
                (Some(line), Some(group)) if !within.is_empty() => is_within(line, group, &mut members),
                _ => true,
            };
            if !counts {
                deadline.check(&file.entry().path)?;
                return Ok(Go::On);
            }
            found.lines.push(LineSpan { offset: begin, bytes });
            if found.lines.len() < max {
                return Ok(Go::On);
            }
            found.next = Some(end + 1).filter(|next| *next < file.size());
            Ok(Go::Stop)
        })?;
        Ok(found)
    }
}

/// Whether one of the atoms is inside one of the members. What is no whole object may be
/// anything, and counts.
fn is_within(line: &[u8], group: &Group<Finder>, members: &mut Members<'_>) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    let Some(values) = members.of(line) else { return true };
    values.into_iter().any(|value| group.iter().any(|finder| finder.in_block(value).find(value).is_some()))
}
