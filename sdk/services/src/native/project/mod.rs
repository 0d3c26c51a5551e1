//! Members of all lines of a file of JSON lines.

mod lines;
mod members;
mod parts;
#[cfg(test)]
mod tests;

use super::cores::cores;
use super::error::ServiceError;
use super::file::OpenFile;
use super::store::Deadline;
use crate::members::{BadMember, Pattern};
use lines::Lines;
pub(super) use members::Members;
use sepia_ir::Projection;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a file is taken apart. Tests make all of it small.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    /// Bytes read at once.
    block: usize,
    /// A longer line is not looked into.
    max_line: usize,
    /// A larger file is projected in parts, on several threads.
    one_part: u64,
    /// Bytes of a part.
    part: u64,
    /// A packed result may be this large.
    max_packed: usize,
}

const SIZES: Sizes =
    Sizes { block: 512 << 10, max_line: 256 << 20, one_part: 8 << 20, part: 4 << 20, max_packed: 256 << 20 };

/// Threads of one call at most; several calls run at once anyway.
const MAX_THREADS: usize = 4;

thread_local! {
    /// The members that were asked for last, mostly those of the next file too.
    static PREPARED: RefCell<Option<(Vec<String>, Rc<Pattern>)>> = const { RefCell::new(None) };
}

fn prepared(members: &[String]) -> Result<Rc<Pattern>, BadMember> {
    PREPARED.with_borrow_mut(|last| match last {
        Some((known, pattern)) if known == members => Ok(Rc::clone(pattern)),
        _ => {
            let pattern = Rc::new(Pattern::of(members)?);
            *last = Some((members.to_vec(), Rc::clone(&pattern)));
            Ok(pattern)
        }
    })
}

/// See [`super::store::Store::project`].
pub(super) fn project(file: &OpenFile, query: &Projection, deadline: Deadline) -> Result<Vec<u8>, ServiceError> {
    let threads = cores(MAX_THREADS);
    project_in_parts(file, query, deadline, SIZES, threads)
}

fn project_in_parts(
    file: &OpenFile,
    query: &Projection,
    deadline: Deadline,
    sizes: Sizes,
    threads: usize,
) -> Result<Vec<u8>, ServiceError> {
    let pattern = prepared(&query.members)?;
    let Projection { offset, max_value, .. } = *query;
    if offset > 0 && offset < file.size() && file.part(offset - 1, 1)? != b"\n" {
        let path = &file.entry().path;
        return Err(ServiceError::Query(format!("offset {offset} is not where a line of `{path}` begins")));
    }
    let job = Job { file, pattern: &pattern, max_value, deadline, sizes, packed: AtomicUsize::new(0) };
    if threads < 2 || file.size().saturating_sub(offset) <= sizes.one_part {
        let mut lines = Lines::new(&job);
        lines.range(offset, file.size())?;
        return Ok(lines.finish());
    }
    parts::project(&job, offset, threads)
}

/// What all threads of a projection share.
struct Job<'a> {
    file: &'a OpenFile,
    pattern: &'a Pattern,
    max_value: u32,
    deadline: Deadline,
    sizes: Sizes,
    /// Bytes that are packed so far, by all threads.
    packed: AtomicUsize,
}

impl Job<'_> {
    /// Counts packed bytes; fails when they, or the time, are too much.
    fn check(&self, packed: usize) -> Result<(), ServiceError> {
        let path = &self.file.entry().path;
        let max = self.sizes.max_packed;
        if self.packed.fetch_add(packed, Ordering::Relaxed).saturating_add(packed) > max {
            return Err(ServiceError::Query(format!(
                "the members asked of `{path}` are more than {max} bytes; ask for fewer or shorter ones"
            )));
        }
        self.deadline.check(path)
    }
}
