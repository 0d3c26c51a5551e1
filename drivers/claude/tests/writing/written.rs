//! Sessions to write, and the store that they are written to.

use crate::demo::{Demo, T0};
use sepia_conformance::{InProcess, equal_but_for};
use sepia_driver_claude::Claude;
use sepia_ir::{
    DriverError, MessageNode, Role, SaveOptions, SaveReport, Session, SessionRef, ToolCall, ToolCallStatus, ToolResult,
};
use sepia_sdk::subprocess::{Native, NativeWriting};
use sepia_sdk::{Driver, Host};
use sepia_services::TrashEntry;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const NEW: SaveOptions = SaveOptions { replace: false, dry_run: false, off_branch: Vec::new() };
pub const REPLACE: SaveOptions = SaveOptions { replace: true, dry_run: false, off_branch: Vec::new() };

/// The services of a call that writes to a store: what reads, and what writes.
pub fn services(root: &Path, trash: Arc<TrashEntry>) -> (Native, NativeWriting) {
    let manifest = Claude::manifest();
    let open = || Native::at(&manifest, &[("claude", root)]).unwrap();
    (open(), open().into_writing(&manifest, Some(trash)))
}

/// The same as a handle.
pub fn host(root: &Path, trash: Arc<TrashEntry>) -> Host {
    let (reading, writing) = services(root, trash);
    Host::new(reading).and_writing(writing)
}

/// A store to write to, and the trash beside it.
pub struct Ground {
    pub demo: Demo,
    /// Holds the folder of the entry.
    _trash: tempfile::TempDir,
    pub entry: Arc<TrashEntry>,
}

impl Ground {
    pub fn of(demo: Demo) -> Self {
        let trash = tempfile::tempdir().unwrap();
        let entry = Arc::new(TrashEntry::new(trash.path().join("entry")));
        Self { demo, _trash: trash, entry }
    }

    pub fn new() -> Self {
        Self::of(Demo::new())
    }

    pub fn host(&self) -> Host {
        host(self.demo.root(), Arc::clone(&self.entry))
    }

    pub fn save(&self, session: &Session, options: &SaveOptions) -> Result<SaveReport, DriverError> {
        InProcess::<Claude>::on(self.host()).save(session, options)
    }

    /// Writes a session, and holds what is read back against it.
    pub fn saved(&self, session: &Session) -> (SaveReport, Session) {
        let report = self.save(session, &NEW).unwrap();
        let read = self.demo.read(&report.id);
        equal_but_for(session, &read, &report.losses).unwrap();
        (report, read)
    }

    /// Where a session of `/p/demo` is.
    pub fn file(&self, id: &str) -> PathBuf {
        self.demo.root().join(format!("projects/-p-demo/{id}.jsonl"))
    }

    /// Its records.
    pub fn records(&self, id: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.file(id)).unwrap();
        assert!(text.ends_with('\n'), "the last line is ended");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub fn by_id(id: &str) -> SessionRef {
    SessionRef { id: id.to_owned(), agent_id: None }
}

/// A session of another agent in `/p/demo`.
pub fn session(nodes: Vec<MessageNode>) -> Session {
    let mut session = Session::new("", "elsewhere");
    session.title = "Work".into();
    session.working_directory = "/p/demo".into();
    session.model = "gpt-5".into();
    session.created_at = T0;
    session.last_activity_at = nodes.iter().map(|node| node.created_at).fold(T0, f64::max);
    session.main_chain_id = nodes.last().map_or(0, |node| node.node_id);
    session.metadata = r#"{"source":"elsewhere"}"#.into();
    session.nodes = nodes;
    session
}

/// Nodes one after the other, numbered as this driver numbers them, a second apart.
pub fn chain(nodes: Vec<MessageNode>) -> Vec<MessageNode> {
    let number = |(at, mut node): (usize, MessageNode)| {
        node.node_id = i64::try_from(at).unwrap() + 1;
        node.parent_node_id = (at > 0).then_some(node.node_id - 1);
        node.created_at = T0 + at as f64;
        node
    };
    nodes.into_iter().enumerate().map(number).collect()
}

pub fn says(role: Role, text: &str) -> MessageNode {
    MessageNode { content: text.into(), ..MessageNode::new(0, role, 0.0) }
}

pub fn calls(text: &str, calls: &[(&str, &str, &str)]) -> MessageNode {
    let mut node = says(Role::Assistant, text);
    node.model = Some("gpt-5".into());
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let mut call = ToolCall::new(*id, *name, (*arguments).into());
        call.index = i64::try_from(index).unwrap();
        call.status = Some(ToolCallStatus::Success);
        node.tool_calls.push(call);
    }
    node
}

pub fn result(id: &str, name: &str, text: &str, status: ToolCallStatus) -> MessageNode {
    let mut node = says(Role::Tool, text);
    node.tool_call_id = Some(id.into());
    node.tool_name = Some(name.into());
    node.tool_result = Some(ToolResult { status, exit_code: None, duration_ms: None });
    node
}
