//! SC-40: large frames pass, endless ones cost the session that has them.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{raw_repeat, respond, stderr_repeat, text, update};
use sepia_tests::Stage;
use sepia_tests::stage::{prompt, text_of};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn an_update_of_30_mib_reaches_the_client() {
    let image = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed",
        "content": [{"type": "content", "content": {"type": "image", "data": "${fill:31457280}", "mimeType": "image/png"}}]});
    let stage = Stage::new(Script::new().on_prompt([update(image), text("shown")]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    let events = client.turn_events();
    let end = events.iter().find(|event| event["type"] == "toolCallEnd").unwrap();
    assert_eq!(end["contents"][0]["data"].as_str().unwrap().len(), 31_457_280);
    assert_eq!(text_of(&events), "shown");
    let stored = client.get("sessions.events", &json!({"id": id}));
    assert!(stored.to_string().len() < 1 << 20, "the log keeps the beginning of what is that large");
}

#[test]
fn a_response_of_9_mib_is_taken() {
    let answer = json!({"stopReason": "end_turn", "_meta": {"x": "${fill:9437184}"}});
    let stage = Stage::new(Script::new().on_prompt([respond(answer)]));
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    assert_eq!(client.get("sessions.prompt", &prompt(&id, "go"))["stopReason"], "end_turn");
}

#[test]
fn a_line_without_end_ends_its_session_and_no_other() {
    let script = Script::new()
        .on_prompt_with("endless", [text("before"), raw_repeat("x".repeat(1 << 20), 600)])
        .on_prompt_with("chat", [text("here")]);
    let stage = Stage::new(script).with("SEPIA_AGENT_FRAME_MB", "40");
    let mut client = stage.serve();
    let (bad, good) = (stage.followed(&mut client), stage.create(&mut client));
    let turn = client.ask("sessions.prompt", &prompt(&bad, "endless"));
    let mut slowest = Duration::ZERO;
    let error = loop {
        let start = Instant::now();
        client.get("sessions.prompt", &prompt(&good, "chat"));
        slowest = slowest.max(start.elapsed());
        if let Some(error) = client.pending().into_iter().find(|frame| frame["id"] == json!(turn)) {
            break error["error"].clone();
        }
    };
    assert!(error["message"].as_str().unwrap().contains("frame too large"), "{error}");
    assert!(slowest < Duration::from_millis(1_000), "{slowest:?}");
    let events = client.turn_events();
    let end = events.last().unwrap();
    assert!(end["error"]["message"].as_str().unwrap().contains("frame too large"), "{end}");
    assert!(end.get("stopReason").is_none());
    let peak = sepia_tests::processes::peak_memory(client.pid());
    assert!(peak < 300 << 20, "{} MiB", peak >> 20);
}

#[test]
fn the_same_before_the_session_is_there() {
    let script = Script::new().on("initialize", [raw_repeat("x".repeat(1 << 20), 600)]);
    let stage = Stage::new(script).with("SEPIA_AGENT_FRAME_MB", "40");
    let mut client = stage.serve();
    let error = client.call("sessions.create", &json!({"cwd": stage.cwd(), "agent": "claude"})).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("frame too large"), "{error}");
    assert_eq!(client.get("sessions.list", &json!({"cwd": stage.cwd()})), json!([]));
}

#[test]
fn a_flood_on_stderr_holds_nothing_up() {
    let script = Script::new().on_prompt([stderr_repeat("e".repeat(1 << 20), 100), text("after")]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    assert_eq!(text_of(&client.turn_events()), "after");
    assert!(sepia_tests::processes::peak_memory(client.pid()) < 200 << 20);
}
