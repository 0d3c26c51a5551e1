//! The merged list of all agents' sessions.
//!
//! Each store is scanned for cheap facts first; rows are then made by several instances of the
//! driver at once, the newest first, and no more of them than the request needs.

use super::Plane;
use super::error::PlaneError;
use super::row::SessionRow;
use crate::loader::{Driver, Fault, SessionRead};
use sepia_ir::{ScanEntry, Summary, SummaryDetail, Warning};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// What to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// Sessions of this agent only.
    pub agent: Option<String>,
    /// Sessions of this directory only, by its literal or its real path.
    pub cwd: Option<String>,
    /// Sessions that were active at or after this time, epoch seconds.
    pub since: Option<f64>,
    /// The newest so many.
    pub limit: Option<usize>,
    /// Leave out sessions that another session spawned.
    pub top_level: bool,
    /// Find out which sessions a running agent holds.
    pub with_locks: bool,
    /// Count messages, tools and tokens.
    pub with_stats: bool,
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Newest first; equal times by id. Rows that stand for something unreadable come last.
    pub rows: Vec<SessionRow>,
}

/// Keys of one call of a driver: so few that work spreads and a call stays short, so many
/// that the cost of a call does not matter.
const CALL_KEYS: usize = 256;
/// Bytes behind the keys of one call; a larger file goes alone.
const CALL_BYTES: u64 = 32 << 20;

impl Plane {
    /// Lists sessions. A store that fails is a row that says so, and hides no other.
    pub async fn list(&self, request: &ListRequest) -> Result<Listing, PlaneError> {
        let readers = self.readers_for(request.agent.as_deref()).await?;
        let agents: Vec<String> = readers.iter().map(|(about, _)| about.manifest.id.clone()).collect();
        let registry = self.registry().await;
        let wanted = Arc::new(Wanted::of(request));
        let listings = agents.iter().filter_map(|agent| registry.driver(agent)).map(|driver| {
            let (driver, wanted, time) = (Arc::clone(driver), Arc::clone(&wanted), self.limits.listing);
            tokio::spawn(async move {
                let in_time = tokio::time::timeout(time, one_store(&driver, &wanted)).await;
                in_time.unwrap_or_else(|_| (Vec::new(), vec![late(&driver.about().manifest.id, time)]))
            })
        });
        let (mut rows, mut warnings) = (Vec::new(), Vec::new());
        for listing in listings.collect::<Vec<_>>() {
            let (some, told) = listing.await.map_err(|e| {
                PlaneError::new(super::ErrorKind::Internal, "a listing ended unexpectedly").because(e.to_string())
            })?;
            rows.extend(some);
            warnings.extend(told);
        }
        sort(&mut rows);
        rows.truncate(request.limit.unwrap_or(usize::MAX));
        rows.extend(warnings);
        Ok(Listing { rows })
    }
}

/// Newest first; the order is total, so that pages neither repeat nor skip.
fn sort(rows: &mut [SessionRow]) {
    rows.sort_by(|a, b| {
        b.activity.total_cmp(&a.activity).then_with(|| a.id.cmp(&b.id)).then_with(|| a.agent.cmp(&b.agent))
    });
}

/// The request, made ready to be asked of many rows.
struct Wanted {
    request: ListRequest,
    /// The directory, and what it really is.
    cwd: Option<(String, Option<PathBuf>)>,
}

impl Wanted {
    fn of(request: &ListRequest) -> Self {
        let cwd = request.cwd.as_deref().map(|cwd| {
            let literal = if cwd.len() > 1 { cwd.trim_end_matches('/') } else { cwd };
            (literal.to_owned(), Path::new(literal).canonicalize().ok())
        });
        Self { request: request.clone(), cwd }
    }

    fn takes(&self, row: &SessionRow, real: &mut HashMap<String, Option<PathBuf>>) -> bool {
        if self.request.top_level && row.parent_session_id.is_some() {
            return false;
        }
        if self.request.since.is_some_and(|since| row.activity < since) {
            return false;
        }
        let Some((literal, resolved)) = &self.cwd else { return true };
        if row.cwd == *literal {
            return true;
        }
        let Some(resolved) = resolved else { return false };
        let of_row = real.entry(row.cwd.clone()).or_insert_with(|| Path::new(&row.cwd).canonicalize().ok());
        of_row.as_ref() == Some(resolved)
    }
}

/// Rows of one driver, and rows for what it could not read.
async fn one_store(driver: &Arc<dyn Driver>, wanted: &Wanted) -> (Vec<SessionRow>, Vec<SessionRow>) {
    let agent = driver.about().manifest.id.clone();
    let Some(reader) = driver.session_read() else { return (Vec::new(), Vec::new()) };
    let report = match reader.scan().await {
        Ok(report) => report,
        Err(fault) => return (Vec::new(), vec![SessionRow::of_warning(warning_of(&fault), &agent)]),
    };
    let mut warnings: Vec<_> = report.warnings.into_iter().map(|w| SessionRow::of_warning(w, &agent)).collect();
    let mut entries = report.entries;
    if let Some(since) = wanted.request.since {
        // No row of a key is newer than the key itself.
        entries.retain(|entry| entry.changed_at >= since);
    }
    entries.sort_by(|a, b| b.changed_at.total_cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key)));

    let mut rows: Vec<SessionRow> = Vec::new();
    let (mut ids, mut real) = (HashSet::new(), HashMap::new());
    let mut rest = entries.as_slice();
    let mut step = wanted.request.limit.unwrap_or(usize::MAX).max(1);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(step.min(rest.len()));
        rest = later;
        step = step.saturating_mul(2);
        let (summaries, faults) = summaries_of(driver, reader, now, wanted.request.with_stats).await;
        warnings.extend(faults.iter().map(|fault| SessionRow::of_warning(warning_of(fault), &agent)));
        for summary in summaries {
            warnings.extend(summary.warnings.into_iter().map(|w| SessionRow::of_warning(w, &agent)));
            let new = summary.sessions.into_iter().map(|session| SessionRow::of_session(session, &agent));
            rows.extend(new.filter(|row| wanted.takes(row, &mut real) && ids.insert(row.id.clone())));
        }
        sort(&mut rows);
        if let (Some(limit), Some(next)) = (wanted.request.limit, rest.first())
            && limit.checked_sub(1).is_none_or(|last| rows.get(last).is_some_and(|row| row.activity >= next.changed_at))
        {
            break;
        }
    }
    rows.truncate(wanted.request.limit.unwrap_or(usize::MAX));
    if wanted.request.with_locks {
        match reader.locks().await {
            Ok(locks) => {
                let holders: HashMap<_, _> = locks.into_iter().map(|lock| (lock.id, lock.holder_pid)).collect();
                for row in &mut rows {
                    if let Some(holder) = holders.get(&row.id) {
                        (row.locked, row.lock_holder_pid) = (true, *holder);
                    }
                }
            }
            Err(fault) => warnings.push(SessionRow::of_warning(warning_of(&fault), &agent)),
        }
    }
    (rows, warnings)
}

/// Summaries of these entries, made by as many calls at once as are of use. The order is that
/// of completion.
async fn summaries_of(
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
    let mut entries: Vec<&ScanEntry> = entries.iter().collect();
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

/// The row of a store that was not listed in time.
fn late(agent: &str, time: Duration) -> SessionRow {
    let message = format!(
        "the sessions of {agent} could not be listed within {} ms; SEPIA_LIST_TIMEOUT_MS gives more time",
        time.as_millis()
    );
    SessionRow::of_warning(Warning::new("late", message), agent)
}

fn warning_of(fault: &Fault) -> Warning {
    Warning::new(fault.kind.name(), fault.to_string())
}
