//! SC-48: who reads loses nothing, who does not is told exactly what.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::script::flood_text;
use sepia_scripted_agent::steps::{flood, text};
use sepia_tests::Stage;
use sepia_tests::stage::{prompt, text_of};
use serde_json::{Value, json};

/// All pieces of a flood.
fn flooded(pieces: u64, bytes: usize) -> String {
    let mut text = Vec::new();
    (1..=pieces).for_each(|number| flood_text(number, bytes, &mut text));
    String::from_utf8(text).unwrap()
}

#[test]
fn two_subscriptions_to_one_session_tell_everything_twice() {
    let stage = Stage::new(Script::new().on_prompt([text("a")]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.subscribe", &json!({"id": id}));
    client.get("sessions.prompt", &prompt(&id, "go"));
    let (mut ends, mut texts) = (0, 0);
    while ends < 2 {
        let params = client.notification("session.event");
        for event in params["events"].as_array().unwrap() {
            ends += usize::from(event["type"] == "runFinished");
            texts += usize::from(event["type"] == "textMessageContent");
        }
    }
    assert_eq!(texts, 2);
}

#[test]
fn a_client_that_reads_gets_every_piece_in_order() {
    const PIECES: u64 = 20_000;
    let stage = Stage::new(Script::new().on_prompt([flood(PIECES, 40)]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("events.subscribe", &json!({}));
    client.ask("sessions.prompt", &prompt(&id, "go"));
    let expected = flooded(PIECES, 40);
    let (mut of_session, mut of_node, mut ends) = (String::new(), String::new(), 0);
    while ends < 2 {
        let frame = client.next_answer();
        let params = &frame["params"];
        assert!(params["lagged"].is_null() && params["type"] != "lagged", "{frame}");
        let Some(events) = params["events"].as_array() else { continue };
        let text = if frame["method"] == "node.event" { &mut of_node } else { &mut of_session };
        text.push_str(&text_of(events));
        ends += events.iter().filter(|event| event["type"] == "runFinished").count();
    }
    assert!(of_session == expected && of_node == expected);
}

#[test]
fn a_client_that_stops_reading_slows_nobody_and_can_read_again_what_it_missed() {
    const PIECES: u64 = 50_000;
    let folder = tempfile::tempdir().unwrap();
    let done = folder.path().join("done");
    let script = Script::new().on_prompt([flood(PIECES, 200), sepia_scripted_agent::steps::touch(&done)]);
    let stage = Stage::new(script);
    // Its output is a pipe that nobody reads for a while.
    let mut silent = sepia_tests::client::Silent::start(stage.machine.command(&["serve"]));
    let cwd = stage.cwd();
    silent.ask("sessions.create", &json!({"cwd": cwd, "agent": "claude"}));
    let id = silent.next_frame()["result"]["id"].as_str().unwrap().to_owned();
    silent.ask("sessions.subscribe", &json!({"id": id}));
    silent.next_frame();
    silent.ask("sessions.prompt", &prompt(&id, "go"));
    // The agent comes to its end although nobody reads.
    sepia_tests::processes::wait_until("the agent said everything", || done.exists());
    let (mut told, mut lost, mut batches) = (String::new(), 0, 0);
    loop {
        let frame = silent.next_frame();
        let params = &frame["params"];
        if frame["method"] != "session.event" {
            continue;
        }
        if let Some(count) = params["lagged"].as_u64() {
            assert_eq!(params["events"], json!([]));
            lost += count;
            continue;
        }
        batches += 1;
        let events = params["events"].as_array().unwrap();
        told.push_str(&text_of(events));
        if events.iter().any(|event: &Value| event["type"] == "runFinished") {
            break;
        }
    }
    assert!(lost > 0, "it was not slow enough for this test");
    // One batch a piece, the beginning of the turn, and its end with that of the message.
    assert_eq!(lost + batches, PIECES + 2, "{lost} lost, {batches} told");
    silent.ask("sessions.events", &json!({"id": id}));
    let stored = loop {
        let frame = silent.next_frame();
        if frame.get("result").is_some_and(|result| result.get("events").is_some()) {
            break frame["result"]["events"].clone();
        }
    };
    let whole: String = stored
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "messageComplete")
        .map(|event| event["data"]["text"].as_str().unwrap())
        .collect();
    let expected = flooded(PIECES, 200);
    assert_eq!(whole, expected);
    assert!(expected.ends_with(&told[told.len() - 1_000..]));
}
