//! A turn that is cancelled ends, whatever its agent does.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{error, open_tool, remember, text, wait_for_cancel, wait_for_file};
use sepia_tests::Stage;
use sepia_tests::stage::{STORED, kinds, prompt, text_of};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_turn_that_is_cancelled_ends_with_what_was_open_and_the_next_one_runs() {
    let script = Script::new()
        .on_prompt([text("working"), open_tool("t1", "Sleep"), wait_for_cancel()])
        .on_prompt([text("second")]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
    client.events_until(|event| event["type"] == "toolCallStart");
    client.get("sessions.cancel", &json!({"id": id}));
    assert_eq!(client.answer(turn).unwrap()["stopReason"], "cancelled");
    let events = client.turn_events();
    assert_eq!(kinds(&events), ["toolCallEnd", "runFinished"]);
    assert_eq!(events.last().unwrap()["stopReason"], "cancelled");
    client.get("sessions.prompt", &prompt(&id, "again"));
    assert_eq!(text_of(&client.turn_events()), "second");
    // Without a turn there is nothing to cancel.
    client.get("sessions.cancel", &json!({"id": id}));
}

#[test]
fn an_agent_that_answers_a_cancel_with_an_error_has_still_cancelled() {
    let script = Script::new().on_prompt([text("a"), wait_for_cancel(), error(-32603, "aborted")]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
    client.events_until(|event| event["type"] == "textMessageContent");
    client.get("sessions.cancel", &json!({"id": id}));
    assert_eq!(client.answer(turn).unwrap()["stopReason"], "cancelled");
}

#[test]
fn an_agent_that_does_not_hear_is_stopped_and_comes_back_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let never = folder.path().join("never");
    let script = Script::new()
        .ignoring_cancel()
        .store(folder.path().join("agent"))
        .on_prompt([text("deaf"), wait_for_file(&never)]);
    let stage = Stage::new(script).with("SEPIA_CANCEL_TIMEOUT_MS", "300");
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let turn = client.ask("sessions.prompt", &prompt(&id, "first"));
    client.events_until(|event| event["type"] == "textMessageContent");
    let start = Instant::now();
    client.get("sessions.cancel", &json!({"id": id}));
    assert_eq!(client.answer(turn).unwrap()["stopReason"], "cancelled");
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(5), "{took:?}");
    // It is live still, and a new process goes on with it.
    let turn = client.ask("sessions.prompt", &prompt(&id, "second"));
    client.events_until(|event| event["type"] == "textMessageContent" && event["delta"] == "deaf");
    client.get("sessions.cancel", &json!({"id": id}));
    client.answer(turn).unwrap();
    let record = stage.record();
    let started = record.iter().filter(|record| matches!(record.event, sepia_scripted_agent::Event::Started { .. }));
    assert_eq!(started.count(), 2);
    assert_eq!(sepia_scripted_agent::received(&record, "session/load").len(), 1);
    assert_ne!(id, STORED);
}

#[test]
fn a_session_that_comes_back_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new().store(folder.path().join("agent")).on_prompt([remember()]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "first"));
    client.turn_events();
    // Its agent is killed between two turns.
    let pid = stage.record()[0].pid;
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    sepia_tests::processes::wait_until_gone(pid);
    client.get("sessions.prompt", &prompt(&id, "second"));
    assert_eq!(text_of(&client.turn_events()), "first\nsecond");
}
