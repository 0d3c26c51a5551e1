//! SC-45: what an agent tells again when it loads a session is history, and no part of a turn.

use sepia_scripted_agent::steps::{error, late, respond, text, update};
use sepia_scripted_agent::{Script, Step};
use sepia_tests::Stage;
use sepia_tests::stage::{STORED, kinds, prompt, text_of};
use serde_json::{Value, json};

fn told_again() -> Vec<Step> {
    let chunk =
        |kind: &str, text: &str| update(json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}));
    vec![
        chunk("user_message_chunk", "old question"),
        chunk("agent_thought_chunk", "old thought"),
        chunk("agent_message_chunk", "old answer"),
        update(json!({"sessionUpdate": "tool_call", "toolCallId": "old", "title": "Old", "rawInput": {"a": 1}})),
        update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "old", "status": "completed", "rawOutput": 1}),
        ),
        chunk("agent_message_chunk", "old end"),
    ]
}

/// Events of the first turn after an attach.
fn turn_after(load: Vec<Step>) -> Vec<Value> {
    let stage = Stage::new(Script::new().on("session/load", load).on_prompt([text("new")])).with_stored();
    let mut client = stage.serve();
    let before = client.get("sessions.history", &json!({"id": STORED}));
    let attached = client.get("sessions.attach", &json!({"id": STORED}));
    assert_eq!((&attached["attached"], &attached["readOnly"]), (&json!(true), &json!(false)));
    client.get("sessions.subscribe", &json!({"id": STORED}));
    client.get("sessions.prompt", &prompt(STORED, "go"));
    assert_eq!(client.get("sessions.history", &json!({"id": STORED})), before, "the store is the history");
    let stored = client.get("sessions.events", &json!({"id": STORED}));
    assert!(!stored.to_string().contains("old"), "{stored}");
    client.turn_events()
}

#[test]
fn whichever_way_it_is_told_again_the_turn_has_what_is_new() {
    let mut open = told_again();
    open.push(update(json!({"sessionUpdate": "tool_call", "toolCallId": "left", "title": "Left"})));
    let mut null = told_again();
    null.push(respond(Value::Null));
    let mut first = vec![respond(json!({}))];
    first.push(late(told_again().into_iter().take(2)));
    for load in [told_again(), open, null, first, vec![respond(json!({}))]] {
        let events = turn_after(load);
        assert_eq!(text_of(&events), "new");
        let kinds = kinds(&events);
        assert_eq!(kinds, ["runStarted", "textMessageStart", "textMessageContent", "textMessageEnd", "runFinished"]);
    }
}

#[test]
fn a_session_that_its_agent_does_not_know_is_an_error_and_no_new_session() {
    let stage = Stage::new(Script::new().on("session/load", [error(-32602, "unknown session")])).with_stored();
    let mut client = stage.serve();
    let (_, code, message) = client.refusal("sessions.attach", &json!({"id": STORED}));
    assert_eq!(code, "internal");
    assert!(message.contains("unknown session"), "{message}");
    assert_eq!(sepia_scripted_agent::received(&stage.record(), "session/new").len(), 0);
    assert_eq!(client.get("events.subscribe", &json!({}))["live"], json!([]));
}

#[test]
fn an_agent_that_does_not_load_is_refused() {
    let stage = Stage::new(Script::new().capabilities(json!({}))).with_stored();
    let mut client = stage.serve();
    let (_, _, message) = client.refusal("sessions.attach", &json!({"id": STORED}));
    assert!(message.contains("does not go on with stored sessions"), "{message}");
}
