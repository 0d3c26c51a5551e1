//! A large file in parts, on several threads. Parts are small, and each thread takes the next
//! one when it is done, so that a thread that is held up holds up little.

use super::Job;
use super::lines::Lines;
use crate::native::error::ServiceError;
use memchr::memchr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes read at once when the end of a line is looked for.
const LOOK: usize = 32 << 10;

/// Projects from `offset` to the end of the file.
pub(super) fn project(job: &Job<'_>, offset: u64, threads: usize) -> Result<Vec<u8>, ServiceError> {
    let cuts = cuts(job, offset)?;
    let parts = cuts.len() - 1;
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, Vec<u8>)>, ServiceError> {
        let mut lines = Lines::new(job);
        let mut done = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return Ok(done);
            }
            let packed = lines.range(cuts[part], cuts[part + 1]);
            if packed.is_err() {
                // Nobody need begin another part.
                next.store(parts, Ordering::Relaxed);
            }
            packed?;
            done.push((part, lines.finish()));
        }
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(parts)).map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined =
            others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(joined).collect()
    });
    let mut done = Vec::with_capacity(parts);
    for result in results {
        done.extend(result?);
    }
    done.sort_unstable_by_key(|(part, _)| *part);
    let mut packed = Vec::with_capacity(done.iter().map(|(_, bytes)| bytes.len()).sum());
    for (_, bytes) in done {
        packed.extend_from_slice(&bytes);
    }
    Ok(packed)
}

/// Where the parts begin, each at the start of a line, and where the last one ends.
fn cuts(job: &Job<'_>, offset: u64) -> Result<Vec<u64>, ServiceError> {
    let size = job.file.size();
    let mut cuts = vec![offset];
    let mut last = offset;
    let mut block = vec![0; LOOK];
    while size - last > job.sizes.part {
        // The line that holds the last byte of the part belongs to it.
        let mut at = last + job.sizes.part - 1;
        last = loop {
            job.deadline.check(&job.file.entry().path)?;
            let count = job.file.fill(&mut block, at)?;
            if let Some(feed) = memchr(b'\n', &block[..count]) {
                break (at + feed as u64 + 1).min(size);
            }
            at += count as u64;
            if count < block.len() || at >= size {
                break size;
            }
        };
        if last < size {
            cuts.push(last);
        }
    }
    cuts.push(size);
    Ok(cuts)
}
