//! Steps about the process.

use crate::client::{Client, chunk, folder, stopped, updates};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use sepia_scripted_agent::steps::{
    close_stdin, close_stdout, exit, ignore_signals, kill_self, respond_and_exit, spawn_stubborn, spawn_stubborn_apart,
    text, touch, wait_for_file,
};
use sepia_scripted_agent::{Event, Script};
use serde_json::json;
use std::fs;
use std::os::unix::process::ExitStatusExt;

#[test]
fn it_exits_with_the_code_or_by_the_signal() {
    for (step, code, signal) in [(exit(3), Some(3), None), (kill_self(), None, Some(9))] {
        let folder = folder();
        let (mut client, session) = Client::open(Script::new().on_prompt([text("a"), step]), folder.path());
        client.send_prompt(&session, "x");
        assert_eq!(updates(&[client.frame()], &session), [chunk("a")]);
        assert_eq!(client.line(), None);
        let status = client.ended();
        assert_eq!((status.code(), status.signal()), (code, signal));
        assert_eq!(client.records().last().unwrap().event, Event::Exit { code: code.map(|_| 3) });
    }
}

#[test]
fn the_answer_is_the_last_that_an_agent_says() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new().on_prompt([text("a"), respond_and_exit(0)]), folder.path());
    assert_eq!(client.prompt(&session, "x"), (vec![chunk("a")], stopped(2, "end_turn")));
    assert_eq!(client.line(), None);
    assert_eq!(client.ended().code(), Some(0));
}

#[test]
fn stdout_ends_and_the_agent_lives() {
    let folder = folder();
    let sign = folder.path().join("sign");
    let script = Script::new().on_prompt([text("a"), close_stdout(), text("lost"), touch(&sign)]);
    let (mut client, session) = Client::open(script, folder.path());
    client.send_prompt(&session, "x");
    assert_eq!(updates(&[client.frame()], &session), [chunk("a")]);
    assert_eq!(client.line(), None);
    client.request("x/y", &json!({}));
    client.wait_for(|event| event.method() == Some("x/y"));
    assert_eq!(client.child.try_wait().unwrap(), None);
    client.close_stdin();
    assert_eq!(client.ended().code(), Some(0));
    assert!(sign.exists());
}

#[test]
fn stdin_ends_for_its_writer_and_the_agent_lives() {
    let folder = folder();
    let script = Script::new().on_prompt([close_stdin(), text("a")]);
    let (mut client, session) = Client::open(script, folder.path());
    let answer = client.prompt(&session, "x");
    assert_eq!(answer, (vec![chunk("a")], stopped(2, "end_turn")));
    let refused = client.write(b"{}\n").unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(client.child.try_wait().unwrap(), None);
}

#[test]
fn the_end_of_stdin_ends_the_agent_unless_it_is_ignored() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new().on_prompt([wait_for_file("/nowhere")]), folder.path());
    client.send_prompt(&session, "x");
    client.wait_for(|event| event.method() == Some("session/prompt"));
    client.close_stdin();
    assert_eq!(client.ended().code(), Some(0));
    let events: Vec<Event> = client.records().into_iter().map(|record| record.event).collect();
    assert_eq!(events[events.len() - 2..], [Event::StdinEnd, Event::Exit { code: Some(0) }]);

    let folder = crate::client::folder();
    let gate = folder.path().join("gate");
    let script = Script::new().ignoring_stdin_end().on_prompt([wait_for_file(&gate), text("still here")]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    client.close_stdin();
    client.wait_for(|event| *event == Event::StdinEnd);
    fs::write(gate, "").unwrap();
    assert_eq!(client.until_answer(id), (client_frames(&session), stopped(id, "end_turn")));
}

fn client_frames(session: &str) -> Vec<serde_json::Value> {
    let params = json!({"sessionId": session, "update": chunk("still here")});
    vec![json!({"jsonrpc": "2.0", "method": "session/update", "params": params})]
}

#[test]
fn a_lost_reader_of_stdout_is_noticed() {
    let folder = folder();
    let mut command = crate::client::command(Script::new(), folder.path());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let records = sepia_scripted_agent::read_record(folder.path().join("record")).unwrap();
    assert!(records.iter().any(|record| matches!(record.event, Event::StdoutLost { .. })));
}

fn pid(of: u32) -> Pid {
    Pid::from_raw(i32::try_from(of).unwrap()).unwrap()
}

fn is_alive(pid_of: u32) -> bool {
    test_kill_process(pid(pid_of)).is_ok()
}

#[test]
fn a_signal_ends_the_agent_unless_it_ignores_them() {
    let folder = folder();
    let (mut client, _) = Client::open(Script::new(), folder.path());
    kill_process(pid(client.child.id()), Signal::TERM).unwrap();
    assert_eq!(client.ended().signal(), Some(15));

    let folder = crate::client::folder();
    let (mut client, session) = Client::open(Script::new().on("x/never", [ignore_signals()]), folder.path());
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        kill_process(pid(client.child.id()), signal).unwrap();
    }
    assert_eq!(client.prompt(&session, "x").1, stopped(2, "end_turn"));
    let records = client.records();
    let starts = records.iter().filter(|record| matches!(record.event, Event::Started { .. })).count();
    assert_eq!(starts, 1);
    assert_eq!(records[1].event, Event::IgnoresSignals);
    assert!(records.iter().all(|record| record.pid == client.child.id()));
}

/// SC-42.
#[test]
fn stubborn_children_outlive_the_agent_and_its_signals() {
    let folder = folder();
    let pids = folder.path().join("pids");
    let (mut client, session) = Client::open(Script::new().on_prompt([spawn_stubborn(2, &pids)]), folder.path());
    client.prompt(&session, "x");
    let started: Vec<u32> = fs::read_to_string(&pids).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(started.len(), 2);
    assert!(client.records().iter().any(|record| record.event == Event::Spawned { pids: started.clone() }));
    assert_eq!(parent(started[0]), client.child.id());
    assert_eq!(parent(started[1]), started[0]);
    client.close_stdin();
    assert_eq!(client.ended().code(), Some(0));
    for child in &started {
        for signal in [Signal::TERM, Signal::HUP] {
            kill_process(pid(*child), signal).unwrap();
        }
    }
    assert!(started.iter().all(|child| ignores_signals(*child) && is_alive(*child)));
    for child in &started {
        kill_process(pid(*child), Signal::KILL).unwrap();
    }
    // They held stdout open: its end says that they are gone.
    assert_eq!(client.line(), None);
}

#[test]
fn stubborn_children_can_leave_the_pipes_alone() {
    let folder = folder();
    let pids = folder.path().join("pids");
    let script = Script::new().on_prompt([spawn_stubborn_apart(1, &pids), exit(0)]);
    let (mut client, session) = Client::open(script, folder.path());
    client.send_prompt(&session, "x");
    assert_eq!(client.line(), None);
    let child: u32 = fs::read_to_string(&pids).unwrap().trim().parse().unwrap();
    assert!(is_alive(child));
    kill_process(pid(child), Signal::KILL).unwrap();
}

fn parent(of: u32) -> u32 {
    status(of, "PPid:").parse().unwrap()
}

/// Whether SIGTERM (15) and SIGHUP (1) are ignored, as the system sees it.
fn ignores_signals(process: u32) -> bool {
    let both = 1 << 14 | 1;
    u64::from_str_radix(&status(process, "SigIgn:"), 16).unwrap() & both == both
}

fn status(of: u32, field: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{of}/status")).unwrap();
    text.lines().find_map(|line| line.strip_prefix(field)).unwrap().trim().to_owned()
}
