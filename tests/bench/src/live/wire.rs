//! A program that speaks JSON-RPC in lines over its stdin and stdout: the server, or an agent.

use crate::Failed;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running program.
pub(super) struct Wire {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    next: u64,
}

impl Wire {
    pub(super) fn start(command: &mut Command) -> Result<Self, Failed> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("a program without stdout")?;
        Ok(Self { child, input, output: BufReader::with_capacity(256 << 10, output), line: String::new(), next: 1 })
    }

    /// Asks, without waiting; the id of the request.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<u64, Failed> {
        let id = self.next;
        self.next += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let input = self.input.as_mut().ok_or("a program without stdin")?;
        input.write_all(format!("{request}\n").as_bytes())?;
        Ok(id)
    }

    /// The next line.
    pub(super) fn read(&mut self) -> Result<&str, Failed> {
        self.line.clear();
        if self.output.read_line(&mut self.line)? == 0 {
            return Err("the program ended before it had answered".into());
        }
        Ok(&self.line)
    }

    /// Reads up to a line with this in it.
    pub(super) fn read_to(&mut self, wanted: &str) -> Result<(), Failed> {
        while !self.read()?.contains(wanted) {}
        Ok(())
    }

    /// Reads up to the answer to this request, and gives its line.
    pub(super) fn line_of(&mut self, id: u64) -> Result<&str, Failed> {
        // Both kinds of program write the id at the start; a notification has none.
        let wanted = format!("\"id\":{id},");
        let is_it = |line: &str| line.get(..40).unwrap_or(line).contains(&wanted);
        while !is_it(self.read()?) {}
        Ok(&self.line)
    }

    /// The result of this request.
    pub(super) fn result(&mut self, id: u64) -> Result<Value, Failed> {
        let line = self.line_of(id)?;
        let mut answer: Value = serde_json::from_str(line)?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(format!("the answer is {}", line.trim_end()).into()),
        }
    }

    /// Asks and waits.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Value, Failed> {
        let id = self.ask(method, params)?;
        self.result(id)
    }

    /// What it has resident now, bytes.
    pub(super) fn resident(&self) -> Result<u64, Failed> {
        self.memory("VmRSS:")
    }

    /// The most that it had resident, bytes.
    pub(super) fn peak(&self) -> Result<u64, Failed> {
        self.memory("VmHWM:")
    }

    fn memory(&self, what: &str) -> Result<u64, Failed> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(what)).ok_or("memory is not told")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? << 10)
    }
}

impl Drop for Wire {
    /// Both kinds of program end when their stdin does; what they still say has to be read.
    fn drop(&mut self) {
        drop(self.input.take());
        let _read = std::io::copy(&mut self.output, &mut std::io::sink());
        let _ended = self.child.wait();
    }
}
