//! A store built for one test, and what a test asks of the driver.

use sepia_conformance::{InProcess, copy_tree, tree_hash};
use sepia_driver_cline::Cline;
use sepia_ir::{
    Branch, DriverError, HistoryPage, HistoryQuery, MessageNode, Role, ScanReport, Session, SessionRef, Summary,
    SummaryDetail,
};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, SessionRead};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// An id in the agent's form, of 2026-01-01.
pub const S1: &str = "1767225600000_aaaaa";
pub const S2: &str = "1767225601000_bbbbb";
/// `t(0)`, epoch seconds of 2026-01-01.
pub const T0: f64 = 1_767_225_600.0;

/// A data directory, and a storage of the extension, in folders of their own.
pub struct Demo {
    folder: tempfile::TempDir,
}

impl Demo {
    pub fn new() -> Self {
        let demo = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::create_dir(demo.root()).expect("a folder is made");
        demo
    }

    /// One of the sample stores, copied.
    pub fn sample(name: &str) -> Self {
        let demo = Self::new();
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cline").join(name), &demo.root())
            .expect("a copy");
        demo
    }

    /// The data directory.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The storage of the extension.
    pub fn extension(&self) -> PathBuf {
        self.folder.path().join("extension")
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.root().join(path), content)
    }

    /// A session of these messages, with a manifest.
    pub fn session(&self, id: &str, messages: &[Value]) -> PathBuf {
        self.manifest(id, &[]);
        self.messages(id, messages)
    }

    /// A manifest with members replaced; null removes one.
    pub fn manifest(&self, id: &str, members: &[(&str, Value)]) -> PathBuf {
        let mut manifest = manifest(id);
        for (name, value) in members {
            if value.is_null() {
                manifest.as_object_mut().unwrap().remove(*name);
            } else {
                manifest[*name] = value.clone();
            }
        }
        self.write(&format!("sessions/{id}/{id}.json"), pretty(&manifest))
    }

    pub fn messages(&self, id: &str, messages: &[Value]) -> PathBuf {
        self.write(&format!("sessions/{id}/{id}.messages.json"), transcript(id, messages))
    }

    /// A task of the extension: a file of it.
    pub fn task(&self, id: &str, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.extension().join("tasks").join(id).join(name), content)
    }

    pub fn list(&self, items: &Value) -> PathBuf {
        write(&self.extension().join("state/taskHistory.json"), items.to_string())
    }

    /// The index, with the columns of the agent.
    pub fn database(&self) -> rusqlite::Connection {
        fs::create_dir_all(self.root().join("db")).unwrap();
        let database = rusqlite::Connection::open(self.root().join("db/sessions.db")).unwrap();
        database
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS sessions (session_id TEXT PRIMARY KEY, source TEXT, pid INTEGER, started_at TEXT,
                 ended_at TEXT, exit_code INTEGER, status TEXT, status_lock INTEGER DEFAULT 0, interactive INTEGER,
                 provider TEXT, model TEXT, cwd TEXT, workspace_root TEXT, team_name TEXT, parent_session_id TEXT,
                 parent_agent_id TEXT, agent_id TEXT, conversation_id TEXT, is_subagent INTEGER DEFAULT 0, prompt TEXT,
                 metadata_json TEXT, messages_path TEXT, updated_at TEXT)",
            )
            .unwrap();
        database
    }

    pub fn host(&self) -> Host {
        let places = [("cline", self.root()), ("extension", self.extension())];
        let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
        Host::new(Native::at(&Cline::manifest(), &places).expect("the stores open"))
    }

    pub fn scan(&self) -> ScanReport {
        self.unchanged(|host| Cline::scan(host).expect("a scan"))
    }

    pub fn summaries(&self, detail: SummaryDetail) -> Vec<Summary> {
        let scan = self.scan();
        let keys: Vec<String> = scan.entries.iter().map(|entry| entry.key.clone()).collect();
        let found = self.unchanged(|host| Cline::summaries(host, &keys, detail).expect("summaries"));
        assert_eq!(found.iter().map(|s| &s.key).collect::<Vec<_>>(), keys.iter().collect::<Vec<_>>());
        for (summary, entry) in found.iter().zip(&scan.entries) {
            for row in &summary.sessions {
                assert!(row.last_activity_at <= entry.changed_at, "{} is newer than its place", row.id);
            }
        }
        found
    }

    pub fn rows(&self, detail: SummaryDetail) -> Vec<Session> {
        self.summaries(detail).into_iter().flat_map(|summary| summary.sessions).collect()
    }

    /// Ids that are listed, sorted.
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.rows(SummaryDetail::Row).into_iter().map(|row| row.id).collect();
        ids.sort();
        ids
    }

    pub fn row(&self, id: &str) -> Session {
        let rows = self.rows(SummaryDetail::Row);
        rows.into_iter().find(|row| row.id == id).expect("the session is listed")
    }

    /// `metadata.stats` of a listed session.
    pub fn stats(&self, id: &str) -> Value {
        let rows = self.rows(SummaryDetail::Stats);
        let row = rows.into_iter().find(|row| row.id == id).expect("the session is listed");
        meta(&row.metadata)["stats"].clone()
    }

    pub fn read(&self, id: &str) -> Session {
        self.try_read(&SessionRef { id: id.to_owned(), agent_id: None }).expect("the session is read")
    }

    pub fn try_read(&self, session: &SessionRef) -> Result<Session, DriverError> {
        self.unchanged(|host| InProcess::<Cline>::on(host.clone()).read(session, 3))
    }

    pub fn page(&self, id: &str, limit: u32, before: Option<u64>, index: Option<Vec<u8>>) -> HistoryPage {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let query = HistoryQuery { limit, before, branch: Branch::Live, index };
        self.unchanged(|host| Cline::history(host, &session, &query).expect("a page"))
    }

    /// Asks something, and holds that no byte of the stores changed.
    fn unchanged<T>(&self, ask: impl FnOnce(&Host) -> T) -> T {
        let before = tree_hash(self.folder.path()).unwrap();
        let answer = ask(&self.host());
        assert_eq!(tree_hash(self.folder.path()).unwrap(), before, "reading changed the store");
        answer
    }
}

/// A file dated after all records of the tests.
fn write(place: &Path, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(place.parent().expect("a folder")).expect("folders are made");
    fs::write(place, content).expect("a file is written");
    date(place, 1_780_000_000);
    place.to_owned()
}

/// Sets a file's time, epoch seconds.
pub fn date(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).expect("a file opens");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time is set");
}

pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// The time `n` seconds after the start of 2026.
pub fn t(n: u32) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}.000Z", n / 3600, n / 60 % 60, n % 60)
}

/// The same in epoch milliseconds.
pub fn ms(n: u32) -> u64 {
    1_767_225_600_000 + 1000 * u64::from(n)
}

pub fn manifest(id: &str) -> Value {
    json!({
        "version": 1, "session_id": id, "source": "cli", "pid": 4_000_000, "started_at": t(0), "ended_at": t(60),
        "exit_code": 0, "status": "completed", "interactive": false, "provider": "some", "model": "model-1",
        "cwd": "/p/demo", "workspace_root": "/p/demo", "enable_tools": true, "enable_spawn": true,
        "enable_teams": true, "prompt": "prompt 1", "metadata": {"title": "prompt 1"},
    })
}

/// A file of messages, its members in the order of the agent.
pub fn transcript(id: &str, messages: &[Value]) -> String {
    let messages = pretty(&json!(messages)).replace('\n', "\n  ");
    let updated = t(50);
    format!(
        "{{\n  \"version\": 1,\n  \"updated_at\": \"{updated}\",\n  \"agent\": \"lead\",\n  \"sessionId\": {},\n  \"messages\": {messages},\n  \"system_prompt\": \"You are {{\\\"messages\\\":[\"\n}}",
        json!(id)
    )
}

/// A prompt as the agent wraps it.
pub fn u(id: &str, text: &str, n: u32) -> Value {
    user(id, json!([{"type": "text", "text": format!("<user_input mode=\"act\">{text}</user_input>")}]), n)
}

pub fn user(id: &str, content: Value, n: u32) -> Value {
    json!({"id": id, "role": "user", "content": content, "ts": ms(n)})
}

/// An answer: 100 tokens in, 40 of them from the cache, and 20 out.
pub fn a(id: &str, content: Value, n: u32) -> Value {
    json!({
        "id": id, "role": "assistant", "content": content, "ts": ms(n), "modelInfo": {"id": "model-1", "provider": "some"},
        "metrics": {"inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 40, "cacheWriteTokens": 0},
    })
}

pub fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

pub fn result(call: &str, name: &str, content: Value) -> Value {
    json!({"type": "tool_result", "tool_use_id": call, "name": name, "content": content})
}

/// `pairs` prompts with their answers, `m1` to `m2k`.
pub fn talk(pairs: u32) -> Vec<Value> {
    let pair = |pair: u32| {
        let (ask, told) = (2 * pair + 1, 2 * pair + 2);
        let answer = a(&format!("m{told}"), text(&format!("answer {told}")), told);
        [u(&format!("m{ask}"), &format!("prompt {ask}"), ask), answer]
    };
    (0..pairs).flat_map(pair).collect()
}

pub fn contents(session: &Session) -> Vec<&str> {
    session.nodes.iter().map(|node| node.content.as_str()).collect()
}

pub fn meta(json: &str) -> Value {
    serde_json::from_str(json).expect("metadata is JSON")
}

/// Codes of the warnings in a session's metadata.
pub fn warnings(session: &Session) -> Vec<String> {
    let metadata = meta(&session.metadata);
    let list = metadata["warnings"].as_array().cloned().unwrap_or_default();
    list.iter().map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect()
}

pub fn of_role(session: &Session, role: Role) -> Vec<&MessageNode> {
    session.nodes.iter().filter(|node| node.role == role).collect()
}

/// A store with tasks in each state.
pub fn json_tasks() -> Demo {
    crate::task_damage::five()
}
