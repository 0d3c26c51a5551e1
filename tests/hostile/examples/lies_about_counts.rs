//! Lies about how much there is and in which order.

use sepia_hostile::{Guest, Lines, Misdeed, entry, node, row};
use sepia_ir::{DriverError, HistoryPage, HistoryQuery, MessageNode, ScanReport, Summary};
use sepia_sdk::Host;

struct Bad;

impl Misdeed for Bad {
    /// The same key twice.
    fn scan(_host: &Host) -> Result<ScanReport, DriverError> {
        Ok(ScanReport { entries: vec![entry("a"), entry("a"), entry("b")], warnings: vec![] })
    }

    /// One row too many, unless it is asked for the impossible time.
    fn summaries(_host: &Host, keys: &[String]) -> Result<Vec<Summary>, DriverError> {
        let summary = |key: &str| Summary { key: key.into(), sessions: vec![row("s")], warnings: vec![] };
        let mut rows: Vec<Summary> = keys.iter().map(|key| summary(key)).collect();
        match keys.first().map(String::as_str) {
            Some("late") => rows[0].sessions[0].last_activity_at = 9_223_372_036_854_775.0,
            Some("nodes") => rows[0].sessions[0].nodes = vec![node(1, "x")],
            _ => rows.push(summary("more")),
        }
        Ok(rows)
    }

    fn open(_host: &Host, session: &str) -> Result<Lines, DriverError> {
        Ok(Lines { id: session.to_owned(), lines: vec![], at: 0 })
    }

    fn next(lines: &mut Lines, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let first = i64::try_from(lines.at).unwrap_or(0) + 1;
        lines.at += max;
        let count = i64::try_from(max).unwrap_or(0);
        Ok(match lines.id.as_str() {
            "endless" => (first..first + count).map(|id| node(id, "again")).collect(),
            "more" => (first..=first + count).map(|id| node(id, "more")).collect(),
            "repeats" => vec![node(1, "one"), node(2, "two"), node(2, "two again")],
            "backwards" => vec![node(i64::MAX, "last"), node(1, "first")],
            "negative" => vec![node(i64::MIN, "lowest")],
            _ => vec![],
        })
    }

    fn history(_host: &Host, session: &str, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        let mut page =
            HistoryPage { nodes: vec![node(1, "x")], tool_call_nodes: vec![], total: 1, start: 0, index: None };
        match session {
            "overflow" => (page.start, page.total) = (u64::MAX, u64::MAX),
            "beyond" => page.start = 1,
            "more" => page.nodes = (1..=i64::from(query.limit) + 1).map(|id| node(id, "x")).collect(),
            _ => page.total = 10,
        }
        Ok(page)
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
