//! Steps that tell something.

use crate::client::{Client, chunk, folder, stopped, thought, updates};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::script::{FloodKind, FloodOf, flood_text};
use sepia_scripted_agent::steps::{
    echo, failed_tool, flood, flood_at, flood_of, message, open_tool, remember, text, text_in_chunks, thought as think,
    tool, update,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn texts_thoughts_and_updates_come_in_their_order() {
    let folder = folder();
    let script = Script::new().on_prompt([
        update(json!({"sessionUpdate": "plan", "for": "${sessionId}", "request": "${id}", "said": "${prompt}"})),
        text("one"),
        text_in_chunks("größe", 2),
        message("m1", "two"),
        think("hm"),
        echo(),
    ]);
    let (mut client, session) = Client::open(script, folder.path());
    let (updates, answer) = client.prompt(&session, "hello");
    let mut with_id = chunk("two");
    with_id["messageId"] = json!("m1");
    let plan = json!({"sessionUpdate": "plan", "for": session, "request": 2, "said": "hello"});
    assert_eq!(updates, [plan, chunk("one"), chunk("gr"), chunk("öße"), with_id, thought("hm"), chunk("hello")]);
    assert_eq!(answer, stopped(2, "end_turn"));
}

#[test]
fn a_tool_call_has_a_start_and_the_end_it_is_to_have() {
    let folder = folder();
    let script =
        Script::new().on_prompt([tool("t1", "Read x", "content"), failed_tool("t2", "ls", "no"), open_tool("t3", "z")]);
    let (mut client, session) = Client::open(script, folder.path());
    let (updates, _) = client.prompt(&session, "x");
    let steps: Vec<(&str, &str, &str)> = updates
        .iter()
        .map(|update| {
            let text = |name: &str| update[name].as_str().unwrap();
            (text("sessionUpdate"), text("toolCallId"), text("status"))
        })
        .collect();
    let (call, change) = ("tool_call", "tool_call_update");
    let expected = [
        (call, "t1", "pending"),
        (change, "t1", "in_progress"),
        (change, "t1", "completed"),
        (call, "t2", "pending"),
        (change, "t2", "in_progress"),
        (change, "t2", "failed"),
        (call, "t3", "pending"),
        (change, "t3", "in_progress"),
    ];
    assert_eq!(steps, expected);
    assert_eq!(updates[0]["title"], "Read x");
    assert_eq!(updates[2]["content"][0]["content"]["text"], "content");
}

/// The numbers and sizes of a flood's chunks.
fn assert_flood(updates: &[Value], count: u64, bytes: usize) {
    assert_eq!(updates.len() as u64, count);
    for (number, update) in (1..).zip(updates) {
        let mut text = Vec::new();
        flood_text(number, bytes, &mut text);
        assert_eq!(update["content"]["text"], String::from_utf8(text).unwrap());
    }
}

#[test]
fn a_flood_loses_nothing_and_keeps_its_order() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new().on_prompt([flood(30_000, 20)]), folder.path());
    let (updates, answer) = client.prompt(&session, "x");
    assert_flood(&updates, 30_000, 20);
    assert_eq!(answer, stopped(2, "end_turn"));
}

#[test]
fn a_flood_can_be_a_thought_of_one_message() {
    let folder = folder();
    let flood = FloodOf { kind: FloodKind::Thought, message_id: Some("\"m\"".to_owned()), ..FloodOf::new(2, 5) };
    let (mut client, session) = Client::open(Script::new().on_prompt([flood_of(flood)]), folder.path());
    let expected = ["1 ...", "2 ..."].map(|text| {
        let mut chunk = thought(text);
        chunk["messageId"] = json!("\"m\"");
        chunk
    });
    assert_eq!(client.prompt(&session, "x").0, expected);
}

#[test]
fn a_limited_flood_takes_its_time_and_a_cancel_ends_it() {
    let folder = folder();
    let script = Script::new().on_prompt([flood_at(1000, 200, 30)]).on_prompt([flood_at(10, 1_000_000, 10)]);
    let (mut client, session) = Client::open(script, folder.path());
    let start = Instant::now();
    let (updates_of_first, _) = client.prompt(&session, "x");
    assert_flood(&updates_of_first, 200, 30);
    assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());

    let id = client.send_prompt(&session, "x");
    let first = client.frame();
    client.cancel(&session);
    let (mut frames, answer) = client.until_answer(id);
    frames.insert(0, first);
    assert_eq!(answer, stopped(id, "cancelled"));
    assert!(updates(&frames, &session).len() < 1000);
}

#[test]
fn an_agent_remembers_what_was_said_in_its_session_alone() {
    let folder = folder();
    let (mut client, session) = Client::open(Script::new().on_prompt([remember()]), folder.path());
    let other = client.new_session();
    assert_eq!(client.prompt(&session, "first").0, [chunk("first")]);
    assert_eq!(client.prompt(&other, "elsewhere").0, [chunk("elsewhere")]);
    assert_eq!(client.prompt(&session, "second").0, [chunk("first\nsecond")]);
}
