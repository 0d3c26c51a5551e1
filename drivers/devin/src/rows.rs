//! The rows of a session's nodes, one after the other.

use crate::message::{COLUMNS, Row};
use crate::place::Opened;
use crate::value::{list, text};
use sepia_ir::DriverError;
use sepia_sdk::Query;
use std::collections::VecDeque;

/// Rows asked for at a time.
pub(crate) const ROWS: usize = 256;

/// The rows of a session, in the order of their ids, each id once.
pub(crate) struct Rows {
    query: Box<dyn Query>,
    waiting: VecDeque<Row>,
    last: Option<i64>,
    /// Rows passed over.
    pub(crate) odd: u64,
}

impl Rows {
    pub(crate) fn of(opened: &Opened, session: &str, nodes: Option<&[i64]>) -> Result<Self, DriverError> {
        let columns = opened.schema.select("message_nodes", "n", &COLUMNS);
        let mut parameters = vec![text(session)];
        let mut which = String::new();
        if let Some(nodes) = nodes {
            which.push_str("AND n.node_id IN (SELECT value FROM json_each(?)) ");
            parameters.push(list(nodes));
        }
        let sql = format!("SELECT {columns} FROM message_nodes n WHERE n.session_id = ? {which}ORDER BY n.node_id");
        let query = opened.database.query(&sql, &parameters)?;
        Ok(Self { query, waiting: VecDeque::new(), last: None, odd: 0 })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, DriverError> {
        loop {
            while let Some(row) = self.waiting.pop_front() {
                if self.last.is_none_or(|last| row.id > last) {
                    self.last = Some(row.id);
                    return Ok(Some(row));
                }
                self.odd += 1;
            }
            let batch = self.query.next(ROWS)?;
            if batch.is_empty() {
                return Ok(None);
            }
            let before = batch.len();
            self.waiting.extend(batch.into_iter().filter_map(Row::of));
            self.odd += (before - self.waiting.len()) as u64;
        }
    }
}
