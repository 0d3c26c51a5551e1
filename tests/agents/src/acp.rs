//! The client side of the Agent Client Protocol, as far as a session is begun or loaded, and
//! prompted.

use crate::Failed;
use crate::process_group::{Ended, Group};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command};
use std::time::{Duration, Instant};

/// A longer frame ends the conversation.
const LONGEST_FRAME: u64 = 256 << 20;

/// A running program that speaks it.
pub(crate) struct Agent {
    group: Group,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
    turn: Turn,
}

/// What came of a prompt.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Why it ended.
    pub(crate) stop: String,
    /// What the model said.
    pub(crate) said: String,
    /// When the first of that came.
    pub(crate) first: Option<Instant>,
}

impl Agent {
    /// Starts a program, which is killed after `limit`.
    pub(crate) fn start(command: &mut Command, limit: Duration) -> Result<Self, Failed> {
        let (group, stdin, stdout) = Group::start(command, limit)?;
        Ok(Self { group, stdin, stdout: BufReader::new(stdout), next: 0, turn: Turn::default() })
    }

    /// Says which protocol is spoken, and that nothing is lent.
    pub(crate) fn initialize(&mut self) -> Result<(), Failed> {
        let none = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        self.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": none})).map(drop)
    }

    /// Begins a session; its id.
    pub(crate) fn create(&mut self, cwd: &Path) -> Result<String, Failed> {
        let created = self.call("session/new", json!({"cwd": cwd, "mcpServers": []}))?;
        Ok(created["sessionId"].as_str().ok_or_else(|| format!("session/new was answered with {created}"))?.to_owned())
    }

    /// Goes on with a session.
    pub(crate) fn load(&mut self, session: &str, cwd: &Path) -> Result<(), Failed> {
        self.call("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []})).map(drop)
    }

    /// A whole turn.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Result<Turn, Failed> {
        // Loading repeats the whole conversation.
        self.turn = Turn::default();
        let prompt = json!([{"type": "text", "text": text}]);
        let result = self.call("session/prompt", json!({"sessionId": session, "prompt": prompt}))?;
        result["stopReason"].as_str().unwrap_or_default().clone_into(&mut self.turn.stop);
        Ok(std::mem::take(&mut self.turn))
    }

    /// At the end of its stdin the program ends by itself, with everything written.
    pub(crate) fn end(self) -> Result<Ended, Failed> {
        drop(self.stdin);
        self.group.wait()
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Failed> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut frame = self.read().map_err(|e| format!("{method} was not answered: {e}"))?;
            if frame.get("method").is_none() && frame["id"] == id {
                return match frame.get("error") {
                    None => Ok(frame["result"].take()),
                    Some(error) => Err(format!("{method} was refused: {error}").into()),
                };
            }
            self.hear(&frame)?;
        }
    }

    /// Takes what comes unasked: text of the model; and what is asked of us, which nothing here can do.
    fn hear(&mut self, frame: &Value) -> Result<(), Failed> {
        let update = &frame["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            self.turn.first.get_or_insert_with(Instant::now);
            self.turn.said.push_str(update["content"]["text"].as_str().unwrap_or_default());
        }
        match (frame.get("method"), frame.get("id")) {
            (Some(method), Some(id)) => {
                let error = json!({"code": -32601, "message": format!("{method} is not offered")});
                self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
            _ => Ok(()),
        }
    }

    fn send(&mut self, frame: &Value) -> Result<(), Failed> {
        Ok(self.stdin.write_all(format!("{frame}\n").as_bytes()).and_then(|()| self.stdin.flush())?)
    }

    fn read(&mut self) -> Result<Value, Failed> {
        loop {
            let mut line = Vec::new();
            if self.stdout.by_ref().take(LONGEST_FRAME).read_until(b'\n', &mut line)? == 0 {
                return Err("the program ended".into());
            }
            // Anything else on stdout is a program's own affair.
            if let Ok(frame @ Value::Object(_)) = serde_json::from_slice(&line) {
                return Ok(frame);
            }
        }
    }
}
