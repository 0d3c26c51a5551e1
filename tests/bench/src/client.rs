//! One `sepia serve` and a client that times its answers.

use crate::Failed;
use crate::child::Used;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// A running server.
pub(crate) struct Client {
    started: Instant,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    next: u64,
}

impl Client {
    /// Starts `command`, which is a server.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failed> {
        let started = Instant::now();
        let mut child =
            command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("a server without stdout")?);
        Ok(Self { started, child, input, output, line: String::new(), next: 1 })
    }

    /// Milliseconds since the server was started.
    pub(crate) fn age(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    /// Asks, and gives the milliseconds up to the last byte of the answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<f64, Failed> {
        let request = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.next += 1;
        let request = format!("{request}\n");
        let start = Instant::now();
        self.input.as_mut().ok_or("a server without stdin")?.write_all(request.as_bytes())?;
        self.line.clear();
        self.output.read_line(&mut self.line)?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    /// Bytes of the last answer.
    pub(crate) fn bytes(&self) -> usize {
        self.line.len()
    }

    /// Has the server end, and gives what it used from its start.
    pub(crate) fn end(mut self) -> Result<Used, Failed> {
        drop(self.input.take());
        let rusage = self.child.wait4()?.rusage;
        Ok(Used { wall: self.age(), cpu: (rusage.utime + rusage.stime).as_secs_f64() * 1e3, peak: rusage.maxrss })
    }

    /// The `result` of the last answer.
    pub(crate) fn result(&self) -> Result<Value, Failed> {
        let mut answer: Value = serde_json::from_str(&self.line)?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(format!("the server answered {}", self.line.trim_end()).into()),
        }
    }
}

impl Drop for Client {
    /// The server ends when its stdin does.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ended = self.child.wait();
    }
}
