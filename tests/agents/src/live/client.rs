//! The other end of `sepia serve`: requests, answers, and the notifications between them. Every
//! wait has a limit.

use super::events::line;
use crate::Failed;
use crate::process_group::{Ended, Group};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// A longer frame ends the conversation.
const LONGEST_FRAME: u64 = 256 << 20;

/// A running `sepia serve`; killed with all of its group when it is dropped.
pub(super) struct Client {
    group: Group,
    stdin: ChildStdin,
    frames: Receiver<Value>,
    next: u64,
    answers: Vec<Value>,
    /// Notifications that nobody has taken, in the order in which they came.
    untaken: VecDeque<Value>,
}

impl Client {
    /// Starts one that is killed after `limit`.
    pub(super) fn start(command: &mut Command, limit: Duration) -> Result<Self, Failed> {
        let (group, stdin, stdout) = Group::start(command, limit)?;
        let (sender, frames) = mpsc::channel();
        thread::spawn(move || read(stdout, &sender));
        Ok(Self { group, stdin, frames, next: 0, answers: Vec::new(), untaken: VecDeque::new() })
    }

    /// Asks, without waiting; the id of the request.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<u64, Failed> {
        self.next += 1;
        let frame = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let sent = self.stdin.write_all(format!("{frame}\n").as_bytes()).and_then(|()| self.stdin.flush());
        sent.map_err(|e| format!("{method} can't be sent: {e}"))?;
        Ok(self.next)
    }

    /// What is answered to a request.
    pub(super) fn answer(&mut self, id: u64, limit: Duration) -> Result<Value, Failed> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(at) = self.answers.iter().position(|frame| frame["id"] == id) {
                let mut frame = self.answers.swap_remove(at);
                return match frame.get("error") {
                    None => Ok(frame["result"].take()),
                    Some(error) => Err(format!("request {id} was answered with {error}").into()),
                };
            }
            self.hear(deadline).map_err(|e| format!("request {id} was not answered: {e}"))?;
        }
    }

    /// Asks and waits.
    pub(super) fn call(&mut self, method: &str, params: &Value, limit: Duration) -> Result<Value, Failed> {
        let id = self.ask(method, params)?;
        self.answer(id, limit).map_err(|e| format!("{method} {params}: {e}").into())
    }

    /// The parameters of the next notification of this method.
    pub(super) fn notification(&mut self, method: &str, limit: Duration) -> Result<Value, Failed> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(at) = self.untaken.iter().position(|frame| frame["method"] == method) {
                return Ok(self.untaken.remove(at).map(|mut frame| frame["params"].take()).unwrap_or_default());
            }
            self.hear(deadline).map_err(|e| format!("no {method} came: {e}"))?;
        }
    }

    /// Names and types of what nobody has taken, for a report.
    pub(super) fn untaken(&self) -> String {
        let lists = self.untaken.iter().map(|frame| match frame["params"]["events"].as_array() {
            Some(events) => line(events),
            None => frame["params"].to_string(),
        });
        lists.collect::<Vec<_>>().join("; ")
    }

    /// Closes its stdin and waits for its end.
    pub(super) fn end(self) -> Result<Ended, Failed> {
        drop(self.stdin);
        self.group.wait()
    }

    fn hear(&mut self, deadline: Instant) -> Result<(), Failed> {
        match self.frames.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(frame) if frame.get("method").is_some() => self.untaken.push_back(frame),
            Ok(frame) => self.answers.push(frame),
            Err(RecvTimeoutError::Timeout) => return Err("the time for it is over".into()),
            Err(RecvTimeoutError::Disconnected) => return Err("sepia closed its stdout, or wrote no frame".into()),
        }
        Ok(())
    }
}

/// Passes on frames, up to the first line that is none.
fn read(stdout: ChildStdout, frames: &Sender<Value>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.by_ref().take(LONGEST_FRAME).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let Ok(frame @ Value::Object(_)) = serde_json::from_slice(&line) else { return };
        if frames.send(frame).is_err() {
            return;
        }
    }
}
