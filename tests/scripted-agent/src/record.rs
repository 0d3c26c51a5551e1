//! The record: one JSON line for everything that happens to the agent, written before it reacts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// Time between two looks at a record that has not yet what is waited for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// A line of the record. Several processes may share a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// When, milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// Which process.
    pub pid: u32,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// It was started.
    Started {
        /// The path of the script, as given.
        script: String,
        /// The arguments after it.
        arguments: Vec<String>,
        /// Names of the environment variables, sorted.
        environment: Vec<String>,
        /// The current directory.
        cwd: PathBuf,
    },
    /// It ignores SIGTERM, SIGHUP and SIGINT from here on.
    IgnoresSignals,
    /// A line that is JSON.
    Received {
        /// The whole of it.
        frame: Value,
    },
    /// A line that is none; the agent says so on stderr and ignores it.
    NotJson {
        /// The line; what is no UTF-8 is replaced.
        line: String,
    },
    /// The answer to a request of the agent; its frame came just before.
    Answered {
        /// The method of the request; none when nothing with this id was open.
        method: Option<String>,
        /// The id of the answer.
        id: Value,
        /// Whether the agent had given the request up.
        given_up: bool,
    },
    /// Processes were started that do not end.
    Spawned {
        /// Their pids, the child first.
        pids: Vec<u32>,
    },
    /// Stdin ended.
    StdinEnd,
    /// It closed its stdin.
    ClosedStdin,
    /// It closed its stdout.
    ClosedStdout,
    /// Nobody reads stdout any more.
    StdoutLost {
        /// What the system says.
        error: String,
    },
    /// It ends.
    Exit {
        /// The exit code; none when it kills itself.
        code: Option<u8>,
    },
}

impl Event {
    /// The frame that was received.
    pub fn frame(&self) -> Option<&Value> {
        match self {
            Self::Received { frame } => Some(frame),
            _ => None,
        }
    }

    /// The method of the frame that was received.
    pub fn method(&self) -> Option<&str> {
        self.frame()?.get("method")?.as_str()
    }
}

/// All lines of a record that are finished; none when there is no file.
pub fn read_record(path: impl AsRef<Path>) -> io::Result<Vec<Record>> {
    let text = match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let finished = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    finished.map(|line| serde_json::from_slice(line).map_err(io::Error::from)).collect()
}

/// The frames of this method that were received, in their order.
pub fn received<'a>(records: &'a [Record], method: &str) -> Vec<&'a Value> {
    let frames = records.iter().filter(|record| record.event.method() == Some(method));
    frames.filter_map(|record| record.event.frame()).collect()
}

/// Waits until the record has something like this, and gives the whole of it.
pub fn wait_for_record(
    path: impl AsRef<Path>,
    limit: Duration,
    like: impl Fn(&Event) -> bool,
) -> io::Result<Vec<Record>> {
    let path = path.as_ref();
    let end = Instant::now() + limit;
    loop {
        let records = read_record(path)?;
        if records.iter().any(|record| like(&record.event)) {
            return Ok(records);
        }
        if Instant::now() >= end {
            let message = format!("after {limit:?} {} has nothing of the kind: {records:?}", path.display());
            return Err(io::Error::new(io::ErrorKind::TimedOut, message));
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Event, Record, read_record, received, wait_for_record};
    use serde_json::json;
    use std::time::Duration;

    #[test]
    fn a_line_is_flat_and_an_unfinished_one_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        assert_eq!(read_record(&path).unwrap(), []);
        let line = json!({"atMs": 5, "pid": 7, "event": "received", "frame": {"method": "x"}});
        std::fs::write(&path, format!("{line}\n{{\"atMs\":")).unwrap();
        let record = Record { at_ms: 5, pid: 7, event: Event::Received { frame: json!({"method": "x"}) } };
        assert_eq!(read_record(&path).unwrap(), std::slice::from_ref(&record));
        assert_eq!(serde_json::to_value(&record).unwrap(), line);
        assert_eq!(received(std::slice::from_ref(&record), "x"), [&json!({"method": "x"})]);
        assert!(received(&[record], "y").is_empty());
    }

    #[test]
    fn waiting_ends_at_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let waited = wait_for_record(&path, Duration::from_millis(5), |event| *event == Event::StdinEnd);
        assert_eq!(waited.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        std::fs::write(&path, "{\"atMs\":1,\"pid\":2,\"event\":\"stdinEnd\"}\n").unwrap();
        let waited = wait_for_record(&path, Duration::from_millis(5), |event| *event == Event::StdinEnd);
        assert_eq!(waited.unwrap().len(), 1);
    }
}
