//! The nodes of a session that was written a moment ago, to be compared: read in one look, without what other rows
//! tell of them.

use crate::carry;
use crate::draft::draft;
use crate::place::{Opened, is_id};
use crate::rows::Rows;
use crate::session::in_databases;
use crate::value::text;
use sepia_ir::{DriverError, MessageNode};
use sepia_sdk::{Host, Nodes};
use std::rc::Rc;

/// Bytes of rows that are handed over at once, about.
const BATCH: usize = 1 << 20;

/// See the module.
pub(crate) struct ReadBack {
    rows: Rows,
    file: &'static str,
}

impl ReadBack {
    /// Looks the session up in the agent's databases, and begins to read it.
    pub(crate) fn open(host: &Host, id: &str) -> Result<Self, DriverError> {
        let find = |opened: &Rc<Opened>| {
            let sql = "SELECT 1 FROM sessions WHERE id = ? LIMIT 1";
            if !is_id(id) || opened.database.rows(sql, &[text(id)])?.is_empty() {
                return Ok(None);
            }
            Ok(Some(Self { rows: Rows::of(opened, id, None)?, file: opened.source.file() }))
        };
        in_databases(host, find)?.ok_or_else(|| DriverError::unknown_session(id))
    }
}

impl Nodes for ReadBack {
    fn batch(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let mut nodes = Vec::new();
        let mut bytes = 0;
        while nodes.len() < max.max(1) && bytes < BATCH {
            let Some(row) = self.rows.next()? else { break };
            bytes += row.bytes();
            let read = draft(&row, self.file);
            let mut node = read.node;
            if let Some(carried) = read.carried {
                carry::onto_node(&mut node, &carried, false);
            }
            nodes.push(node);
        }
        Ok(nodes)
    }
}
