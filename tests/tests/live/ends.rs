//! SC-41, SC-42: an agent that dies takes its turn along and nothing else, and nothing that was
//! started outlives us.

use rustix::process::Signal;
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{
    close_stdin, close_stdout, exit, ignore_signals, kill_self, permission, remember, respond_and_exit, spawn_stubborn,
    stderr, text, wait_for_file,
};
use sepia_tests::processes::{alive_in, is_alive, wait_until, wait_until_gone};
use sepia_tests::stage::{kinds, prompt, text_of};
use sepia_tests::{Client, Stage};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// The error of a turn whose agent dies in it, which comes in time and ends everything once.
fn dies(script: Script) -> (Value, Value) {
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let start = Instant::now();
    let error = client.call("sessions.prompt", &prompt(&id, "go")).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let events = client.turn_events();
    assert_eq!(kinds(&events).iter().filter(|kind| **kind == "runFinished").count(), 1);
    let end = events.last().unwrap().clone();
    assert_eq!(end["error"]["message"], error["message"]);
    let rows = client.get("sessions.list", &json!({"cwd": stage.cwd()}));
    assert_eq!((&rows[0]["busy"], rows[0].get("permissions")), (&json!(false), None));
    // Nothing else is told: the session is live still, and its stream goes on.
    client.ping();
    let late = client.pending();
    assert!(late.iter().all(|frame| frame["method"] != "session.event"), "{late:?}");
    (error, end)
}

#[test]
fn an_agent_that_exits_in_a_turn_says_how_and_its_last_words() {
    let (error, _) = dies(Script::new().on_prompt([text("a"), text("b"), stderr("boom\n"), exit(3)]));
    assert_eq!(error["data"]["code"], "internal");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("exited with code 3") && message.contains("boom"), "{message}");
    assert!(error["data"]["cause"].as_str().unwrap().contains("boom"), "{error}");
}

#[test]
fn one_that_is_killed_says_by_which_signal() {
    let (error, _) = dies(Script::new().on_prompt([text("a"), kill_self()]));
    assert!(error["message"].as_str().unwrap().contains("signal 9"), "{error}");
}

#[test]
fn one_that_closes_its_stdout_is_gone_too() {
    let folder = tempfile::tempdir().unwrap();
    let never = folder.path().join("never");
    let (error, _) = dies(Script::new().on_prompt([text("a"), close_stdout(), wait_for_file(never)]));
    assert!(error["message"].as_str().unwrap().contains("closed its stdout"), "{error}");
}

#[test]
fn one_that_waits_for_a_permission_takes_the_request_along() {
    let asks = permission("t", "x").without_waiting().step();
    dies(Script::new().on_prompt([asks, text("a"), exit(4)]));
}

#[test]
fn one_that_closes_its_stdin_alone_still_answers() {
    let stage = Stage::new(Script::new().on_prompt([close_stdin(), text("still here")]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    assert_eq!(text_of(&client.turn_events()), "still here");
}

#[test]
fn one_that_ends_while_it_is_asked_what_it_can_do_is_no_session() {
    let stage = Stage::new(Script::new().on("initialize", [stderr("no licence\n"), exit(2)]));
    let mut client = stage.serve();
    let error = client.call("sessions.create", &json!({"cwd": stage.cwd(), "agent": "claude"})).unwrap_err();
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("initialize") && message.contains("exited with code 2"), "{message}");
    assert!(message.contains("no licence"), "{message}");
    assert_eq!(client.get("sessions.list", &json!({"cwd": stage.cwd()})), json!([]));
}

#[test]
fn a_last_word_that_is_the_answer_counts() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new()
        .store(folder.path().join("agent"))
        .on_prompt_with("first", [text("done"), respond_and_exit(0)])
        .on_prompt([remember()]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    assert_eq!(client.get("sessions.prompt", &prompt(&id, "first"))["stopReason"], "end_turn");
    assert_eq!(text_of(&client.turn_events()), "done");
    client.get("sessions.prompt", &prompt(&id, "second"));
    assert_eq!(text_of(&client.turn_events()), "first\nsecond");
}

/// An agent that starts processes which heed nothing, and that heeds nothing itself.
fn stubborn(pids: &Path) -> Script {
    Script::new().ignoring_stdin_end().on_prompt([ignore_signals(), spawn_stubborn(2, pids), text("spawned")])
}

/// Process groups of all that ran.
fn spawned(stage: &Stage, client: &mut Client) -> Vec<u32> {
    let id = stage.followed(client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    client.turn_events();
    stage.record().iter().map(|record| record.pid).collect()
}

#[test]
fn nothing_is_left_whichever_way_the_server_ends() {
    type End = fn(Client, &str);
    let ends: [(&str, End); 4] = [
        ("a request", |mut client, _| {
            client.ask("shutdown", &json!({}));
            assert!(client.wait().status.success());
        }),
        ("the end of its input", |client, _| assert!(client.finish().status.success())),
        ("SIGTERM", |mut client, _| {
            client.signal(Signal::TERM);
            client.wait();
        }),
        ("a detach", |mut client, id| {
            client.get("sessions.detach", &json!({"id": id}));
            client.finish();
        }),
    ];
    for (what, end) in ends {
        let folder = tempfile::tempdir().unwrap();
        let stage = Stage::new(stubborn(&folder.path().join("pids")).session_id("s"));
        let mut client = stage.serve();
        let groups = spawned(&stage, &mut client);
        assert!(alive_in(&groups).len() >= 3, "{what}: the agent and what it started");
        let start = Instant::now();
        end(client, "s");
        assert!(start.elapsed() < Duration::from_secs(5), "{what}: {:?}", start.elapsed());
        wait_until(what, || alive_in(&groups).is_empty());
    }
}

#[test]
fn what_a_killed_server_left_is_ended_by_the_next_one() {
    let place = tempfile::tempdir().unwrap();
    let stage = Stage::new(stubborn(&place.path().join("pids")));
    let mut client = stage.serve();
    let groups = spawned(&stage, &mut client);
    let mut decoy = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    client.signal(Signal::KILL);
    let server = client.pid();
    drop(client);
    wait_until_gone(server);
    assert!(!alive_in(&groups).is_empty(), "they heed nothing");
    let mut next = stage.serve();
    stage.create(&mut next);
    wait_until("what was left is gone", || alive_in(&groups).is_empty());
    assert!(is_alive(decoy.id()));
    decoy.kill().unwrap();
    decoy.wait().unwrap();
}

#[test]
fn a_hundred_rounds_leave_no_process() {
    let stage = Stage::new(Script::new());
    let mut client = stage.serve();
    for _ in 0..100 {
        let id = stage.create(&mut client);
        client.get("sessions.detach", &json!({"id": id}));
    }
    let agents: Vec<u32> = stage.record().iter().map(|record| record.pid).collect();
    assert!(agents.iter().all(|pid| !is_alive(*pid)));
    assert!(std::fs::read_dir(stage.machine.sepia_home().join("agents")).unwrap().next().is_none());
}

#[test]
fn a_turn_that_a_killed_server_left_open_is_closed_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let never = folder.path().join("never");
    let stage = Stage::new(Script::new().on_prompt([text("a"), wait_for_file(never)]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.ask("sessions.prompt", &prompt(&id, "go"));
    client.events_until(|event| event["type"] == "textMessageContent");
    client.signal(Signal::KILL);
    let server = client.pid();
    drop(client);
    wait_until_gone(server);
    let mut next = stage.serve();
    let stored = next.get("sessions.events", &json!({"id": id}));
    let last = stored["events"].as_array().unwrap().last().unwrap();
    assert_eq!(last["type"], "runFinished");
    assert!(last["data"]["error"]["message"].as_str().unwrap().contains("ended before"), "{last}");
    let rows = next.get("sessions.list", &json!({"cwd": stage.cwd()}));
    assert_eq!(rows[0]["busy"], false);
}

#[test]
fn a_client_that_does_not_read_keeps_nothing_alive() {
    use sepia_scripted_agent::steps::flood;
    let stage = Stage::new(Script::new().on_prompt([flood(200_000, 200)]));
    let mut silent = sepia_tests::client::Silent::start(stage.machine.command(&["serve"]));
    silent.ask("sessions.create", &json!({"cwd": stage.cwd(), "agent": "claude"}));
    let id = silent.next_frame()["result"]["id"].as_str().unwrap().to_owned();
    silent.ask("sessions.subscribe", &json!({"id": id}));
    silent.next_frame();
    silent.ask("sessions.prompt", &prompt(&id, "go"));
    // Its pipe is full by the time that the turn is in the log.
    wait_until("the turn runs", || !sepia_scripted_agent::received(&stage.record(), "session/prompt").is_empty());
    for _ in 0..100 {
        silent.ask("manifest", &json!({}));
    }
    let agents: Vec<u32> = stage.record().iter().map(|record| record.pid).collect();
    silent.signal(Signal::TERM);
    wait_until("the agent is gone", || alive_in(&agents).is_empty());
    wait_until("the server is gone", || !is_alive(silent.pid()));
}

#[test]
fn a_delete_that_is_cut_off_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new(stubborn(&folder.path().join("pids")).session_id("s"));
    let mut client = stage.serve();
    let groups = spawned(&stage, &mut client);
    client.ask("sessions.delete", &json!({"id": "s"}));
    client.ask("shutdown", &json!({}));
    let ended = client.wait();
    assert!(ended.status.success() && ended.took < Duration::from_secs(12), "{ended:?}");
    assert!(alive_in(&groups).is_empty());
}
