//! One store being searched: its keys in the order of what changed last, several calls at
//! once.

use super::found::{FoundRow, Hit};
use crate::loader::{Driver, Fault, FaultKind};
use crate::plane::listing::{KeptEntry, RowCache, Wanted, warning_of};
use crate::plane::row::{SessionFacts, SessionRow};
use sepia_ir::{ErrorCode, ScanEntry, SearchQuery, SearchReport, Warning};
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What all stores are searched for.
pub(super) struct Search {
    pub(super) query: SearchQuery,
    pub(super) wanted: Wanted,
    pub(super) since: Option<f64>,
    /// Time of one scan.
    pub(super) scan: Duration,
}

/// What became of a part of a store.
pub(super) struct Event {
    /// Which store.
    pub(super) store: usize,
    pub(super) found: Vec<FoundRow>,
    pub(super) warnings: Vec<SessionRow>,
    /// Nothing that the store may still find is newer, epoch seconds.
    pub(super) frontier: f64,
}

/// Keys of the first calls: few, so that the first answer comes at once.
const FIRST_KEYS: usize = 4;
/// Keys of one call, later: so many that the cost of a call does not matter.
const CALL_KEYS: usize = 128;
/// Bytes behind the keys of one call; a larger file goes alone.
const CALL_BYTES: u64 = 16 << 20;
/// A store with more calls than this that fail is given up.
const MOST_FAULTS: usize = 8;

/// A part of a store.
struct Call {
    at: usize,
    keys: Vec<String>,
}

/// What a call came to.
struct Done {
    at: usize,
    reports: Vec<SearchReport>,
    faults: Vec<Fault>,
    /// No other call will do better.
    hopeless: bool,
}

/// Searches a store and tells of it until it is through or nobody listens.
pub(super) async fn one_store(
    store: usize,
    driver: &Arc<dyn Driver>,
    rows: Option<RowCache>,
    search: &Arc<Search>,
    events: &mpsc::Sender<Event>,
) {
    let agent = driver.about().manifest.id.clone();
    let warning = |warning: Warning| SessionRow::of_warning(warning, &agent);
    let over = |warnings: Vec<SessionRow>| Event { store, found: Vec::new(), warnings, frontier: f64::NEG_INFINITY };
    let Some(reader) = driver.session_read() else { return };
    let report = match tokio::time::timeout(search.scan, reader.scan()).await {
        Ok(Ok(report)) => report,
        Ok(Err(fault)) => return drop(events.send(over(vec![warning(warning_of(&fault))])).await),
        Err(_) => {
            let message = format!(
                "the sessions of {agent} could not be found within {} ms; SEPIA_LIST_TIMEOUT_MS gives more time",
                search.scan.as_millis()
            );
            return drop(events.send(over(vec![warning(Warning::new("late", message))])).await);
        }
    };
    let mut real = HashMap::new();
    let mut entries = report.entries;
    entries.retain(|entry| search.wanted.may_take(entry.sub_agent));
    if let Some(rows) = rows {
        let (kept, _) = rows.read().await.entries_of(entries);
        let mut any = |rows: &[SessionFacts]| rows.iter().any(|row| search.wanted.takes(row, &mut real));
        let may_be_wanted = kept.iter().filter(|entry| !entry.is_known() || any(entry.rows()));
        entries = may_be_wanted.map(KeptEntry::as_scanned).collect();
    }
    if let Some(since) = search.since {
        // No row of an entry is newer than the entry itself.
        entries.retain(|entry| entry.changed_at >= since);
    }
    entries.sort_by(|a, b| b.changed_at.total_cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key)));
    let (calls, mut progress) = calls(&entries, reader.parallel().max(1));
    let mut taken = Taken { wanted: &search.wanted, agent: &agent, ids: HashSet::new(), real };
    let scanned = Event {
        warnings: report.warnings.into_iter().map(warning).collect(),
        frontier: progress.frontier(),
        ..over(Vec::new())
    };
    if events.send(scanned).await.is_err() {
        return;
    }
    let queue = Arc::new(Mutex::new(calls));
    let (sender, mut results) = mpsc::channel(1);
    let mut workers = JoinSet::new();
    for _ in 0..reader.parallel().max(1) {
        workers.spawn(work_off(Arc::clone(driver), Arc::clone(&queue), Arc::clone(search), sender.clone()));
    }
    drop(sender);
    let mut faults = 0;
    loop {
        let done = tokio::select! {
            // Workers are waited for: nothing of them is to run on when the search is over.
            () = events.closed() => return workers.shutdown().await,
            done = results.recv() => done,
        };
        let Some(done) = done else { break };
        faults += done.faults.len();
        let mut warnings: Vec<SessionRow> = done.faults.iter().map(|fault| warning(warning_of(fault))).collect();
        let mut found = Vec::new();
        for report in done.reports {
            warnings.extend(report.warnings.iter().cloned().map(warning));
            found.extend(taken.of(report));
        }
        progress.done(done.at);
        let given_up = done.hopeless || faults > MOST_FAULTS;
        if given_up && !progress.is_over() {
            let message =
                format!("the search in the sessions of {agent} was given up; what was found until then is shown");
            warnings.push(warning(Warning::new("given-up", message)));
        }
        let frontier = if given_up { f64::NEG_INFINITY } else { progress.frontier() };
        if events.send(Event { store, found, warnings, frontier }).await.is_err() || given_up {
            return workers.shutdown().await;
        }
    }
    if !progress.is_over() {
        let message = format!("the search in the sessions of {agent} ended unexpectedly");
        drop(events.send(over(vec![warning(Warning::new("lost", message))])).await);
    }
}

/// Makes call after call until the queue is empty or nobody listens.
async fn work_off(
    driver: Arc<dyn Driver>,
    queue: Arc<Mutex<VecDeque<Call>>>,
    search: Arc<Search>,
    results: mpsc::Sender<Done>,
) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let (Some(call), Some(reader)) = (next, driver.session_read()) else { return };
        let mut done = Done { at: call.at, reports: Vec::new(), faults: Vec::new(), hopeless: false };
        match reader.search(call.keys.clone(), &search.query).await {
            Ok(reports) => done.reports = reports,
            Err(fault) if call.keys.len() == 1 || is_hopeless(&fault) => {
                done.hopeless = is_hopeless(&fault);
                done.faults.push(fault);
            }
            Err(_) => {
                // One of them breaks the call: find out which, and keep the others.
                for key in call.keys {
                    match reader.search(vec![key], &search.query).await {
                        Ok(reports) => done.reports.extend(reports),
                        Err(fault) => {
                            done.hopeless |= is_hopeless(&fault);
                            done.faults.push(fault);
                            if done.hopeless || done.faults.len() > MOST_FAULTS {
                                break;
                            }
                        }
                    }
                }
            }
        }
        if results.send(done).await.is_err() {
            return;
        }
    }
}

/// Whether another call would fare no better: it would take as long, or find the query or the
/// driver as it is.
fn is_hopeless(fault: &Fault) -> bool {
    matches!(
        fault.kind,
        FaultKind::Time | FaultKind::Start | FaultKind::Said(ErrorCode::Invalid | ErrorCode::Unsupported)
    )
}

/// The sessions that are wanted and were not taken yet.
struct Taken<'a> {
    wanted: &'a Wanted,
    agent: &'a str,
    ids: HashSet<String>,
    /// What directories really are.
    real: HashMap<String, Option<PathBuf>>,
}

impl Taken<'_> {
    fn of(&mut self, report: SearchReport) -> Vec<FoundRow> {
        let mut rows = Vec::new();
        for found in report.sessions {
            let facts = SessionFacts::of(found.session);
            if self.wanted.takes(&facts, &mut self.real) && self.ids.insert(facts.id.clone()) {
                let hits = found.hits.into_iter().map(Hit::of).collect();
                rows.push(FoundRow { row: SessionRow::of_facts(facts, self.agent), hits, more_hits: found.more });
            }
        }
        rows
    }
}

/// Which calls are done, and how new what the others find can be.
struct Progress {
    /// Of each call, when its newest entry changed.
    newest: Vec<f64>,
    done: Vec<bool>,
    /// The first call that is not done.
    first: usize,
}

impl Progress {
    fn done(&mut self, at: usize) {
        if let Some(done) = self.done.get_mut(at) {
            *done = true;
        }
        while self.done.get(self.first) == Some(&true) {
            self.first += 1;
        }
    }

    fn frontier(&self) -> f64 {
        self.newest.get(self.first).copied().unwrap_or(f64::NEG_INFINITY)
    }

    fn is_over(&self) -> bool {
        self.first >= self.done.len()
    }
}

/// The entries, newest first, split into calls.
fn calls(entries: &[ScanEntry], parallel: usize) -> (VecDeque<Call>, Progress) {
    let mut calls: VecDeque<Call> = VecDeque::new();
    let mut newest = Vec::new();
    let (mut bytes, mut most) = (0, 0);
    for entry in entries {
        match calls.back_mut() {
            Some(call) if call.keys.len() < most && bytes + entry.bytes <= CALL_BYTES => {
                call.keys.push(entry.key.clone());
                bytes += entry.bytes;
            }
            _ => {
                // As many calls of a size as there are workers, then larger ones.
                let step = u32::try_from(calls.len() / parallel).unwrap_or(u32::MAX).min(16);
                most = (FIRST_KEYS << step).min(CALL_KEYS);
                newest.push(entry.changed_at);
                calls.push_back(Call { at: calls.len(), keys: vec![entry.key.clone()] });
                bytes = entry.bytes;
            }
        }
    }
    let done = vec![false; newest.len()];
    (calls, Progress { newest, done, first: 0 })
}

#[cfg(test)]
mod tests {
    use super::calls;
    use sepia_ir::ScanEntry;

    #[test]
    fn calls_keep_the_order_and_grow() {
        let entry = |n: i32| ScanEntry {
            key: n.to_string(),
            stamp: String::new(),
            bytes: if n == 5 { 1 << 30 } else { 1 },
            changed_at: f64::from(1_000 - n),
            session_id: None,
            sub_agent: false,
        };
        let entries: Vec<ScanEntry> = (0..1_000).map(entry).collect();
        let (calls, mut progress) = calls(&entries, 2);
        let keys: Vec<&String> = calls.iter().flat_map(|call| &call.keys).collect();
        assert_eq!(keys, entries.iter().map(|entry| &entry.key).collect::<Vec<_>>());
        let sizes: Vec<usize> = calls.iter().map(|call| call.keys.len()).collect();
        assert_eq!(sizes[..5], [4, 1, 1, 8, 16]);
        assert_eq!(sizes.iter().max(), Some(&128));
        progress.done(1);
        assert!((progress.frontier() - 1_000.0).abs() < 0.5);
        progress.done(0);
        assert!((progress.frontier() - 995.0).abs() < 0.5);
        (2..calls.len()).for_each(|at| progress.done(at));
        assert!(progress.is_over() && progress.frontier().is_infinite());
    }
}
