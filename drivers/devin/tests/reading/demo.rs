//! A store built for one test, and what a test asks of the driver.

use rusqlite::{Connection, params};
use sepia_conformance::{InProcess, Outcome, Suite, copy_tree, tree_hash};
use sepia_driver_devin::Devin;
use sepia_ir::{
    Branch, DriverError, HistoryPage, HistoryQuery, MessageNode, ScanReport, Session, SessionRef, Summary,
    SummaryDetail,
};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, SessionRead};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Epoch seconds of 2026-01-01.
pub const T0: i64 = 1_767_225_600;

/// The tables of migration 17.
pub const SCHEMA: &str = "
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT NOT NULL, backend_type TEXT NOT NULL,
 model TEXT NOT NULL, agent_mode TEXT NOT NULL, created_at INTEGER NOT NULL, last_activity_at INTEGER NOT NULL,
 title TEXT, main_chain_id INTEGER, shell_last_seen_index INTEGER DEFAULT 0, cogs_json TEXT, workspace_dirs TEXT,
 hidden INTEGER NOT NULL DEFAULT 0, metadata TEXT);
CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
 node_id INTEGER NOT NULL, parent_node_id INTEGER, chat_message TEXT NOT NULL, created_at INTEGER NOT NULL,
 metadata TEXT, FOREIGN KEY (session_id) REFERENCES sessions(id), UNIQUE(session_id, node_id));
CREATE TABLE prompt_history (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, timestamp INTEGER NOT NULL,
 session_id TEXT, is_shell INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tool_call_state (session_id TEXT NOT NULL, tool_call_id TEXT NOT NULL, tool_call_json TEXT,
 tool_call_update_json TEXT, PRIMARY KEY (session_id, tool_call_id));
CREATE TABLE subagent_heads (session_id TEXT NOT NULL, agent_id TEXT NOT NULL, chain_node_id INTEGER NOT NULL,
 updated_at INTEGER NOT NULL, PRIMARY KEY (session_id, agent_id));
CREATE INDEX idx_message_nodes_session ON message_nodes(session_id);
CREATE INDEX idx_prompt_history_session ON prompt_history(session_id);
";

/// A store in a folder of its own.
pub struct Demo {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl Demo {
    /// Of nothing.
    pub fn bare() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), name: "sessions.db" }
    }

    /// An empty database.
    pub fn new() -> Self {
        let demo = Self::bare();
        demo.sql(SCHEMA);
        demo
    }

    /// The database is here.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// One of the sample stores, copied.
    pub fn sample(case: &str) -> Self {
        let demo = Self::bare();
        copy_tree(&samples().join(case).join("cli"), demo.root()).unwrap();
        demo
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn database(&self) -> PathBuf {
        self.root().join(self.name)
    }

    pub fn sql(&self, statements: &str) {
        Connection::open(self.database()).unwrap().execute_batch(statements).unwrap();
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let place = self.root().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, content).unwrap();
        place
    }

    /// A session without nodes, with a title and a model.
    pub fn session(&self, id: &str, tip: Option<i64>) {
        Connection::open(self.database())
            .unwrap()
            .execute(
                "INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, \
                 last_activity_at, title, main_chain_id) VALUES (?, '/p/demo', 'windsurf', 'swe', 'plan', ?, ?, ?, ?)",
                params![id, T0, T0 + 1000, format!("Title of {id}"), tip],
            )
            .unwrap();
    }

    /// A row of a session.
    pub fn node(&self, session: &str, id: i64, parent: Option<i64>, message: impl ToString, metadata: Option<&str>) {
        Connection::open(self.database())
            .unwrap()
            .execute(
                "INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata) \
                 VALUES (?, ?, ?, ?, ?, ?)",
                params![session, id, parent, message.to_string(), T0 + id, metadata],
            )
            .unwrap();
    }

    pub fn host(&self) -> Host {
        let places = [("database", self.database()), ("cli", self.root().to_owned())];
        let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
        Host::new(Native::at(&Devin::manifest(), &places).unwrap())
    }

    pub fn scan(&self) -> ScanReport {
        Devin::scan(&self.host()).unwrap()
    }

    pub fn summaries(&self, detail: SummaryDetail) -> Vec<Summary> {
        let keys: Vec<String> = self.scan().entries.into_iter().map(|entry| entry.key).collect();
        Devin::summaries(&self.host(), &keys, detail).unwrap()
    }

    pub fn rows(&self, detail: SummaryDetail) -> Vec<Session> {
        self.summaries(detail).into_iter().flat_map(|summary| summary.sessions).collect()
    }

    pub fn row(&self, id: &str) -> Session {
        self.rows(SummaryDetail::Row).into_iter().find(|row| row.id == id).expect("the session is listed")
    }

    pub fn summary(&self, id: &str) -> Session {
        Devin::summary_of(&self.host(), &by_id(id)).unwrap()
    }

    pub fn read(&self, id: &str) -> Session {
        self.try_read(&by_id(id)).unwrap()
    }

    pub fn try_read(&self, session: &SessionRef) -> Result<Session, DriverError> {
        InProcess::<Devin>::on(self.host()).read(session, 3)
    }

    pub fn page(&self, id: &str, branch: Branch, limit: u32, before: Option<u64>) -> HistoryPage {
        let query = HistoryQuery { limit, before, branch, index: None };
        Devin::history(&self.host(), &by_id(id), &query).unwrap()
    }

    /// Node ids of the live branch.
    pub fn live(&self, id: &str) -> Vec<i64> {
        ids(&self.page(id, Branch::Live, u32::MAX, None).nodes)
    }

    /// Runs the suite of all drivers; gives the number of sessions.
    pub fn keeps_the_laws(&self) -> usize {
        let before = tree_hash(self.root()).unwrap();
        let report = Suite::new(&InProcess::<Devin>::on(self.host())).on_store(self.root()).run();
        assert_eq!(report.failures(), Vec::<&Outcome>::new());
        assert_eq!(tree_hash(self.root()).unwrap(), before);
        report.sessions()
    }
}

pub fn by_id(id: &str) -> SessionRef {
    SessionRef { id: id.to_owned(), agent_id: None }
}

pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/devin")
}

/// A prompt.
pub fn user(text: &str) -> Value {
    json!({"message_id": format!("m-{text}"), "role": "user", "content": text, "metadata": {"is_user_input": true}})
}

/// An answer with 10 tokens in and 5 out.
pub fn answer(text: &str) -> Value {
    json!({
        "message_id": format!("m-{text}"), "role": "assistant", "content": text, "tool_calls": [],
        "metadata": {"generation_model": "swe", "metrics": {"input_tokens": 10, "output_tokens": 5}},
    })
}

/// An answer that calls tools.
pub fn calls(text: &str, calls: &[&str]) -> Value {
    let calls: Vec<Value> =
        calls.iter().map(|id| json!({"id": id, "name": "exec", "arguments": {"command": id}})).collect();
    with(answer(text), &[("tool_calls", json!(calls))])
}

/// The result of a call.
pub fn result(call: &str, text: &str) -> Value {
    json!({
        "message_id": format!("r-{call}"), "role": "tool", "content": text, "tool_call_id": call,
        "metadata": {"extensions": {"chisel/tool_result_meta": {"success": true, "kind": "exec"}}},
    })
}

/// A message with members replaced; `.` leads into an object.
pub fn with(mut message: Value, members: &[(&str, Value)]) -> Value {
    for (path, value) in members {
        let mut at = &mut message;
        for name in path.split('.') {
            at = &mut at[name];
        }
        *at = value.clone();
    }
    message
}

pub fn ids(nodes: &[MessageNode]) -> Vec<i64> {
    nodes.iter().map(|node| node.node_id).collect()
}

pub fn meta(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// Codes of the warnings in metadata.
pub fn warnings(metadata: &str) -> Vec<String> {
    let list = meta(metadata)["warnings"].as_array().cloned().unwrap_or_default();
    list.iter().map(|warning| warning["code"].as_str().unwrap().to_owned()).collect()
}
