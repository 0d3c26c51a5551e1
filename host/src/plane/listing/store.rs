//! The rows of one store.

use super::calls::summaries_of;
use super::row_cache::{KeptEntry, RowCache};
use super::wanted::Wanted;
use super::{ListRequest, warning_of};
use crate::loader::{Driver, Rescan, SessionRead};
use crate::plane::row::{SessionFacts, SessionRow};
use sepia_ir::ScanEntry;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of one driver, newest first, and rows for what it could not read.
pub(super) async fn one_store(
    driver: &Arc<dyn Driver>,
    cache: RowCache,
    wanted: &Wanted,
) -> (Vec<SessionRow>, Vec<SessionRow>) {
    let agent = driver.about().manifest.id.clone();
    let Some(reader) = driver.session_read() else { return (Vec::new(), Vec::new()) };
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
        Err(fault) => return (Vec::new(), vec![SessionRow::of_warning(warning_of(&fault), &agent)]),
    };
    let mut listing = OneStore { driver, reader, wanted, now, entries, learned, agent: &agent, warnings };
    let newest = listing.newest().await;
    let mut rows: Vec<SessionRow> = newest.iter().map(|facts| SessionRow::of_facts(facts, &agent)).collect();
    let OneStore { entries, learned, mut warnings, .. } = listing;
    if learned {
        cache.write(basis, entries).await;
    }
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

struct OneStore<'a> {
    driver: &'a Arc<dyn Driver>,
    reader: &'a dyn SessionRead,
    wanted: &'a Wanted,
    agent: &'a str,
    /// When the scan began, epoch seconds.
    now: f64,
    entries: Vec<KeptEntry>,
    /// Whether there is anything to keep that was not kept before.
    learned: bool,
    warnings: Vec<SessionRow>,
}

impl OneStore<'_> {
    /// The rows that are wanted, the newest first. Entries are gone through from the newest,
    /// until no other can have a row among those wanted.
    async fn newest(&mut self) -> Vec<SessionFacts> {
        let ListRequest { limit, since, .. } = self.wanted.request;
        // No row of an entry is newer than the entry itself.
        let mut order: Vec<usize> = (0..self.entries.len())
            .filter(|at| since.is_none_or(|since| self.entries[*at].changed_at >= since))
            .collect();
        order.sort_by(|a, b| {
            let (a, b) = (&self.entries[*a], &self.entries[*b]);
            b.changed_at.total_cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key))
        });
        let (mut rows, mut taken) = (Vec::new(), Taken::default());
        let mut rest = order.as_slice();
        let mut step = limit.unwrap_or(usize::MAX).max(1);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(step.min(rest.len()));
            rest = later;
            step = step.saturating_mul(2);
            for facts in self.rows_of(now).await {
                if self.wanted.takes(&facts, &mut taken.real) && taken.ids.insert(facts.id.clone()) {
                    rows.push(facts);
                }
            }
            rows.sort_by(|a, b| b.activity.total_cmp(&a.activity).then_with(|| a.id.cmp(&b.id)));
            if let (Some(limit), Some(next)) = (limit, rest.first()) {
                let next = self.entries[*next].changed_at;
                if limit.checked_sub(1).is_none_or(|last| rows.get(last).is_some_and(|row| row.activity >= next)) {
                    break;
                }
            }
        }
        rows.truncate(limit.unwrap_or(usize::MAX));
        rows
    }

    /// The rows of these entries: those that are kept, and the others from the driver.
    async fn rows_of(&mut self, at: &[usize]) -> Vec<SessionFacts> {
        let mut rows = Vec::with_capacity(at.len());
        let mut unknown: HashMap<String, usize> = HashMap::new();
        for at in at {
            let entry = &self.entries[*at];
            match &entry.rows {
                Some(kept) => rows.extend(kept.iter().cloned()),
                None => drop(unknown.insert(entry.key.clone(), *at)),
            }
        }
        if unknown.is_empty() {
            return rows;
        }
        let scanned: Vec<ScanEntry> = unknown.values().map(|at| self.entries[*at].as_scanned()).collect();
        let (summaries, faults) =
            summaries_of(self.driver, self.reader, &scanned, self.wanted.request.with_stats).await;
        self.warnings.extend(faults.iter().map(|fault| SessionRow::of_warning(warning_of(fault), self.agent)));
        for summary in summaries {
            // What could not be read may be readable next time, although nothing changed.
            let sound = summary.warnings.is_empty();
            self.warnings.extend(summary.warnings.into_iter().map(|w| SessionRow::of_warning(w, self.agent)));
            let made: Vec<SessionFacts> = summary.sessions.into_iter().map(SessionFacts::of).collect();
            if let Some(entry) = unknown.get(&summary.key).map(|at| &mut self.entries[*at])
                && sound
                && entry.is_settled(self.now)
            {
                entry.rows = Some(made.clone());
                self.learned = true;
            }
            rows.extend(made);
        }
        rows
    }
}

#[derive(Default)]
struct Taken {
    ids: HashSet<String>,
    /// What directories really are.
    real: HashMap<String, Option<PathBuf>>,
}

fn seconds_now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
