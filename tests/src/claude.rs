//! Stores of Claude Code, made record by record.

use serde_json::{Value, json};

/// Ids of three sessions.
pub const S1: &str = "11111111-1111-4111-8111-111111111111";
/// The second.
pub const S2: &str = "22222222-2222-4222-8222-222222222222";
/// The third.
pub const S3: &str = "33333333-3333-4333-8333-333333333333";

/// 2026-01-01T00:00:00.000Z and so many seconds.
pub fn time(seconds: u32) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    assert!(hours < 24);
    format!("2026-01-01T{hours:02}:{minutes:02}:{rest:02}.000Z")
}

/// Records of one session, one after the other.
#[derive(Debug, Clone)]
pub struct Records {
    session: String,
    cwd: String,
    last: Option<String>,
    count: u32,
    text: String,
}

impl Records {
    /// None yet.
    pub fn of(session: &str) -> Self {
        Self { session: session.into(), cwd: "/p/demo".into(), last: None, count: 0, text: String::new() }
    }

    /// In another directory.
    #[must_use]
    pub fn in_directory(mut self, cwd: &str) -> Self {
        cwd.clone_into(&mut self.cwd);
        self
    }

    /// A person says something, so many seconds into the day.
    #[must_use]
    pub fn user(self, text: &str, seconds: u32) -> Self {
        let message = json!({"role": "user", "content": text});
        self.record("user", message, seconds)
    }

    /// The model says something.
    #[must_use]
    pub fn assistant(self, text: &str, seconds: u32) -> Self {
        self.blocks(&json!([{"type": "text", "text": text}]), seconds)
    }

    /// The model calls a tool.
    #[must_use]
    pub fn calls(self, id: &str, name: &str, input: &Value, seconds: u32) -> Self {
        self.blocks(&json!([{"type": "tool_use", "id": id, "name": name, "input": input}]), seconds)
    }

    /// What the tool gave.
    #[must_use]
    pub fn result(self, id: &str, text: &str, seconds: u32) -> Self {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.record("user", json!({"role": "user", "content": [block]}), seconds)
    }

    /// Any blocks of the model.
    #[must_use]
    pub fn blocks(self, blocks: &Value, seconds: u32) -> Self {
        let usage = json!({"input_tokens": 10, "output_tokens": 5});
        let message = json!({
            "id": format!("msg_{}", self.count), "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": blocks, "stop_reason": "end_turn", "usage": usage
        });
        self.record("assistant", message, seconds)
    }

    /// What follows hangs on an earlier record, counted from 1: another branch.
    #[must_use]
    pub fn back_to(mut self, record: u32) -> Self {
        self.last = Some(uuid(record));
        self
    }

    /// A line as it is.
    #[must_use]
    pub fn line(mut self, line: &str) -> Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    fn record(mut self, kind: &str, message: Value, seconds: u32) -> Self {
        self.count += 1;
        let uuid = uuid(self.count);
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": self.last, "sessionId": self.session, "cwd": self.cwd,
            "timestamp": time(seconds), "version": "2.1.100", "isSidechain": false, "message": message
        });
        if kind == "assistant" {
            record["requestId"] = json!(format!("req_{}", self.count));
        }
        self.last = Some(uuid);
        self.line(&record.to_string())
    }

    /// The content of the session's file.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn uuid(record: u32) -> String {
    format!("00000000-0000-4000-8000-{record:012}")
}
