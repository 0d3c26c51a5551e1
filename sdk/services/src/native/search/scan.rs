//! One pass over a file for the lines that hold one of some atoms.

use super::super::error::ServiceError;
use super::super::file::OpenFile;
use super::super::store::Deadline;
use super::atoms::Group;
use super::forms::{Finder, InBlock};
use memchr::{memchr, memrchr};
use std::cell::RefCell;

/// Bytes read at once: what stays in the second-level cache while it is looked through.
pub(super) const BLOCK: usize = 256 << 10;

thread_local! {
    /// One buffer a thread: a search goes through thousands of small files, and fresh memory
    /// for each costs more than looking through it.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Whether to look for more.
pub(super) enum Go {
    On,
    Stop,
}

/// Takes a line: where it begins and ends, and its bytes where they are in memory anyway.
type Take<'a> = dyn FnMut(u64, u64, Option<&[u8]>) -> Result<Go, ServiceError> + 'a;
/// Looks at a block; see [`Scan::blocks`].
type Look<'a> = dyn FnMut(&[u8], u64, usize) -> Result<Go, ServiceError> + 'a;

/// What is looked for in a file.
pub(super) struct Scan<'a> {
    pub(super) file: &'a OpenFile,
    pub(super) deadline: Deadline,
    pub(super) block: usize,
}

impl Scan<'_> {
    /// Whether one of the atoms is anywhere in the file.
    pub(super) fn holds(&self, group: &Group<Finder>) -> Result<bool, ServiceError> {
        let mut found = false;
        self.blocks(0, overlap(group), &mut |held, _, done| {
            found = group.iter().any(|finder| finder.in_block(held).find(held).is_some_and(|at| at < done));
            Ok(if found { Go::Stop } else { Go::On })
        })?;
        Ok(found)
    }

    /// Gives the lines that hold one of the atoms to `take`; without a group every line.
    pub(super) fn lines(
        &self,
        from: u64,
        group: Option<&Group<Finder>>,
        take: &mut Take<'_>,
    ) -> Result<(), ServiceError> {
        // Where the line begins in which the search stands, and whether it is one to give.
        let (mut line, mut found) = (from, group.is_none());
        let mut stopped = false;
        self.blocks(from, group.map_or(0, overlap), &mut |held, start, done| {
            let mut finders: Vec<Next> = group.into_iter().flatten().map(|finder| Next::new(finder, held)).collect();
            let mut at = 0;
            while at < done {
                if found {
                    let Some(feed) = memchr(b'\n', &held[at..done]) else { break };
                    let end = at + feed;
                    let whole = line.checked_sub(start).and_then(|begin| held.get(usize::try_from(begin).ok()?..end));
                    let go = take(line, start + end as u64, whole)?;
                    at = end + 1;
                    (line, found) = (start + at as u64, group.is_none());
                    if matches!(go, Go::Stop) {
                        stopped = true;
                        return Ok(Go::Stop);
                    }
                    continue;
                }
                let next = finders.iter_mut().filter_map(|finder| finder.from(held, at)).min();
                let seen = next.filter(|place| *place < done);
                if let Some(feed) = memrchr(b'\n', &held[at..seen.unwrap_or(done)]) {
                    line = start + (at + feed + 1) as u64;
                }
                found = seen.is_some();
                at = seen.unwrap_or(done);
            }
            Ok(Go::On)
        })?;
        let size = self.file.size();
        if found && !stopped && line < size {
            take(line, size, None)?;
        }
        Ok(())
    }

    /// Reads the file block by block: what is held, where in the file it begins, and up to
    /// where in it something may begin that is not looked at again with the next block.
    fn blocks(&self, from: u64, overlap: usize, look: &mut Look<'_>) -> Result<(), ServiceError> {
        let (file, path) = (self.file, &self.file.entry().path);
        BUFFER.with_borrow_mut(|buffer| {
            if buffer.len() < self.block + overlap {
                buffer.resize(self.block + overlap, 0);
            }
            let (mut start, mut kept) = (from, 0);
            loop {
                self.deadline.check(path)?;
                let at = start + kept as u64;
                let wanted = usize::try_from(file.size().saturating_sub(at)).unwrap_or(usize::MAX).min(self.block);
                let count = file.fill(&mut buffer[kept..kept + wanted], at)?;
                let end = kept + count;
                let last = count < wanted || at + count as u64 >= file.size();
                let done = if last { end } else { end.saturating_sub(overlap) };
                if matches!(look(&buffer[..end], start, done)?, Go::Stop) || last {
                    return Ok(());
                }
                buffer.copy_within(done..end, 0);
                start += done as u64;
                kept = end - done;
            }
        })
    }
}

/// Bytes of an atom that may lie beyond the block in which it begins.
fn overlap(group: &Group<Finder>) -> usize {
    group.iter().map(Finder::longest).max().unwrap_or(1) - 1
}

/// An atom in a block, and where it is next.
struct Next<'a> {
    finder: InBlock<'a>,
    place: Option<usize>,
    fresh: bool,
}

impl<'a> Next<'a> {
    fn new(finder: &'a Finder, block: &[u8]) -> Self {
        Self { finder: finder.in_block(block), place: None, fresh: false }
    }

    /// Where it is at `at` or behind.
    fn from(&mut self, held: &[u8], at: usize) -> Option<usize> {
        if !self.fresh || self.place.is_some_and(|place| place < at) {
            self.place = self.finder.find(&held[at..]).map(|place| at + place);
            self.fresh = true;
        }
        self.place
    }
}
