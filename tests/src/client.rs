//! The other end of `sepia serve`: raw bytes in, frames out, and what became of the process.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest wait for anything; reaching it is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running `sepia serve`, killed when it is dropped before its end.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    frames: Receiver<Vec<u8>>,
    reader: Option<JoinHandle<()>>,
    stderr: Option<JoinHandle<String>>,
    /// Frames that came while another was waited for.
    aside: Vec<String>,
    next_id: u64,
}

/// What is left of it.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// Frames that nobody had taken.
    pub frames: Vec<Value>,
    /// All of its stderr.
    pub stderr: String,
    /// Time from when it was told to end.
    pub took: Duration,
}

impl Client {
    /// Starts it by a command.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, frames) = mpsc::channel();
        let reader = thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                if stdout.read_until(b'\n', &mut line).unwrap() == 0 || sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).unwrap();
            String::from_utf8_lossy(&text).into_owned()
        });
        let stdin = child.stdin.take();
        Self { child, stdin, frames, reader: Some(reader), stderr: Some(stderr), aside: Vec::new(), next_id: 0 }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_to_send(bytes.as_ref()).unwrap();
    }

    fn try_to_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes)?;
        stdin.flush()
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        self.send_raw(format!("{line}\n"));
    }

    /// Asks, without waiting; the id of the request.
    pub fn ask(&mut self, method: &str, params: &Value) -> u64 {
        let (id, frame) = self.request(method, params);
        self.send(&frame);
        id
    }

    /// The same of one that may be killed meanwhile: that nobody takes the request any more shows in the answer.
    pub fn ask_before_end(&mut self, method: &str, params: &Value) -> u64 {
        let (id, frame) = self.request(method, params);
        match self.try_to_send(format!("{frame}\n").as_bytes()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            sent => sent.unwrap(),
        }
        id
    }

    fn request(&mut self, method: &str, params: &Value) -> (u64, String) {
        self.next_id += 1;
        let id = self.next_id;
        (id, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
    }

    /// The next frame as it came, without its line feed. It is whole, and what a strict parser
    /// takes, or the test fails.
    pub fn next_frame(&mut self) -> String {
        self.frames.recv_timeout(PATIENCE).map(whole_frame).expect("a frame in time")
    }

    /// The next frame.
    pub fn next_answer(&mut self) -> Value {
        serde_json::from_str(&self.next_frame()).unwrap()
    }

    /// The frame that answers this request; others are kept for whoever waits for them.
    pub fn frame_of(&mut self, id: u64) -> String {
        let is_it = |frame: &str| serde_json::from_str::<Value>(frame).unwrap()["id"] == json!(id);
        if let Some(at) = self.aside.iter().position(|frame| is_it(frame)) {
            return self.aside.remove(at);
        }
        loop {
            let frame = self.next_frame();
            if is_it(&frame) {
                return frame;
            }
            self.aside.push(frame);
        }
    }

    /// What it answers to this request: the result, or the error.
    pub fn answer(&mut self, id: u64) -> Result<Value, Value> {
        let frame: Value = serde_json::from_str(&self.frame_of(id)).unwrap();
        match frame.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(frame["error"].clone()),
        }
    }

    /// The same, of one that may be killed meanwhile: nothing when it ends without an answer.
    pub fn answer_before_end(&mut self, id: u64) -> Option<Result<Value, Value>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.frames.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.ends_with(b"\n") => self.aside.push(whole_frame(line)),
                // A frame that was cut off by its end is none.
                Ok(_) | Err(mpsc::RecvTimeoutError::Disconnected) => return None,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("neither an answer nor an end in {PATIENCE:?}"),
            }
            let is_it = |frame: &String| serde_json::from_str::<Value>(frame).unwrap()["id"] == json!(id);
            if self.aside.iter().any(is_it) {
                return Some(self.answer(id));
            }
        }
    }

    /// Asks and waits: the result, or the error.
    pub fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Asks for what it has to know.
    pub fn get(&mut self, method: &str, params: &Value) -> Value {
        self.call(method, params).unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    /// Asks for what it has to refuse; number, `data.code` and message.
    pub fn refusal(&mut self, method: &str, params: &Value) -> (i64, String, String) {
        let error = match self.call(method, params) {
            Err(error) => error,
            Ok(result) => panic!("{method} {params} gave {result}"),
        };
        parts(&error)
    }

    /// The parameters of the next notification of this method; other frames are kept.
    pub fn notification(&mut self, method: &str) -> Value {
        let params = |frame: &str| {
            let mut frame: Value = serde_json::from_str(frame).unwrap();
            (frame["method"] == method).then(|| frame["params"].take())
        };
        if let Some((at, found)) = self.aside.iter().enumerate().find_map(|(at, frame)| Some((at, params(frame)?))) {
            self.aside.remove(at);
            return found;
        }
        loop {
            let frame = self.next_frame();
            match params(&frame) {
                Some(found) => return found,
                None => self.aside.push(frame),
            }
        }
    }

    /// Events of `session.event` notifications, up to and with the first that is wanted.
    pub fn events_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let params = self.notification("session.event");
            let batch = params["events"].as_array().unwrap().clone();
            let found = batch.iter().any(&wanted);
            events.extend(batch);
            if found {
                return events;
            }
        }
    }

    /// Events of a turn, up to its end.
    pub fn turn_events(&mut self) -> Vec<Value> {
        self.events_until(|event| event["type"] == "runFinished")
    }

    /// Frames that came and that nobody has taken.
    pub fn pending(&mut self) -> Vec<Value> {
        while let Ok(line) = self.frames.try_recv() {
            self.aside.push(whole_frame(line));
        }
        self.aside.iter().map(|frame| serde_json::from_str(frame).unwrap()).collect()
    }

    /// Asks what is answered at once, so that all sent before has been taken in.
    pub fn ping(&mut self) -> Duration {
        let start = Instant::now();
        self.get("manifest", &json!({}));
        start.elapsed()
    }

    /// Sends a signal.
    pub fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Says no more, and waits for the end.
    pub fn finish(mut self) -> Ended {
        self.stdin = None;
        self.wait()
    }

    /// Waits for an end that was brought about otherwise; its stdin stays open.
    pub fn wait(mut self) -> Ended {
        let start = Instant::now();
        let deadline = start + PATIENCE;
        let mut frames: Vec<Value> = self.aside.drain(..).map(|frame| serde_json::from_str(&frame).unwrap()).collect();
        loop {
            match self.frames.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => frames.push(serde_json::from_str(&whole_frame(line)).unwrap()),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("stdout is still open after {PATIENCE:?}"),
            }
        }
        self.reader.take().unwrap().join().unwrap();
        let status = self.child.wait().unwrap();
        let took = start.elapsed();
        let stderr = self.stderr.take().unwrap().join().unwrap();
        assert!(!stderr.contains("panicked"), "{stderr}");
        Ended { status, frames, stderr, took }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A running `sepia serve` whose output is read only when somebody asks for the next frame.
pub struct Silent {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<std::process::ChildStdout>,
    next_id: u64,
}

impl Silent {
    /// Starts it.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, next_id: 0 }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Asks, without waiting.
    pub fn ask(&mut self, method: &str, params: &Value) {
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        writeln!(self.stdin, "{request}").unwrap();
    }

    /// The next frame.
    pub fn next_frame(&mut self) -> Value {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).unwrap();
        serde_json::from_str(&whole_frame(line)).unwrap()
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // Both fail when it has ended already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Number, `data.code` and message of an error, which has all three and `data.cause`.
pub fn parts(error: &Value) -> (i64, String, String) {
    let data = error["data"].as_object().unwrap_or_else(|| panic!("no data in {error}"));
    assert!(data["cause"].is_null() || data["cause"].is_string(), "{error}");
    let message = error["message"].as_str().unwrap().to_owned();
    assert!(!message.is_empty());
    (error["code"].as_i64().unwrap(), data["code"].as_str().unwrap().to_owned(), message)
}

/// A line of stdout, whole: it ends in a line feed, is UTF-8, is one line to every reader,
/// and is a frame of JSON-RPC.
fn whole_frame(line: Vec<u8>) -> String {
    let mut text = String::from_utf8(line).expect("UTF-8 on stdout");
    assert_eq!(text.pop(), Some('\n'), "a partial line on stdout: {text:.200}");
    assert!(is_one_line(&text), "more than one line to some readers: {text:.200}");
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("no JSON on stdout ({e}): {text:.200}"));
    assert_eq!(value["jsonrpc"], "2.0", "no frame on stdout: {text:.200}");
    text
}

/// Whether even those who split at every kind of line end see one line.
pub fn is_one_line(text: &str) -> bool {
    !text.contains(['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'])
}
