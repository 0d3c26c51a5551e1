//! The client side of the Agent Client Protocol, as far as a session is loaded and prompted.

use super::LIMIT;
use crate::Failed;
use crate::process_group::Group;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command};

/// A longer frame ends the conversation.
const LONGEST_FRAME: u64 = 256 << 20;

/// Loads the session, prompts it, and ends the program: the text of the answer.
pub(super) fn resume(command: &mut Command, session: &str, cwd: &Path, prompt: &str) -> Result<String, Failed> {
    let (group, stdin, stdout) = Group::start(command, LIMIT)?;
    let mut agent = Agent { stdin, stdout: BufReader::new(stdout), next: 0, said: String::new() };
    let talked = agent.talk(session, cwd, prompt);
    // At the end of its stdin the program ends by itself, with everything written.
    drop(agent.stdin);
    let ended = group.wait()?;
    match talked {
        Ok(stop) if stop == "end_turn" && !ended.is_late => Ok(agent.said),
        Ok(stop) => Err(format!("the turn ended with `{stop}`; {}", ended.said()).into()),
        Err(e) => Err(format!("{e}; {}", ended.said()).into()),
    }
}

struct Agent {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next: u64,
    /// What the model said since this was emptied.
    said: String,
}

impl Agent {
    /// Why the turn ended.
    fn talk(&mut self, session: &str, cwd: &Path, prompt: &str) -> Result<String, Failed> {
        let none = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
        self.call("initialize", json!({"protocolVersion": 1, "clientCapabilities": none}))?;
        self.call("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []}))?;
        // Loading repeats the whole conversation.
        self.said.clear();
        let prompt = json!([{"type": "text", "text": prompt}]);
        let result = self.call("session/prompt", json!({"sessionId": session, "prompt": prompt}))?;
        Ok(result["stopReason"].as_str().unwrap_or_default().to_owned())
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
            self.said.push_str(update["content"]["text"].as_str().unwrap_or_default());
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
