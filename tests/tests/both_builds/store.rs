//! Stores made for a test: records, files, and the samples.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub const S1: &str = "11111111-1111-4111-8111-111111111111";
pub const S2: &str = "22222222-2222-4222-8222-222222222222";

/// A store in a folder of its own.
pub struct Store(TempDir);

impl Store {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The sample store, copied.
    pub fn samples() -> Self {
        Self::sample("claude/store")
    }

    /// A folder of samples, copied.
    pub fn sample(name: &str) -> Self {
        let store = Self::new();
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        sepia::conformance::copy_store(&samples, store.root()).unwrap();
        store
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// A file of an old date.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let place = self.root().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, content).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
        fs::File::options().write(true).open(&place).unwrap().set_modified(then).unwrap();
        place
    }

    /// A session in the folder of `/p/demo`.
    pub fn session(&self, id: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.write(format!("projects/-p-demo/{id}.jsonl"), content)
    }
}

/// Records as lines.
pub fn lines(records: &[Value]) -> String {
    records.iter().fold(String::new(), |text, record| text + &record.to_string() + "\n")
}

fn record(kind: &str, id: &str, parent: Option<&str>, second: u32, message: Value) -> Value {
    let at = format!("2026-01-01T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60);
    json!({
        "type": kind, "uuid": id, "parentUuid": parent, "sessionId": S1, "cwd": "/p/demo", "timestamp": at,
        "version": "2.1.100", "isSidechain": false, "message": message,
    })
}

/// A prompt.
pub fn user(id: &str, parent: Option<&str>, text: &str, second: u32) -> Value {
    record("user", id, parent, second, json!({"role": "user", "content": text}))
}

/// An answer of these blocks.
pub fn answer(id: &str, parent: &str, blocks: Value, second: u32) -> Value {
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": blocks, "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    record("assistant", id, Some(parent), second, message)
}

/// An answer that calls a tool, and the tool's result.
pub fn tool(parent: &str, call: &str, result: &str, second: u32) -> [Value; 2] {
    let (ask, told) = (format!("{call}-ask"), format!("{call}-told"));
    let block = json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "cat"}});
    let answered = json!([{"type": "tool_result", "tool_use_id": call, "content": result}]);
    [
        answer(&ask, parent, json!([block]), second),
        record("user", &told, Some(&ask), second + 1, json!({"role": "user", "content": answered})),
    ]
}

/// `pairs` prompts with their answers: `m1`, `m2`, … of the texts `prompt m1`, `answer m2`, …
pub fn talk(pairs: u32) -> Vec<Value> {
    let mut records = Vec::new();
    for pair in 0..pairs {
        let (ask, told) = (format!("m{}", 2 * pair + 1), format!("m{}", 2 * pair + 2));
        let parent = (pair > 0).then(|| format!("m{}", 2 * pair));
        records.push(user(&ask, parent.as_deref(), &format!("prompt {ask}"), 2 * pair));
        let text = json!([{"type": "text", "text": format!("answer {told}")}]);
        records.push(answer(&told, &ask, text, 2 * pair + 1));
    }
    records
}

/// Sets a member; `.` leads into an object.
pub fn with(mut record: Value, path: &str, value: Value) -> Value {
    let at = path.split('.').fold(&mut record, |at, name| &mut at[name]);
    *at = value;
    record
}
