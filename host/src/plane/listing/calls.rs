//! Summaries, made by as many calls at once as are of use.

use crate::loader::{Driver, Fault, SessionRead};
use sepia_ir::{ScanEntry, Summary, SummaryDetail};
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;

/// Keys of one call of a driver: so few that work spreads and a call stays short, so many
/// that the cost of a call does not matter.
const CALL_KEYS: usize = 256;
/// Bytes behind the keys of one call; a larger file goes alone.
const CALL_BYTES: u64 = 32 << 20;

/// Summaries of these entries, made by as many calls at once as are of use. The order is that
/// of completion.
pub(super) async fn summaries_of(
    driver: &Arc<dyn Driver>,
    reader: &dyn SessionRead,
    entries: &[ScanEntry],
    with_stats: bool,
) -> (Vec<Summary>, Vec<Fault>) {
    let detail = if with_stats { SummaryDetail::Stats } else { SummaryDetail::Row };
    let queue = Arc::new(Mutex::new(calls(entries, reader.parallel())));
    // Dropped with this future, so that nothing works on for a listing that is over.
    let mut workers = JoinSet::new();
    for _ in 0..reader.parallel().max(1) {
        workers.spawn(work_off(Arc::clone(driver), Arc::clone(&queue), detail));
    }
    let (mut summaries, mut faults) = (Vec::new(), Vec::new());
    while let Some(worker) = workers.join_next().await {
        match worker {
            Ok((done, failed)) => {
                summaries.extend(done);
                faults.extend(failed);
            }
            Err(error) => tracing::error!("a worker of the listing ended unexpectedly: {error}"),
        }
    }
    (summaries, faults)
}

/// Makes call after call until the queue is empty.
async fn work_off(driver: Arc<dyn Driver>, queue: Arc<Queue>, detail: SummaryDetail) -> (Vec<Summary>, Vec<Fault>) {
    let (mut done, mut faults) = (Vec::new(), Vec::new());
    loop {
        let next = queue.lock().map(|mut queue| queue.pop()).unwrap_or_default();
        let (Some(keys), Some(reader)) = (next, driver.session_read()) else { return (done, faults) };
        match reader.summaries(keys.clone(), detail).await {
            Ok(summaries) => done.extend(summaries),
            Err(fault) if keys.len() == 1 => faults.push(fault),
            Err(_) => {
                // One of them breaks the call: find out which, and keep the others.
                for key in keys {
                    match reader.summaries(vec![key], detail).await {
                        Ok(summaries) => done.extend(summaries),
                        Err(fault) => faults.push(fault),
                    }
                }
            }
        }
    }
}

/// Calls that are still to be made, each a list of keys.
type Queue = Mutex<Vec<Vec<String>>>;

/// The keys split into calls, the heaviest last, since they are taken from the end.
fn calls(entries: &[ScanEntry], parallel: usize) -> Vec<Vec<String>> {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| entry.bytes);
    let share = entries.len().div_ceil(parallel.max(1)).clamp(1, CALL_KEYS);
    let mut calls: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        match calls.last_mut() {
            Some(call) if call.len() < share && bytes + entry.bytes <= CALL_BYTES => {
                call.push(entry.key.clone());
                bytes += entry.bytes;
            }
            _ => {
                calls.push(vec![entry.key.clone()]);
                bytes = entry.bytes;
            }
        }
    }
    calls
}
