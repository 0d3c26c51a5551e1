//! A store that a test writes to, and sessions to be written.

use sepia_conformance::{InProcess, Suite, copy_tree, tree_hash};
use sepia_driver_cline::Cline;
use sepia_ir::{
    DriverError, MessageNode, Role, SaveOptions, SaveReport, Session, SessionRef, ToolCall, ToolCallStatus, ToolResult,
};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, WritingServices};
use sepia_services::TrashEntry;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const WRITE: SaveOptions = SaveOptions { replace: false, dry_run: false, off_branch: Vec::new() };
pub const REPLACE: SaveOptions = SaveOptions { replace: true, dry_run: false, off_branch: Vec::new() };
/// Epoch seconds of 2026-01-01.
pub const T0: f64 = 1_767_225_600.0;

/// A data directory, a storage of the extension, and a trash.
pub struct Stand {
    folder: tempfile::TempDir,
}

impl Stand {
    pub fn new() -> Self {
        let stand = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(stand.data()).unwrap();
        stand
    }

    /// On a copy of a sample.
    pub fn sample(name: &str) -> Self {
        let stand = Self::new();
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cline").join(name), &stand.data())
            .unwrap();
        stand
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn extension(&self) -> PathBuf {
        self.folder.path().join("extension")
    }

    pub fn native(&self) -> Result<Native, DriverError> {
        let places = [("cline", self.data()), ("extension", self.extension())];
        let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
        Native::at(&Cline::manifest(), &places)
    }

    /// Folders of the trash are numbered.
    pub fn trash(&self) -> Arc<TrashEntry> {
        let number = fs::read_dir(self.folder.path()).unwrap().count();
        Arc::new(TrashEntry::new(self.folder.path().join(format!("trash-{number}"))))
    }

    pub fn host(&self) -> Host {
        self.host_with(self.trash())
    }

    pub fn host_with(&self, trash: Arc<TrashEntry>) -> Host {
        Native::host_for_writing(|| self.native(), &Cline::manifest(), Some(trash)).unwrap()
    }

    /// What reads, and what writes.
    pub fn halves(&self) -> (Native, Box<dyn WritingServices>) {
        let writing = self.native().unwrap().into_writing(&Cline::manifest(), Some(self.trash()));
        (self.native().unwrap(), Box::new(writing))
    }

    pub fn save(&self, session: &Session, options: &SaveOptions) -> Result<SaveReport, DriverError> {
        InProcess::<Cline>::on(self.host()).save(session, options)
    }

    /// Saves it and reads it back.
    pub fn saved(&self, session: &Session) -> (SaveReport, Session) {
        let report = self.save(session, &WRITE).unwrap();
        let read = self.read(&report.id);
        (report, read)
    }

    pub fn read(&self, id: &str) -> Session {
        self.try_read(id).unwrap()
    }

    pub fn try_read(&self, id: &str) -> Result<Session, DriverError> {
        InProcess::<Cline>::on(Host::new(self.native().unwrap())).read(&by_id(id), 3)
    }

    pub fn ids(&self) -> Vec<String> {
        use sepia_sdk::SessionRead;
        let host = Host::new(self.native().unwrap());
        let keys: Vec<String> = Cline::scan(&host).unwrap().entries.into_iter().map(|entry| entry.key).collect();
        let rows = Cline::summaries(&host, &keys, sepia_ir::SummaryDetail::Row).unwrap();
        let mut ids: Vec<String> = rows.into_iter().flat_map(|summary| summary.sessions).map(|row| row.id).collect();
        ids.sort();
        ids
    }

    /// Holds the laws of reading.
    pub fn holds_the_laws(&self) {
        let subject = InProcess::<Cline>::on(Host::new(self.native().unwrap()));
        let report = Suite::new(&subject).on_store(self.data()).run();
        assert_eq!(report.failures(), Vec::<&sepia_conformance::Outcome>::new());
    }

    pub fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&fs::read(self.data().join(path)).unwrap()).unwrap()
    }

    pub fn manifest(&self, id: &str) -> Value {
        self.json(&format!("sessions/{id}/{id}.json"))
    }

    /// Messages of a session that is where the manifest says.
    pub fn messages(&self, id: &str) -> Vec<Value> {
        let path = self.manifest(id)["messages_path"].as_str().unwrap().to_owned();
        let name = path.rsplit('/').next().unwrap().to_owned();
        self.json(&format!("sessions/{id}/{name}"))["messages"].as_array().unwrap().clone()
    }

    /// Names of the files of a session.
    pub fn files(&self, id: &str) -> Vec<String> {
        let Ok(folder) = fs::read_dir(self.data().join("sessions").join(id)) else { return Vec::new() };
        let mut names: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn hash(&self) -> String {
        format!("{:?}", tree_hash(&self.data()).unwrap())
    }

    pub fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.data().join("db/sessions.db")).unwrap()
    }

    /// All rows of the index, as text.
    pub fn rows(&self) -> Vec<String> {
        let database = self.database();
        let mut statement = database.prepare("SELECT * FROM sessions ORDER BY session_id").unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let values: Vec<String> = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
            Ok(values.join("|"))
        });
        rows.unwrap().map(Result::unwrap).collect()
    }
}

pub fn by_id(id: &str) -> SessionRef {
    SessionRef { id: id.to_owned(), agent_id: None }
}

/// A session of another agent, as the host hands it over: two calls, one of which failed, an
/// image, reasoning.
pub fn foreign() -> Session {
    let mut session = Session::new("", "elsewhere");
    session.title = "Round the total".into();
    session.working_directory = "/p/demo".into();
    session.model = "model-x".into();
    session.created_at = T0;
    session.last_activity_at = T0 + 6.0;
    session.metadata = r#"{"z":1,"elsewhere":{"b":2,"a":[1]}}"#.into();
    let mut at = 0;
    let mut node = |role, content: &str| {
        at += 1;
        let mut node = MessageNode::new(at, role, T0 + f64::from(i32::try_from(at).unwrap()));
        node.parent_node_id = (at > 1).then(|| at - 1);
        node.content = content.into();
        node
    };
    let mut nodes = vec![node(Role::User, "Round it, please.\nWell?")];
    let mut asks = node(Role::Assistant, "Looking.");
    asks.thinking = Some("Where is it?".into());
    asks.model = Some("model-x".into());
    asks.request_id = Some("req_1".into());
    asks.finish_reason = Some("tool_calls".into());
    asks.metadata = r#"{"zeta":1,"alpha":[2]}"#.into();
    let mut call = |id: &str, name: &str, arguments: &str, status, exit| {
        let mut call = ToolCall::new(id, name, arguments.into());
        call.index = i64::try_from(asks.tool_calls.len()).unwrap();
        call.status = Some(status);
        call.exit_code = exit;
        asks.tool_calls.push(call);
    };
    call("c1", "run_commands", r#"{"commands":["ls -l"]}"#, ToolCallStatus::Success, None);
    call("c2", "Strange", r#"{"zz":1,"aa":{"y":2,"x":3}}"#, ToolCallStatus::Error, Some(3));
    nodes.push(asks);
    let mut answer = |id: &str, name: &str, content: &str, status, exit_code| {
        let mut answer = node(Role::Tool, content);
        answer.tool_call_id = Some(id.into());
        answer.tool_name = Some(name.into());
        answer.tool_result = Some(ToolResult { status, exit_code, duration_ms: None });
        answer
    };
    nodes.push(answer("c1", "run_commands", "cart.py\n", ToolCallStatus::Success, None));
    nodes.push(answer("c2", "Strange", "it broke", ToolCallStatus::Error, Some(3)));
    let mut last = node(Role::Assistant, "Done.");
    last.usage = Some(sepia_ir::TokenUsage { input: 60.0, output: 20.0, cache_read: Some(40.0), ..Default::default() });
    last.model = Some("model-x".into());
    nodes.push(last);
    session.main_chain_id = 5;
    session.nodes = nodes;
    session
}
