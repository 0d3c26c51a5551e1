//! A client of the agent that waits for everything, and never longer than it has to.

use sepia_scripted_agent::{Event, Record, Script, read_record, wait_for_record};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What takes longer never comes. Ample: the machine may have much else to do.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// An agent that runs, and both ends of its pipes.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    last_id: u64,
    pub(crate) record: PathBuf,
}

/// A folder for one test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// The program, ready to be started with this script and a record in the folder.
pub(crate) fn command(script: Script, folder: &Path) -> Command {
    let path = script.record(folder.join("record")).write(folder).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-agent"));
    command.arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

impl Client {
    pub(crate) fn start(script: Script, folder: &Path) -> Self {
        Self::of(command(script, folder), folder)
    }

    pub(crate) fn of(mut command: Command, folder: &Path) -> Self {
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (found, lines) = channel();
        thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line) {
                    Ok(read) if read > 0 && found.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        Self { child, stdin, lines, last_id: 0, record: folder.join("record") }
    }

    /// Starts the agent, and a session in it.
    pub(crate) fn open(script: Script, folder: &Path) -> (Self, String) {
        let mut client = Self::start(script, folder);
        let session = client.new_session();
        (client, session)
    }

    pub(crate) fn new_session(&mut self) -> String {
        let answer = self.call("session/new", &json!({"cwd": "/w", "mcpServers": []})).1;
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The next line with its end; none at the end of stdout.
    pub(crate) fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Some(line),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(e) => panic!("nothing came: {e}; record: {:?}", self.records()),
        }
    }

    pub(crate) fn frame(&self) -> Value {
        let line = self.line().unwrap_or_else(|| panic!("stdout ended; record: {:?}", self.records()));
        serde_json::from_slice(&line).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&line)))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stdin.as_mut().unwrap().write_all(bytes)
    }

    pub(crate) fn send(&mut self, frame: &Value) {
        self.write(format!("{frame}\n").as_bytes()).unwrap();
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Everything up to the answer, and the answer.
    pub(crate) fn until_answer(&self, id: u64) -> (Vec<Value>, Value) {
        let mut others = Vec::new();
        loop {
            let frame = self.frame();
            if frame["id"] == id && frame.get("method").is_none() {
                return (others, frame);
            }
            others.push(frame);
        }
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> (Vec<Value>, Value) {
        let id = self.request(method, params);
        self.until_answer(id)
    }

    pub(crate) fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        self.request("session/prompt", &json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    /// The updates of a turn, and its answer.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> (Vec<Value>, Value) {
        let id = self.send_prompt(session, text);
        let (frames, answer) = self.until_answer(id);
        (updates(&frames, session), answer)
    }

    pub(crate) fn cancel(&mut self, session: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
    }

    pub(crate) fn answer(&mut self, id: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        read_record(&self.record).unwrap()
    }

    pub(crate) fn wait_for(&self, like: impl Fn(&Event) -> bool) -> Vec<Record> {
        wait_for_record(&self.record, LIMIT, like).unwrap()
    }

    /// How the process ended. Nothing is closed for it.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "it lives on; record: {:?}", self.records());
            thread::yield_now();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The updates in these frames, which have nothing else, and nothing of another session.
pub(crate) fn updates(frames: &[Value], session: &str) -> Vec<Value> {
    let update = |frame: &Value| {
        assert_eq!((&frame["method"], &frame["params"]["sessionId"]), (&json!("session/update"), &json!(session)));
        frame["params"]["update"].clone()
    };
    frames.iter().map(update).collect()
}

pub(crate) fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn thought(text: &str) -> Value {
    json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn user(text: &str) -> Value {
    json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn stopped(id: u64, reason: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": reason}})
}

/// Runs a command to its end with nothing on its stdin: exit code and stderr.
pub(crate) fn run_to_end(arguments: &[&OsStr]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-agent"));
    let mut child = command.args(arguments).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}
