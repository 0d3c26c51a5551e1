//! The rows of one store.

use super::calls::summaries_of;
use super::row_cache::{KeptEntry, RowCache};
use super::wanted::Wanted;
use super::{ListRequest, warning_of};
use crate::loader::{Driver, Rescan, SessionRead};
use crate::plane::overlay::View;
use crate::plane::row::{SessionFacts, SessionRow};
use sepia_ir::ScanEntry;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// What a store has for a list.
#[derive(Debug, Default)]
pub(super) struct OfStore {
    /// Rows of its sessions, newest first.
    pub(super) rows: Vec<SessionRow>,
    /// Rows for what could not be read.
    pub(super) warnings: Vec<SessionRow>,
    /// Ids of the sessions, wanted or not, that the overlay lists while no store has them.
    pub(super) pending: HashSet<String>,
    /// What was learned, being written down.
    pub(super) writing: Option<JoinHandle<()>>,
}

impl OfStore {
    /// Of a store that could not be read.
    pub(super) fn unreadable(warning: SessionRow) -> Self {
        Self { warnings: vec![warning], ..Self::default() }
    }
}

/// What the store of one driver has.
pub(super) async fn one_store(driver: &Arc<dyn Driver>, cache: RowCache, wanted: &Wanted, overlay: &View) -> OfStore {
    let agent = driver.about().manifest.id.clone();
    let Some(reader) = driver.session_read() else { return OfStore::default() };
    let now = seconds_now();
    let mut kept = cache.read().await;
    let mut warnings = Vec::new();
    let known = kept.take_basis();
    let (entries, basis, learned) = match reader.rescan(known.clone()).await {
        Ok(Rescan::Unchanged) => (kept.entries(), known, false),
        Ok(Rescan::Report(report, basis)) => {
            warnings.extend(report.warnings.into_iter().map(|w| SessionRow::of_warning(w, &agent)));
            let (entries, changed) = kept.entries_of(report.entries);
            let learned = changed || basis.is_some();
            (entries, basis, learned)
        }
        Err(fault) => return OfStore::unreadable(SessionRow::of_warning(warning_of(&fault), &agent)),
    };
    let settled = basis.is_some();
    let mut listing =
        OneStore { driver, reader, wanted, overlay, now, settled, entries, learned, agent: &agent, warnings };
    let newest = listing.newest().await;
    let OneStore { mut entries, learned, mut warnings, .. } = listing;
    let ids = entries.iter().flat_map(|entry| entry.rows().iter().map(|row| row.id.as_str()));
    let pending = ids.filter(|id| overlay.is_pending(&agent, id)).map(str::to_owned).collect();
    let writing = learned.then(|| cache.write(basis.as_ref(), &entries));
    let facts = newest.into_iter().map(|RowAt { entry, row }| entries[entry].take_row(row));
    let mut rows: Vec<SessionRow> = facts.map(|facts| SessionRow::of_facts(facts, &agent)).collect();
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
    OfStore { rows, warnings, pending, writing }
}

struct OneStore<'a> {
    driver: &'a Arc<dyn Driver>,
    reader: &'a dyn SessionRead,
    wanted: &'a Wanted,
    overlay: &'a View,
    agent: &'a str,
    /// When the scan began, epoch seconds.
    now: f64,
    /// Nothing that the scan rests on was changing when it began.
    settled: bool,
    entries: Vec<KeptEntry>,
    /// Whether there is anything to keep that was not kept before.
    learned: bool,
    warnings: Vec<SessionRow>,
}

/// Entries of one step at least: fewer are not worth the calls.
const LEAST_STEP: usize = 16;

/// The same of the first step, which is to be the last one mostly.
const LEAST_FIRST: usize = 32;

/// How many entries to go through next, of which `seen` gave `found` of the `limit` rows that are wanted: as many as
/// should give the rest, and more the longer it takes.
fn next_step(limit: usize, found: usize, seen: usize) -> usize {
    let missing = limit.saturating_sub(found);
    let likely = missing.saturating_mul(seen).div_ceil(found.max(1));
    likely.min(limit).max(LEAST_STEP).max(seen / 8)
}

/// A row of an entry, by their places.
#[derive(Debug, Clone, Copy)]
struct RowAt {
    entry: usize,
    row: usize,
}

impl RowAt {
    fn facts(self, entries: &[KeptEntry]) -> &SessionFacts {
        &entries[self.entry].rows()[self.row]
    }
}

impl OneStore<'_> {
    /// The rows that are wanted, the newest first. Entries are gone through from the newest,
    /// until no other can have a row among those wanted.
    async fn newest(&mut self) -> Vec<RowAt> {
        let ListRequest { limit, since, .. } = self.wanted.request;
        // No row of an entry is newer than the entry itself.
        let mut order: Vec<usize> = (0..self.entries.len())
            .filter(|at| since.is_none_or(|since| self.entries[*at].changed_at >= since))
            .filter(|at| self.wanted.may_take(self.entries[*at].sub_agent))
            .collect();
        order.sort_unstable_by(|a, b| {
            let (a, b) = (&self.entries[*a], &self.entries[*b]);
            b.changed_at.total_cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key))
        });
        // What directories really are.
        let mut real: HashMap<String, Option<PathBuf>> = HashMap::new();
        let mut rows: Vec<RowAt> = Vec::new();
        let mut rest = order.as_slice();
        let mut seen = 0;
        let mut step = limit.map_or(usize::MAX, |limit| limit.max(LEAST_FIRST));
        while !rest.is_empty() {
            let (now, later) = rest.split_at(step.min(rest.len()));
            rest = later;
            seen += now.len();
            self.complete(now).await;
            let entries = &self.entries;
            for entry in now {
                let wanted = (0..entries[*entry].rows().len()).map(|row| RowAt { entry: *entry, row });
                let takes = |facts: &SessionFacts, real: &mut _| {
                    self.wanted.takes(facts, real) && self.wanted.takes_marked(self.overlay, self.agent, &facts.id)
                };
                rows.extend(wanted.filter(|row| takes(row.facts(entries), &mut real)));
            }
            rows.sort_by(|a, b| {
                let (a, b) = (a.facts(entries), b.facts(entries));
                b.activity.total_cmp(&a.activity).then_with(|| a.id.cmp(&b.id))
            });
            // Of two with one id, in two files say, the newer counts.
            let mut ids = HashSet::with_capacity(rows.len());
            rows.retain(|row| ids.insert(row.facts(entries).id.as_str()));
            if let Some(limit) = limit {
                let Some(last) = limit.checked_sub(1) else { break };
                // What is older than the last row of the answer is not in it.
                let oldest = rows.get(last).map_or(f64::MIN, |row| row.facts(entries).activity);
                let newer = rest.partition_point(|entry| entries[*entry].changed_at.total_cmp(&oldest).is_gt());
                rest = &rest[..newer];
                step = next_step(limit, rows.len(), seen);
            }
        }
        rows.truncate(limit.unwrap_or(usize::MAX));
        rows
    }

    /// Has the driver make the rows of these entries that are not known.
    async fn complete(&mut self, at: &[usize]) {
        let unknown: HashMap<String, usize> = at
            .iter()
            .map(|at| (&self.entries[*at], *at))
            .filter(|(entry, _)| !entry.is_known())
            .map(|(entry, at)| (entry.key.clone(), at))
            .collect();
        if unknown.is_empty() {
            return;
        }
        let scanned: Vec<ScanEntry> = unknown.values().map(|at| self.entries[*at].as_scanned()).collect();
        let (summaries, faults) =
            summaries_of(self.driver, self.reader, &scanned, self.wanted.request.with_stats).await;
        self.warnings.extend(faults.iter().map(|fault| SessionRow::of_warning(warning_of(fault), self.agent)));
        for summary in summaries {
            let Some(entry) = unknown.get(&summary.key).map(|at| &mut self.entries[*at]) else { continue };
            // What could not be read may be readable next time, although nothing changed.
            let lasting = summary.warnings.is_empty() && (self.settled || entry.is_settled(self.now));
            self.warnings.extend(summary.warnings.into_iter().map(|w| SessionRow::of_warning(w, self.agent)));
            entry.learn(summary.sessions.into_iter().map(SessionFacts::of).collect(), lasting);
            self.learned |= lasting;
        }
    }
}

/// Epoch seconds.
pub(super) fn seconds_now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
