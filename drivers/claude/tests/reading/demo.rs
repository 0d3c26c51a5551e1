//! A store built for one test, and what a test asks of the driver.

use sepia_conformance::{InProcess, copy_tree};
use sepia_driver_claude::Claude;
use sepia_ir::{DriverError, MessageNode, Role, Session, SessionRef, SummaryDetail};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, SessionRead};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub const S1: &str = "11111111-1111-4111-8111-111111111111";
pub const S2: &str = "22222222-2222-4222-8222-222222222222";
pub const S3: &str = "33333333-3333-4333-8333-333333333333";
/// `t(0)`, epoch seconds of 2026-01-01.
pub const T0: f64 = 1_767_225_600.0;

/// A store in a folder of its own.
pub struct Demo {
    folder: tempfile::TempDir,
}

impl Demo {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The sample store, copied, its files dated after their records.
    pub fn samples() -> Self {
        let demo = Self::new();
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/claude/store");
        copy_tree(&samples, demo.root()).expect("a copy");
        for path in demo.files() {
            date(&path, 1_798_000_000);
        }
        demo
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let place = self.root().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders are made");
        fs::write(&place, content).expect("a file is written");
        date(&place, 1_798_000_000);
        place
    }

    /// A session in the folder of `/p/demo`, each record a line.
    pub fn session(&self, id: &str, records: &[Value]) -> PathBuf {
        self.write(&format!("projects/-p-demo/{id}.jsonl"), lines(records))
    }

    pub fn host(&self) -> Host {
        Host::new(Native::at(&Claude::manifest(), &[("claude", self.root())]).expect("the store opens"))
    }

    pub fn rows(&self, detail: SummaryDetail) -> Vec<Session> {
        let host = self.host();
        let scan = Claude::scan(&host).expect("a scan");
        assert_eq!(scan.warnings, []);
        let keys: Vec<String> = scan.entries.into_iter().map(|entry| entry.key).collect();
        let summaries = Claude::summaries(&host, &keys, detail).expect("summaries");
        assert_eq!(summaries.iter().map(|s| &s.key).collect::<Vec<_>>(), keys.iter().collect::<Vec<_>>());
        summaries.into_iter().flat_map(|summary| summary.sessions).collect()
    }

    pub fn row(&self, id: &str) -> Session {
        let rows = self.rows(SummaryDetail::Row);
        rows.into_iter().find(|row| row.id == id).expect("the session is listed")
    }

    pub fn read(&self, id: &str) -> Session {
        self.try_read(&SessionRef { id: id.to_owned(), agent_id: None }).expect("the session is read")
    }

    pub fn try_read(&self, session: &SessionRef) -> Result<Session, DriverError> {
        InProcess::<Claude>::on(self.host()).read(session, 3)
    }

    /// Bytes of every file.
    pub fn bytes(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.files().into_iter().map(|path| (path.clone(), fs::read(path).expect("a file is read"))).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut todo) = (Vec::new(), vec![self.root().to_owned()]);
        while let Some(folder) = todo.pop() {
            for entry in fs::read_dir(folder).expect("a folder is read") {
                let path = entry.expect("an entry").path();
                if path.is_dir() { todo.push(path) } else { files.push(path) }
            }
        }
        files
    }
}

/// Sets a file's time, epoch seconds.
pub fn date(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).expect("a file opens");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time is set");
}

pub fn lines(records: &[Value]) -> String {
    records.iter().fold(String::new(), |text, record| text + &record.to_string() + "\n")
}

/// The time `n` seconds after the start of 2026.
pub fn t(n: u32) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}.000Z", n / 3600, n / 60 % 60, n % 60)
}

fn record(kind: &str, id: &str, parent: Option<&str>, n: u32, message: Value) -> Value {
    json!({
        "type": kind, "uuid": id, "parentUuid": parent, "sessionId": S1, "cwd": "/p/demo", "timestamp": t(n),
        "version": "2.1.100", "isSidechain": false, "message": message,
    })
}

/// A prompt.
pub fn u(id: &str, parent: Option<&str>, text: &str, n: u32) -> Value {
    record("user", id, parent, n, json!({"role": "user", "content": text}))
}

/// An answer; the message id is that of the record unless one is given with [`with`].
pub fn a(id: &str, parent: &str, blocks: Value, n: u32) -> Value {
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": blocks, "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    record("assistant", id, Some(parent), n, message)
}

pub fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub fn tu(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// The result of a call.
pub fn tr(id: &str, parent: &str, call: &str, text: &str, n: u32) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call, "content": text});
    record("user", id, Some(parent), n, json!({"role": "user", "content": [block]}))
}

/// A record with members replaced; `.` leads into an object.
pub fn with(mut record: Value, members: &[(&str, Value)]) -> Value {
    for (path, value) in members {
        let mut at = &mut record;
        for name in path.split('.') {
            at = &mut at[name];
        }
        *at = value.clone();
    }
    record
}

/// `k` prompts with their answers, `m1` to `m2k`.
pub fn base(k: u32) -> Vec<Value> {
    let mut records = Vec::new();
    for pair in 0..k {
        let (ask, answer) = (format!("m{}", 2 * pair + 1), format!("m{}", 2 * pair + 2));
        let parent = (pair > 0).then(|| format!("m{}", 2 * pair));
        records.push(u(&ask, parent.as_deref(), &format!("prompt {ask}"), 2 * pair));
        records.push(a(&answer, &ask, text(&format!("answer {answer}")), 2 * pair + 1));
    }
    records
}

/// The nodes of the live branch, oldest first.
pub fn live(session: &Session) -> Vec<&MessageNode> {
    sepia_ir::chain::live(&session.nodes, session.main_chain_id).into_iter().map(|at| &session.nodes[at]).collect()
}

pub fn contents<'a>(nodes: impl IntoIterator<Item = &'a MessageNode>) -> Vec<&'a str> {
    nodes.into_iter().map(|node| node.content.as_str()).collect()
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

/// Tokens on the nodes: input, output, read from and written to the cache.
pub fn tokens(session: &Session) -> [f64; 4] {
    let all = session.nodes.iter().filter_map(|node| node.usage);
    all.fold([0.0; 4], |[a, b, c, d], usage| {
        [
            a + usage.input,
            b + usage.output,
            c + usage.cache_read.unwrap_or_default(),
            d + usage.cache_write.unwrap_or_default(),
        ]
    })
}

pub fn count(session: &Session, role: Role) -> usize {
    session.nodes.iter().filter(|node| node.role == role).count()
}
