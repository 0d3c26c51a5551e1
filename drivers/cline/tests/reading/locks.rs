//! Sessions that a running agent holds.

use crate::demo::{Demo, S1, S2, talk};
use sepia_driver_cline::Cline;
use sepia_ir::LockState;
use sepia_sdk::SessionRead;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process that runs as a program of this name, until it is dropped.
struct Running(Child);

impl Running {
    fn named(name: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(name);
        std::fs::copy(shell(), &program).unwrap();
        // Says that it runs, and then waits for its standard input, which nobody writes to.
        let mut command = Command::new(&program);
        command.args(["-c", "echo up; read line", "--"]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        Self(child)
    }
}

fn shell() -> &'static Path {
    ["/bin/dash", "/bin/sh"].map(Path::new).into_iter().find(|path| path.exists()).unwrap()
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn locks(demo: &Demo) -> Vec<LockState> {
    Cline::locks(&demo.host()).unwrap()
}

fn session(demo: &Demo, id: &str, status: &str, pid: u32) {
    demo.messages(id, &talk(1));
    demo.manifest(id, &[("status", json!(status)), ("pid", json!(pid)), ("ended_at", Value::Null)]);
}

#[test]
fn a_process_of_the_agent_holds_its_open_sessions() {
    let demo = Demo::new();
    let agent = Running::named("cline", &["--acp"]);
    let pid = agent.0.id();
    session(&demo, S1, "running", pid);
    session(&demo, S2, "idle", pid);
    session(&demo, "done", "completed", pid);
    let held = |id: &str| LockState { id: id.into(), holder_pid: Some(pid) };
    assert_eq!(locks(&demo), [held(S1), held(S2)]);
    drop(agent);
    assert_eq!(locks(&demo), []);
}

#[test]
fn a_hub_holds_only_what_is_at_work() {
    let demo = Demo::new();
    let hub = Running::named("cline", &["--cline-hub-daemon"]);
    session(&demo, S1, "running", hub.0.id());
    session(&demo, S2, "idle", hub.0.id());
    assert_eq!(locks(&demo), [LockState { id: S1.into(), holder_pid: Some(hub.0.id()) }]);
}

#[test]
fn another_program_and_a_dead_one_hold_nothing() {
    let demo = Demo::new();
    let other = Running::named("editor", &["cline"]);
    session(&demo, S1, "running", other.0.id());
    session(&demo, S2, "running", 4_100_000);
    assert_eq!(locks(&demo), []);
    // The killed run of the samples.
    assert_eq!(locks(&Demo::sample("wal")), []);
}

#[test]
fn rows_of_the_index_count_where_there_is_one() {
    let demo = Demo::new();
    let agent = Running::named("cline", &[]);
    demo.messages(S1, &talk(1));
    let insert = "INSERT INTO sessions (session_id, pid, status, ended_at) VALUES (?1, ?2, 'running', NULL), (?3, ?2, 'completed', 'x')";
    demo.database().execute(insert, rusqlite::params![S1, agent.0.id(), S2]).unwrap();
    assert_eq!(locks(&demo), [LockState { id: S1.into(), holder_pid: Some(agent.0.id()) }]);
}
