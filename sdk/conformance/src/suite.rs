//! The order in which the laws are tried.

use crate::laws::{self, Facts, Listed};
use crate::report::Report;
use crate::subject::Subject;
use crate::tree::tree_hash;
use sepia_ir::{SessionRef, SummaryDetail};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The suite, set up for one driver and one store.
pub struct Suite<'a> {
    subject: &'a dyn Subject,
    twin: Option<&'a dyn Subject>,
    stores: Vec<PathBuf>,
}

impl<'a> Suite<'a> {
    /// For this driver.
    pub fn new(subject: &'a dyn Subject) -> Self {
        Self { subject, twin: None, stores: Vec::new() }
    }

    /// Besides, everything must be the same from this other form of the driver.
    #[must_use]
    pub fn with_twin(mut self, twin: &'a dyn Subject) -> Self {
        self.twin = Some(twin);
        self
    }

    /// Besides, nothing may change in this place.
    #[must_use]
    pub fn on_store(mut self, place: impl Into<PathBuf>) -> Self {
        self.stores.push(place.into());
        self
    }

    /// Tries all laws. Reads one session at a time.
    pub fn run(&self) -> Report {
        let mut report = Report::default();
        let before: Vec<_> = self.stores.iter().map(|place| hash(place)).collect();
        self.laws(&mut report);
        for (place, before) in self.stores.iter().zip(before) {
            report.add("store_unchanged", None, unchanged(before, hash(place)));
        }
        report
    }

    fn laws(&self, report: &mut Report) {
        let subject = self.subject;
        let scan = match subject.scan() {
            Ok(scan) => scan,
            Err(e) => return report.add("scan", None, Err(e.to_string())),
        };
        let keys: Vec<String> = scan.entries.iter().map(|entry| entry.key.clone()).collect();
        let mut summaries = Vec::new();
        for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
            match subject.summaries(&keys, detail) {
                Ok(found) => summaries.push(found),
                Err(e) => return report.add("summaries", None, Err(e.to_string())),
            }
        }
        let stats = summaries.pop().unwrap_or_default();
        let rows = summaries.pop().unwrap_or_default();
        let listed = Listed { scan, keys, rows, stats, now: now() };
        for (law, verdict) in laws::listing::all(subject, &listed) {
            report.add(law, None, verdict);
        }
        for (law, verdict) in laws::unknown::all(subject, &listed) {
            report.add(law, None, verdict);
        }
        if let Some(twin) = self.twin {
            for (law, verdict) in laws::twin::listing(twin, &listed, subject) {
                report.add(law, None, verdict);
            }
        }
        let mut met = HashSet::new();
        for (row, stats) in listed.pairs() {
            // A second row of the same id can't be asked for; that it is there is broken already.
            if met.insert(&row.id) {
                let session = SessionRef { id: row.id.clone(), agent_id: None };
                self.session(&Facts { session, row, stats, now: listed.now }, report);
            }
        }
    }

    fn session(&self, facts: &Facts<'_>, report: &mut Report) {
        let id = Some(facts.session.id.as_str());
        let (header, nodes) = match self.subject.open(&facts.session, 256) {
            Ok(opened) => opened.into_nodes(),
            Err(e) => return report.add("opens", id, Err(e.to_string())),
        };
        report.add("opens", id, Ok(()));
        let mut verdicts = laws::session::all(self.subject, facts, &header, &nodes);
        verdicts.extend(laws::nodes::all(facts, &header, &nodes));
        verdicts.extend(laws::paging::all(self.subject, facts, &header, &nodes));
        if let Some(twin) = self.twin {
            verdicts.extend(laws::twin::session(self.subject, twin, facts, &header, &nodes));
        }
        for (law, verdict) in verdicts {
            report.add(law, id, verdict);
        }
    }
}

fn hash(place: &Path) -> Result<String, String> {
    tree_hash(place).map_err(|e| format!("{} can't be read: {e}", place.display()))
}

fn unchanged(before: Result<String, String>, after: Result<String, String>) -> Result<(), String> {
    if before? == after? { Ok(()) } else { Err("something in the store was changed by reading".to_owned()) }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}
