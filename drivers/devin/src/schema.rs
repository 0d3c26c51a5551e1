//! What a database of the agent has: its tables, columns and indexes, which grew with its
//! versions. Nothing is selected that is not there.

use crate::value::Columns;
use sepia_ir::DriverError;
use sepia_sdk::Database;
use std::collections::HashSet;

/// Tables that are read.
const TABLES: &str = "('sessions','message_nodes','prompt_history','tool_call_state','subagent_heads')";

/// Tables, columns and indexes found by probing.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    columns: HashSet<(String, String)>,
    /// Nodes are found by their session without looking at all of them.
    pub(crate) indexed: bool,
}

impl Schema {
    /// What a database of migration 17 has. Asking for it and probing only when that fails is
    /// half the price of looking a session up.
    pub(crate) fn current() -> Self {
        const TABLES: [(&str, &[&str]); 5] = [
            (
                "sessions",
                &[
                    "id",
                    "working_directory",
                    "backend_type",
                    "model",
                    "agent_mode",
                    "created_at",
                    "last_activity_at",
                    "title",
                    "main_chain_id",
                    "shell_last_seen_index",
                    "cogs_json",
                    "workspace_dirs",
                    "hidden",
                    "metadata",
                ],
            ),
            (
                "message_nodes",
                &["row_id", "session_id", "node_id", "parent_node_id", "chat_message", "created_at", "metadata"],
            ),
            ("prompt_history", &["id", "content", "timestamp", "session_id", "is_shell"]),
            ("tool_call_state", &["session_id", "tool_call_id", "tool_call_update_json"]),
            ("subagent_heads", &["session_id", "agent_id", "chain_node_id", "updated_at"]),
        ];
        let columns = TABLES.iter().flat_map(|(table, columns)| columns.iter().map(|column| (*table, *column)));
        let columns = columns.map(|(table, column)| (table.to_owned(), column.to_owned())).collect();
        Self { columns, indexed: true }
    }

    /// Probes a database.
    pub(crate) fn probe(database: &dyn Database) -> Result<Self, DriverError> {
        let sql = format!(
            "SELECT 0, t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' AND t.name IN {TABLES} \
             UNION ALL SELECT 1, i.name, c.name FROM pragma_index_list('message_nodes') i, pragma_index_info(i.name) c \
             WHERE i.partial = 0 AND c.seqno = 0"
        );
        let mut schema = Self::default();
        for row in database.rows(&sql, &[])? {
            let mut row = Columns::of(row);
            let is_index = row.flag();
            let (Some(owner), Some(column)) = (row.text(), row.text()) else { continue };
            if is_index {
                schema.indexed |= column == "session_id";
            } else {
                schema.columns.insert((owner, column));
            }
        }
        Ok(schema)
    }

    /// Whether a table has these columns, all of them.
    pub(crate) fn has(&self, table: &str, columns: &[&str]) -> bool {
        // A probe without a copy of both names would need a map of maps.
        columns.iter().all(|column| self.columns.contains(&(table.to_owned(), (*column).to_owned())))
    }

    /// Whether there are sessions that can be told apart.
    pub(crate) fn has_sessions(&self) -> bool {
        self.has("sessions", &["id"])
    }

    /// Whether there are messages that can be told apart.
    pub(crate) fn has_nodes(&self) -> bool {
        self.has("message_nodes", &["session_id", "node_id", "chat_message"])
    }

    /// Columns of a table as the list of a `SELECT`; `NULL` stands for each that is not there.
    pub(crate) fn select(&self, table: &str, alias: &str, columns: &[&str]) -> String {
        let one =
            |name: &&str| if self.has(table, &[name]) { format!("{alias}.\"{name}\"") } else { "NULL".to_owned() };
        columns.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// [`carried`], where there is such a column.
    pub(crate) fn carried(&self, alias: &str) -> String {
        if self.has("sessions", &["metadata"]) { carried(alias) } else { "NULL".to_owned() }
    }

    /// What grows with every message that is written.
    pub(crate) fn growing(&self) -> &'static str {
        if self.has("message_nodes", &["row_id"]) { "row_id" } else { "node_id" }
    }
}

/// The column `metadata` of sessions that something rides along with, see [`crate::carry`]; nothing
/// of the others.
pub(crate) fn carried(alias: &str) -> String {
    let key = sepia_sdk::carried::KEY;
    format!("CASE WHEN instr({alias}.\"metadata\", '\"{key}\"') > 0 THEN {alias}.\"metadata\" END")
}
