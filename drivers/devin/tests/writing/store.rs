//! A store that tests write to, and its rows.

use crate::demo::{Demo, by_id};
use rusqlite::Connection;
use rusqlite::types::Value;
use sepia_conformance::InProcess;
use sepia_driver_devin::Devin;
use sepia_ir::{DriverError, MessageNode, Role, SaveOptions, SaveReport, Session};
use sepia_sdk::subprocess::{Native, NativeWriting};
use sepia_sdk::{Driver, Host};
use sepia_services::TrashEntry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A new session without an id that exists.
pub const NEW: SaveOptions = SaveOptions { replace: false, dry_run: false, off_branch: Vec::new() };
pub const REPLACE: SaveOptions = SaveOptions { replace: true, dry_run: false, off_branch: Vec::new() };
pub const DRY: SaveOptions = SaveOptions { replace: false, dry_run: true, off_branch: Vec::new() };

/// The services of a store.
pub fn native(demo: &Demo) -> Native {
    let places: [(&str, PathBuf); 2] = [("database", demo.database()), ("cli", demo.root().to_owned())];
    let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
    Native::at(&Devin::manifest(), &places).unwrap()
}

/// Services that write to a store, with a trash in this folder.
pub fn native_writing(demo: &Demo, trash: Option<&Path>) -> NativeWriting {
    let trash = trash.map(|folder| Arc::new(TrashEntry::new(folder.to_owned())));
    native(demo).into_writing(&Devin::manifest(), trash)
}

pub fn writing(demo: &Demo) -> Host {
    Host::new(native(demo)).and_writing(native_writing(demo, None))
}

pub fn save(demo: &Demo, session: &Session, options: &SaveOptions) -> Result<SaveReport, DriverError> {
    InProcess::<Devin>::on(writing(demo)).save(session, options)
}

/// Saves a session as a new one and reads it.
pub fn saved(demo: &Demo, session: &Session) -> (SaveReport, Session) {
    let report = save(demo, session, &NEW).unwrap();
    let read = demo.try_read(&by_id(&report.id)).unwrap();
    (report, read)
}

/// Rows of a query.
pub fn rows(demo: &Demo, sql: &str) -> Vec<Vec<Value>> {
    let connection = Connection::open(demo.database()).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect()).unwrap();
    rows.map(Result::unwrap).collect()
}

/// All rows of all tables that sessions are in.
pub fn everything(demo: &Demo) -> Vec<(String, Vec<Vec<Value>>)> {
    let tables =
        rows(demo, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name");
    let table = |row: Vec<Value>| match &row[0] {
        Value::Text(name) => (name.clone(), rows(demo, &format!("SELECT * FROM {name} ORDER BY 1, 2"))),
        other => panic!("a name: {other:?}"),
    };
    tables.into_iter().map(table).collect()
}

/// A session of another agent: a prompt, an answer that calls a tool, the result, an answer.
pub fn foreign() -> Session {
    let mut session = Session::new("", "elsewhere");
    session.title = "Fix the cart".into();
    session.working_directory = "/p/demo".into();
    session.model = "other-model".into();
    session.agent_mode = "careful".into();
    session.created_at = 1_767_225_600.25;
    session.last_activity_at = 1_767_225_660.5;
    session.metadata = r#"{"titleSource":"custom","b":1,"a":{"z":1,"y":[1.50]}}"#.into();
    let node = |id: i64, role: Role, content: &str| MessageNode {
        parent_node_id: (id > 1).then_some(id - 1),
        content: content.into(),
        ..MessageNode::new(id, role, 1_767_225_600.25 + f64::from(u32::try_from(id).unwrap()))
    };
    let mut answer = node(2, Role::Assistant, "Looking.");
    answer.thinking = Some("I should look first.".into());
    answer.model = Some("other-model".into());
    answer.request_id = Some("req_1".into());
    answer.finish_reason = Some("tool_use".into());
    answer.metadata = r#"{"messageId":"msg_01","zeta":1,"alpha":2}"#.into();
    answer.usage = Some(sepia_ir::TokenUsage {
        input: 10.0,
        output: 5.0,
        cache_read: Some(3.0),
        cost: Some(0.25),
        ..sepia_ir::TokenUsage::default()
    });
    let mut call = sepia_ir::ToolCall::new("toolu_1", "exec", r#"{"workdir":"/p/demo","command":"npm test"}"#.into());
    call.status = Some(sepia_ir::ToolCallStatus::Error);
    call.exit_code = Some(1);
    call.duration_ms = Some(1500.0);
    answer.tool_calls = vec![call];
    let mut result = node(3, Role::Tool, "1 failed");
    result.tool_call_id = Some("toolu_1".into());
    result.tool_name = Some("exec".into());
    result.tool_result = Some(sepia_ir::ToolResult {
        status: sepia_ir::ToolCallStatus::Error,
        exit_code: Some(1),
        duration_ms: Some(1500.0),
    });
    session.nodes = vec![node(1, Role::User, "Fix the cart test."), answer, result, node(4, Role::Assistant, "Done.")];
    session.main_chain_id = 4;
    session
}
