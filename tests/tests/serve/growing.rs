//! Field case SC-33: a session that another process writes at the same moment.
//!
//! `SEPIA_GROWTH_ROUNDS` makes it longer.

use sepia_tests::claude::{Records, S1};
use sepia_tests::{Client, Machine};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Rounds, unless `SEPIA_GROWTH_ROUNDS` says otherwise.
const ROUNDS: usize = 20;
/// Time between two lines of the other process.
const PERIOD: Duration = Duration::from_millis(5);

fn rounds() -> usize {
    std::env::var("SEPIA_GROWTH_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("SEPIA_GROWTH_ROUNDS is a number"))
}

/// A session of its own for each round.
fn id(round: usize) -> String {
    format!("{}{round:06}", &S1[..30])
}

fn records(round: usize) -> Records {
    (0..3).fold(Records::of(&id(round)), |records, at| records.user(&format!("q{at}"), at).assistant("a", at))
}

fn put(machine: &Machine, round: usize) -> PathBuf {
    machine.write(&format!("claude/projects/-p-demo/{}.jsonl", id(round)), records(round).text())
}

/// A program that appends one line after the other, as the agent does.
struct Writer {
    stop: &'static AtomicBool,
    begun: Receiver<()>,
    thread: JoinHandle<Vec<String>>,
}

impl Writer {
    fn start(path: &Path, records: Records) -> Self {
        let stop: &'static AtomicBool = Box::leak(Box::default());
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        let (begins, begun) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut records = records;
            let mut lines = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let before = records.text().len();
                records = records.assistant(&format!("meanwhile {}", lines.len()), 10);
                let line = records.text()[before..].to_owned();
                file.write_all(line.as_bytes()).unwrap();
                lines.push(line);
                let _nobody_waits = begins.send(());
                thread::sleep(PERIOD);
            }
            lines
        });
        Self { stop, begun, thread }
    }

    fn wait_for_a_line(&self) {
        self.begun.recv_timeout(Duration::from_secs(60)).unwrap();
    }

    /// All lines that it wrote.
    fn stop(self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The lines of a file, with their ends.
fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().split_inclusive('\n').map(str::to_owned).collect()
}

/// Lines of the file that neither were there nor were written by the other process; both of those are all there, in order.
fn added(path: &Path, before: &str, appended: &[String], context: &str) -> Vec<String> {
    let mut expected = before.split_inclusive('\n').map(str::to_owned).chain(appended.iter().cloned()).peekable();
    let found = lines(path);
    let others = found.iter().filter(|line| expected.next_if(|expected| expected == *line).is_none());
    let others: Vec<String> = others.cloned().collect();
    assert_eq!(expected.next(), None, "{context}: a line is lost, or not in its order");
    assert_eq!(found.len(), before.lines().count() + appended.len() + others.len(), "{context}");
    others
}

fn rewound(client: &mut Client, id: &str) -> Result<Value, Value> {
    client.call("sessions.rewind", &json!({"id": id, "request": {"confirm": true, "turns": 1}}))
}

#[test]
fn no_line_is_lost_of_a_session_that_grows_while_it_is_cut_back() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let (mut done, mut refused) = (0, BTreeSet::new());
    for round in 0..rounds() {
        let path = put(&machine, round);
        let writer = Writer::start(&path, records(round));
        writer.wait_for_a_line();
        let answer = rewound(&mut client, &id(round));
        writer.wait_for_a_line();
        let appended = writer.stop();
        let context = format!("round {round}: {answer:?}");
        let added = added(&path, records(round).text(), &appended, &context);
        match answer {
            Ok(told) => {
                done += 1;
                assert!(told["removed"].as_u64().unwrap() >= 1, "{context}");
                // What the agent itself writes when it goes back, and nothing else.
                let kinds: Vec<Value> =
                    added.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
                assert_eq!(kinds, ["last-prompt"], "{context}");
            }
            Err(error) => {
                assert_eq!(added, [""; 0], "{context}");
                refused.insert(error["data"]["code"].as_str().unwrap().to_owned());
            }
        }
        // Whatever came of it, all of it is read, and it can be cut back once nobody writes.
        let read = client.get("sessions.get", &json!({"id": id(round)}));
        assert_eq!(read["nodes"].as_array().unwrap().len(), 6 + appended.len(), "{context}");
        assert!(read["metadata"]["warnings"].is_null(), "{context}: {}", read["metadata"]["warnings"]);
        rewound(&mut client, &id(round)).unwrap_or_else(|error| panic!("{context}: {error}"));
    }
    assert!(refused.iter().all(|code| code == "conflict"), "{refused:?}");
    assert!(done > 0 || !refused.is_empty());
    eprintln!("{} rounds: {done} cut back, {} refused ({refused:?})", rounds(), rounds() - done);
}

/// A title is a line more, too.
#[test]
fn no_line_is_lost_of_a_session_that_grows_while_it_is_renamed() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    for round in 0..rounds().div_ceil(4) {
        let path = put(&machine, round);
        let writer = Writer::start(&path, records(round));
        writer.wait_for_a_line();
        let answer = client.call("sessions.rename", &json!({"id": id(round), "title": "Another"}));
        writer.wait_for_a_line();
        let appended = writer.stop();
        let context = format!("round {round}: {answer:?}");
        let added = added(&path, records(round).text(), &appended, &context);
        assert_eq!(added.len(), usize::from(answer.is_ok()), "{context}: {added:?}");
        if let Err(error) = answer {
            assert_eq!(error["data"]["code"], "conflict", "{context}");
        }
    }
}

/// What is written in the place of a session that grows is what was asked for, and the lines that were written meanwhile
/// are in the session or in the trash.
#[test]
fn no_line_is_lost_of_a_session_that_grows_while_it_is_written_over() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    for round in 0..rounds().div_ceil(4) {
        let path = put(&machine, round);
        let session = client.get("sessions.export", &json!({"id": id(round)}))["session"].take();
        let writer = Writer::start(&path, records(round));
        writer.wait_for_a_line();
        let import = json!({"agent": "claude", "session": session, "id": id(round), "replace": true, "cwd": "/p/demo"});
        let answer = client.call("sessions.import", &import);
        writer.wait_for_a_line();
        let appended = writer.stop();
        let context = format!("round {round}: {answer:?}");
        let Ok(_) = answer else {
            assert_eq!(added(&path, records(round).text(), &appended, &context), [""; 0], "{context}");
            continue;
        };
        let trash = client.get("trash.list", &json!({}));
        let of_round = |entry: &&Value| entry["sessionId"] == id(round);
        let entry = trash.as_array().unwrap().iter().find(of_round).unwrap_or_else(|| panic!("{context}: {trash}"));
        // The other process goes on in the file that it has open, wherever that is.
        let kept = machine.sepia_home().join("trash").join(entry["entry"].as_str().unwrap()).join("0");
        assert_eq!(added(&kept, records(round).text(), &appended, &context), [""; 0], "{context}");
        let read = client.get("sessions.get", &json!({"id": id(round)}));
        assert_eq!(read["nodes"].as_array().unwrap().len(), 6, "{context}");
    }
}

/// Two of our own servers: each write is whole, and none is done twice or on top of what it did not see.
#[test]
fn two_servers_do_not_write_one_session_at_a_time() {
    let machine = Machine::empty();
    let mut servers = [machine.serve(), machine.serve()];
    for round in 0..rounds() {
        let path = put(&machine, round);
        let request = json!({"id": id(round), "request": {"confirm": true, "turns": 1}});
        for server in &mut servers {
            server.get("sessions.get", &json!({"id": id(round)}));
        }
        let asked: Vec<u64> = servers.iter_mut().map(|server| server.ask("sessions.rewind", &request)).collect();
        let answers: Vec<_> = servers.iter_mut().zip(asked).map(|(server, asked)| server.answer(asked)).collect();
        let done = answers.iter().filter(|answer| answer.is_ok()).count();
        for error in answers.iter().filter_map(|answer| answer.as_ref().err()) {
            let code = error["data"]["code"].as_str().unwrap();
            assert!(["busy", "conflict"].contains(&code), "round {round}: {error}");
        }
        assert!(done > 0, "round {round}: {answers:?}");
        let context = format!("round {round}: {answers:?}");
        assert_eq!(added(&path, records(round).text(), &[], &context).len(), done, "{context}");
        // The second of two that were both done saw what the first had done.
        let left = servers[0].get("sessions.history", &json!({"id": id(round)}));
        assert_eq!(left["messages"].as_array().unwrap().len(), 6 - 2 * done, "{context}");
    }
}

/// The marker of a process that runs keeps a session as it is; that of one that is gone, or of another that got its number, does not.
#[test]
fn a_marker_counts_as_long_as_its_process_runs() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    let mut agent = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", agent.id())).unwrap();
    let started: u64 = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    let mark = |pid: u32, started: u64, round: usize| {
        let marker = json!({"pid": pid, "sessionId": id(round), "cwd": "/p/demo", "procStart": started.to_string()});
        machine.write(&format!("claude/sessions/{pid}.json"), marker.to_string());
    };
    put(&machine, 0);
    mark(agent.id(), started, 0);
    let error = rewound(&mut client, &id(0)).unwrap_err();
    assert_eq!(error["data"]["code"], "locked");
    assert!(error["message"].as_str().unwrap().contains(&format!("process {}", agent.id())), "{error}");
    mark(agent.id(), started - 1, 0);
    rewound(&mut client, &id(0)).unwrap();
    mark(agent.id(), started, 0);
    rewound(&mut client, &id(0)).unwrap_err();
    agent.kill().unwrap();
    agent.wait().unwrap();
    // The marker is still there.
    rewound(&mut client, &id(0)).unwrap();
}
