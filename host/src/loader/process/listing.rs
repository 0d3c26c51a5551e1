//! Listing with programs that can only list everything.
//!
//! Their rows become the entries of a scan, keyed by id, with a digest of the row as stamp;
//! the rows themselves are kept until the next scan, so that one listing is one call.

use sepia_ir::{ScanEntry, ScanReport, Session, Summary, SummaryDetail, Warning};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longest id that can be a key, bytes.
const MOST_KEY: usize = 4 << 10;

/// Rows by key.
pub(super) type Rows = HashMap<String, Vec<Session>>;

/// The rows of the last scan.
#[derive(Debug, Default)]
pub(super) struct Listing(Mutex<Rows>);

impl Listing {
    /// Takes the rows of a new scan, and says what there is.
    pub(super) fn replace(&self, rows: Vec<Session>) -> ScanReport {
        let (mut order, rows, left_out) = by_key(rows);
        let entries = order.drain(..).filter_map(|key| rows.get(&key).map(|sessions| entry(key, sessions))).collect();
        *self.rows() = rows;
        let warnings = if left_out == 0 {
            Vec::new()
        } else {
            vec![Warning::new("invalid-id", format!("{left_out} sessions whose id is empty or too long are left out"))]
        };
        ScanReport { entries, warnings }
    }

    /// Summaries from the rows of the last scan; `None` when one of the keys was not in it.
    pub(super) fn summaries(&self, keys: &[String]) -> Option<Vec<Summary>> {
        let rows = self.rows();
        keys.iter().map(|key| rows.get(key).map(|sessions| summary(key, sessions.clone()))).collect()
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Summaries from the rows of a listing; a key that is not in it is an empty one.
pub(super) fn summaries(rows: Vec<Session>, keys: &[String]) -> Vec<Summary> {
    let (_, mut rows, _) = by_key(rows);
    keys.iter().map(|key| summary(key, rows.remove(key).unwrap_or_default())).collect()
}

/// Parameters that ask for these rows.
pub(super) fn params(detail: SummaryDetail) -> sepia_ir::driver_wire::ListParams {
    sepia_ir::driver_wire::ListParams { detail: Some(detail) }
}

fn summary(key: &str, sessions: Vec<Session>) -> Summary {
    Summary { key: key.to_owned(), sessions, warnings: Vec::new() }
}

/// Keys in the order of the listing, the rows of each, and how many can't have one.
fn by_key(rows: Vec<Session>) -> (Vec<String>, Rows, usize) {
    let mut order = Vec::new();
    let mut by_key = Rows::new();
    let mut left_out = 0;
    for mut row in rows {
        if row.id.is_empty() || row.id.len() > MOST_KEY {
            left_out += 1;
            continue;
        }
        row.nodes.clear();
        row.prompt_history.clear();
        let sessions = by_key.entry(row.id.clone()).or_default();
        if sessions.is_empty() {
            order.push(row.id.clone());
        }
        sessions.push(row);
    }
    (order, by_key, left_out)
}

fn entry(key: String, sessions: &[Session]) -> ScanEntry {
    let mut digest = Sha256::new();
    let mut bytes = 0;
    for session in sessions {
        // The same text for the same row; a row whose metadata is no JSON never came to here.
        let text = serde_json::to_vec(session).unwrap_or_default();
        bytes += text.len() as u64;
        digest.update(&text);
    }
    let mut stamp = String::new();
    for byte in digest.finalize() {
        // Writing to a string does not fail.
        let _ = write!(stamp, "{byte:02x}");
    }
    let changed_at = sessions.iter().map(|session| session.last_activity_at).fold(0.0, f64::max);
    let sub_agent = !sessions.is_empty() && sessions.iter().all(|session| session.parent_session_id.is_some());
    ScanEntry { session_id: Some(key.clone()), key, stamp, bytes, changed_at, sub_agent }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Listing, summaries};
    use sepia_ir::Session;

    fn row(id: &str, title: &str) -> Session {
        Session { title: title.into(), last_activity_at: 7.5, ..Session::new(id, "x") }
    }

    #[test]
    fn a_stamp_changes_with_any_part_of_the_row_and_only_then() {
        let listing = Listing::default();
        let first = listing.replace(vec![row("b", "1"), row("a", "1"), row("", "1")]);
        let keys: Vec<&str> = first.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        assert_eq!(first.warnings.len(), 1);
        assert!((first.entries[0].changed_at - 7.5).abs() < f64::EPSILON);
        let second = listing.replace(vec![row("b", "2"), row("a", "1")]);
        assert_ne!(first.entries[0].stamp, second.entries[0].stamp);
        assert_eq!(first.entries[1].stamp, second.entries[1].stamp);
    }

    #[test]
    fn rows_come_back_in_the_order_of_the_keys() {
        let listing = Listing::default();
        listing.replace(vec![row("b", "1"), row("a", "1"), row("a", "2")]);
        let found = listing.summaries(&["a".into(), "b".into()]).unwrap();
        assert_eq!((found[0].sessions.len(), found[1].sessions.len()), (2, 1));
        assert!(listing.summaries(&["gone".into()]).is_none());
        let found = summaries(vec![row("b", "1")], &["gone".into(), "b".into()]);
        assert_eq!((found[0].sessions.len(), found[1].sessions.len()), (0, 1));
    }
}
