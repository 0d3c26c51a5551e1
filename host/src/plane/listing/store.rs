//! The rows of one store.

use super::calls::summaries_of;
use super::row_cache::{Kept, RowCache};
use super::wanted::Wanted;
use super::{sort, warning_of};
use crate::loader::{Driver, SessionRead};
use crate::plane::row::{SessionFacts, SessionRow};
use sepia_ir::ScanEntry;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of one driver, and rows for what it could not read.
pub(super) async fn one_store(
    driver: &Arc<dyn Driver>,
    cache: RowCache,
    wanted: &Wanted,
) -> (Vec<SessionRow>, Vec<SessionRow>) {
    let agent = driver.about().manifest.id.clone();
    let Some(reader) = driver.session_read() else { return (Vec::new(), Vec::new()) };
    let now = seconds_now();
    let (report, kept) = tokio::join!(reader.scan(), cache.read());
    let report = match report {
        Ok(report) => report,
        Err(fault) => return (Vec::new(), vec![SessionRow::of_warning(warning_of(&fault), &agent)]),
    };
    let warnings = report.warnings.into_iter().map(|w| SessionRow::of_warning(w, &agent)).collect();
    let mut listing = OneStore {
        driver,
        reader,
        wanted,
        agent,
        now,
        kept,
        learned: 0,
        rows: Vec::new(),
        warnings,
        taken: Taken::default(),
    };
    listing.newest(&report.entries).await;
    cache.write(listing.kept, &report.entries, listing.learned).await;
    listing.rows.truncate(wanted.request.limit.unwrap_or(usize::MAX));
    if wanted.request.with_locks {
        match reader.locks().await {
            Ok(locks) => {
                let holders: HashMap<_, _> = locks.into_iter().map(|lock| (lock.id, lock.holder_pid)).collect();
                for row in &mut listing.rows {
                    if let Some(holder) = holders.get(&row.id) {
                        (row.locked, row.lock_holder_pid) = (true, *holder);
                    }
                }
            }
            Err(fault) => listing.warnings.push(SessionRow::of_warning(warning_of(&fault), &listing.agent)),
        }
    }
    (listing.rows, listing.warnings)
}

struct OneStore<'a> {
    driver: &'a Arc<dyn Driver>,
    reader: &'a dyn SessionRead,
    wanted: &'a Wanted,
    agent: String,
    /// When the scan began, epoch seconds.
    now: f64,
    /// What is kept of earlier listings.
    kept: Kept,
    /// Entries that this listing put there.
    learned: usize,
    rows: Vec<SessionRow>,
    warnings: Vec<SessionRow>,
    taken: Taken,
}

#[derive(Default)]
struct Taken {
    ids: HashSet<String>,
    /// What directories really are.
    real: HashMap<String, Option<PathBuf>>,
}

impl OneStore<'_> {
    /// Takes the rows of entries, the newest first, until no other can be among those wanted.
    async fn newest(&mut self, entries: &[ScanEntry]) {
        // No row of an entry is newer than the entry itself.
        let since = self.wanted.request.since;
        let mut entries: Vec<&ScanEntry> =
            entries.iter().filter(|entry| since.is_none_or(|since| entry.changed_at >= since)).collect();
        entries.sort_by(|a, b| b.changed_at.total_cmp(&a.changed_at).then_with(|| a.key.cmp(&b.key)));
        let limit = self.wanted.request.limit;
        let mut rest = entries.as_slice();
        let mut step = limit.unwrap_or(usize::MAX).max(1);
        while !rest.is_empty() {
            let (now, later) = rest.split_at(step.min(rest.len()));
            rest = later;
            step = step.saturating_mul(2);
            self.take(now).await;
            sort(&mut self.rows);
            if let (Some(limit), Some(next)) = (limit, rest.first())
                && limit
                    .checked_sub(1)
                    .is_none_or(|last| self.rows.get(last).is_some_and(|row| row.activity >= next.changed_at))
            {
                break;
            }
        }
    }

    /// Takes the rows of these entries: those that are kept, and the others from the driver.
    async fn take(&mut self, entries: &[&ScanEntry]) {
        let mut unknown = Vec::new();
        for entry in entries {
            match self.kept.rows(entry) {
                Some(rows) => {
                    let rows = rows.iter().map(|row| (row, &*self.wanted));
                    take(rows, &self.agent, &mut self.taken, &mut self.rows);
                }
                None => unknown.push(*entry),
            }
        }
        if unknown.is_empty() {
            return;
        }
        let (summaries, faults) =
            summaries_of(self.driver, self.reader, &unknown, self.wanted.request.with_stats).await;
        self.warnings.extend(faults.iter().map(|fault| SessionRow::of_warning(warning_of(fault), &self.agent)));
        let entries: HashMap<&str, &ScanEntry> = unknown.iter().map(|entry| (entry.key.as_str(), *entry)).collect();
        for summary in summaries {
            // What could not be read may be readable next time, although nothing changed.
            let sound = summary.warnings.is_empty();
            self.warnings.extend(summary.warnings.into_iter().map(|w| SessionRow::of_warning(w, &self.agent)));
            let rows: Vec<SessionFacts> = summary.sessions.into_iter().map(SessionFacts::of).collect();
            take(rows.iter().map(|row| (row, self.wanted)), &self.agent, &mut self.taken, &mut self.rows);
            if let Some(entry) = entries.get(summary.key.as_str()).filter(|_| sound)
                && self.kept.learn(entry, rows, self.now)
            {
                self.learned += 1;
            }
        }
    }
}

/// Takes the rows that are wanted and not there yet.
fn take<'a>(
    rows: impl Iterator<Item = (&'a SessionFacts, &'a Wanted)>,
    agent: &str,
    taken: &mut Taken,
    into: &mut Vec<SessionRow>,
) {
    for (row, wanted) in rows {
        if wanted.takes(row, &mut taken.real) && taken.ids.insert(row.id.clone()) {
            into.push(SessionRow::of_facts(row, agent));
        }
    }
}

fn seconds_now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
