//! The other end of `sepia serve`: one JSON object a line, each way.

use crate::failure::Failure;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest wait for an answer, and for the end. A listing of a very large store takes seconds.
const PATIENCE: Duration = Duration::from_mins(2);

/// Lines of its stderr that are shown when it fails.
const STDERR_LINES: usize = 20;

/// A running `sepia serve`. Dropped before its end, it is killed.
pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<VecDeque<String>>>,
}

/// An answer, and how long it took.
pub(super) struct Answer {
    /// The frame without its line feed.
    pub(super) frame: String,
    pub(super) took: Duration,
}

impl Client {
    /// Starts it.
    pub(super) fn start(mut command: Command) -> Result<Self, Failure> {
        let mut child = command
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::new(format!("`sepia serve` could not be started ({error}): build again")))?;
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let stderr = child.stderr.take().map(|pipe| thread::spawn(move || last_lines(pipe)));
        Ok(Self { stdin: child.stdin.take(), child, lines, stderr })
    }

    /// Sends a frame and waits for the next one back: the demo asks one thing at a time.
    pub(super) fn call(&mut self, frame: &str) -> Result<Answer, Failure> {
        let start = Instant::now();
        let sent = self.stdin.as_mut().map(|stdin| writeln!(stdin, "{frame}").and_then(|()| stdin.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.died());
        }
        match self.lines.recv_timeout(PATIENCE) {
            Ok(frame) => Ok(Answer { frame, took: start.elapsed() }),
            Err(RecvTimeoutError::Disconnected) => Err(self.died()),
            Err(RecvTimeoutError::Timeout) => Err(self.silent()),
        }
    }

    /// Closes its input and waits for its end; with the frames that nobody asked for.
    pub(super) fn finish(mut self) -> Result<(ExitStatus, Vec<String>), Failure> {
        drop(self.stdin.take());
        let mut rest = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => return Err(self.silent()),
            }
        }
        let status = self.child.wait().map_err(|error| Failure::new(format!("`sepia serve` was lost ({error})")))?;
        Ok((status, rest))
    }

    fn silent(&mut self) -> Failure {
        // Its stderr ends, and can be read, only when it does.
        let _ = self.child.kill();
        let seconds = PATIENCE.as_secs();
        self.failure(&format!("`sepia serve` said nothing for {seconds} seconds: see its last words above"))
    }

    fn died(&mut self) -> Failure {
        self.failure("`sepia serve` ended before it had answered: see its last words above")
    }

    fn failure(&mut self, message: &str) -> Failure {
        let _ = self.child.kill();
        let said = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        Failure::new(message).with_details(Vec::from(said).join("\n"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_lines(pipe: impl Read) -> VecDeque<String> {
    let mut kept = VecDeque::with_capacity(STDERR_LINES);
    for line in BufReader::new(pipe).lines().map_while(Result::ok) {
        if kept.len() == STDERR_LINES {
            kept.pop_front();
        }
        kept.push_back(crate::console::clean(&line));
    }
    kept
}
