//! However it ends: what was asked is answered, the last line is whole, the process is gone
//! soon, and nothing that it started stays behind.

use rustix::process::Signal;
use sepia_tests::processes::{alive_in, groups_of, wait_until};
use sepia_tests::{Client, Ended, Machine};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What an orderly end may take: two seconds for running requests, one for driver programs.
const SOON: Duration = Duration::from_secs(5);

/// A machine with the driver program that does this, and a client of a plane over it.
fn with_program(misdeed: &str) -> (Machine, Client) {
    let machine = Machine::with_samples();
    machine.add_program(misdeed);
    let client = machine.serve();
    (machine, client)
}

/// Waits until the driver program was started to serve, after it was started to be probed.
fn wait_for_start(machine: &Machine) {
    wait_until("the driver program is started", || groups_of(&machine.drivers()).len() >= 2);
}

fn assert_nothing_is_left(machine: &Machine) {
    let groups = groups_of(&machine.drivers());
    assert!(groups.len() >= 2, "the driver program was started: {groups:?}");
    wait_until("all processes are gone", || alive_in(&groups).is_empty());
}

fn assert_ended_well(ended: &Ended) {
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert!(ended.took < SOON, "{:?}", ended.took);
}

#[test]
fn at_the_end_of_the_input_all_is_answered() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let ids: Vec<u64> = (1..=12)
        .map(|n| client.ask("sessions.export", &json!({"id": format!("11111111-1111-4111-8111-{n:012}")})))
        .collect();
    let ended = client.finish();
    assert_ended_well(&ended);
    let mut answered: Vec<u64> = ended.frames.iter().map(|frame| frame["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert!(ended.frames.iter().all(|frame| frame["result"]["session"]["id"].is_string()));
}

#[test]
fn an_input_that_ends_at_once_is_no_error() {
    let ended = Machine::empty().serve().finish();
    assert_ended_well(&ended);
    assert_eq!((ended.frames.len(), ended.stderr.as_str()), (0, ""));
}

#[test]
fn an_input_that_ends_in_half_a_frame_is_told() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    client.send_raw(r#"{"jsonrpc":"2.0","id":1,"meth"#);
    let ended = client.finish();
    assert_ended_well(&ended);
    assert_eq!(ended.frames.len(), 1);
    assert_eq!(ended.frames[0]["error"]["data"]["code"], "parse_error");
}

#[test]
fn shutdown_is_answered_last() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    let list = client.ask("sessions.list", &json!({}));
    let shutdown = client.ask("shutdown", &json!({}));
    // What is said after it is heard by nobody.
    let ended = client.wait();
    assert_ended_well(&ended);
    let ids: Vec<_> = ended.frames.iter().map(|frame| frame["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [list, shutdown]);
    assert!(ended.frames[0]["result"].is_array());
    assert_eq!(ended.frames[1].get("result"), Some(&Value::Null));
}

#[test]
fn shutdown_as_a_notification_ends_it_too() {
    let machine = Machine::empty();
    let mut client = machine.serve();
    client.send(r#"{"jsonrpc":"2.0","method":"shutdown"}"#);
    let ended = client.wait();
    assert_ended_well(&ended);
    assert!(ended.frames.is_empty());
}

#[test]
fn a_signal_ends_it_and_what_is_running_is_answered() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (machine, mut client) = with_program("hangs");
        let hanging = client.ask("sessions.list", &json!({"agent": "misbehaving"}));
        wait_for_start(&machine);
        client.ping();
        client.signal(signal);
        let ended = client.wait();
        assert_ended_well(&ended);
        let [frame] = ended.frames.as_slice() else { panic!("{ended:?}") };
        assert_eq!(frame["id"], json!(hanging));
        assert_eq!(frame["error"]["data"]["code"], "internal");
        assert_nothing_is_left(&machine);
    }
}

#[test]
fn a_signal_ends_an_idle_one_within_a_second() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let machine = Machine::with_samples();
        let mut client = machine.serve();
        client.ping();
        client.signal(signal);
        let ended = client.wait();
        assert_ended_well(&ended);
        assert!(ended.took < Duration::from_secs(1), "{:?}", ended.took);
    }
}

#[test]
fn a_signal_while_drivers_are_still_looked_for_ends_it_too() {
    let machine = Machine::with_samples();
    machine.add_program("hangs-in-probe");
    let mut client = machine.serve();
    // Drivers are looked for when something needs them first.
    client.ask("agents.list", &json!({}));
    wait_until("the probe is started", || !groups_of(&machine.drivers()).is_empty());
    client.signal(Signal::TERM);
    let ended = client.wait();
    assert_ended_well(&ended);
    let groups = groups_of(&machine.drivers());
    wait_until("the probe is gone", || alive_in(&groups).is_empty());
}

#[test]
fn a_client_that_is_gone_ends_it() {
    // Its stdout has no reader any more, its stdin stays open.
    let machine = Machine::with_samples();
    machine.add_program("ignores-eof");
    let mut command = machine.command(&["serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    drop(child.stdout.take());
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "sessions.list"});
    let start = Instant::now();
    let mut sent = 0;
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(20), "it still runs, {sent} requests later");
        if writeln!(stdin, "{list}").is_ok() {
            sent += 1;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    let groups = groups_of(&machine.drivers());
    wait_until("all processes are gone", || alive_in(&groups).is_empty());
}

#[test]
fn a_client_that_stops_reading_is_waited_for_and_loses_nothing() {
    let machine = Machine::with_samples();
    let mut command = machine.command(&["serve"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 0..500 {
            let list = json!({"jsonrpc": "2.0", "id": id, "method": "sessions.list"});
            writeln!(stdin, "{list}").unwrap();
        }
    });
    // Far more than a pipe holds; only now is it read.
    std::thread::sleep(Duration::from_millis(500));
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    let mut ids: Vec<u64> =
        stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..500).collect::<Vec<_>>());
}

#[test]
fn programs_that_will_not_end_are_ended() {
    for misdeed in ["ignores-eof", "ignores-all", "forks-and-hangs"] {
        let machine = Machine::with_samples().with("SEPIA_PROCESS_TIMEOUT_MS", "2000");
        machine.add_program(misdeed);
        let mut client = machine.serve();
        let list = client.ask("sessions.list", &json!({"agent": "misbehaving"}));
        wait_for_start(&machine);
        client.answer(list).unwrap();
        let shutdown = client.ask("shutdown", &json!({}));
        let ended = client.wait();
        assert_ended_well(&ended);
        assert_eq!(ended.frames.last().unwrap()["id"], json!(shutdown), "{misdeed}");
        assert_nothing_is_left(&machine);
    }
}

#[test]
fn stdout_has_frames_only_whatever_drivers_and_the_log_say() {
    let machine = Machine::with_samples().with("SEPIA_LOG", "trace").with("SEPIA_DRIVER_ALLOW", "guest");
    machine.add_program("logs");
    machine.add_driver_file("prints.wasm", sepia_tests::guests::wasm("prints_frames"));
    machine.write("home/.home/a.txt", "one\n");
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({}));
    let sources: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["agent"].as_str().unwrap()).collect();
    assert!(sources.contains(&"guest") && sources.contains(&"misbehaving"), "{rows}");
    assert_eq!(sources.iter().filter(|agent| **agent == "claude").count(), 13);
    // Every frame was checked on its way; none came that nobody asked for.
    let ended = client.finish();
    assert_ended_well(&ended);
    assert!(ended.frames.is_empty(), "{:?}", ended.frames);
    assert!(!ended.stderr.is_empty());
    assert!(ended.stderr.bytes().all(|byte| byte == b'\n' || byte == b'\t' || byte >= b' '), "{:?}", ended.stderr);
}
