//! Prompts, from the first to the last.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{failed_tool, remember, text, text_in_chunks, thought, tool, wait_for_file};
use sepia_tests::Stage;
use sepia_tests::stage::{kinds, prompt, text_of};
use serde_json::json;

#[test]
fn a_session_is_created_prompted_and_let_go() {
    let script = Script::new().session_id("s-1").on_prompt([
        thought("hm"),
        text_in_chunks("I read it.", 3),
        tool("t1", "Read a", "content of a"),
        text("Done."),
    ]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let node = client.get("events.subscribe", &json!({}));
    assert_eq!(node, json!({"subscribed": true, "live": []}));
    let created = client.get("sessions.create", &json!({"cwd": stage.cwd(), "agent": "claude", "title": "Mine"}));
    assert_eq!((&created["id"], &created["agentId"]), (&json!("s-1"), &json!("claude")));
    assert_eq!(created["capabilities"]["loadSession"], true);
    let marker = client.notification("node.event");
    assert_eq!(marker, json!({"type": "created", "sessionId": "s-1", "agentId": "claude", "cwd": stage.cwd()}));

    let rows = client.get("sessions.list", &json!({"cwd": stage.cwd()}));
    let row = &rows[0];
    assert_eq!((&row["id"], &row["title"], &row["source"]), (&json!("s-1"), &json!("Mine"), &json!("sepia")));
    assert_eq!(row["busy"], false);
    let page = client.get("sessions.history", &json!({"id": "s-1"}));
    assert_eq!(page, json!({"messages": [], "total": 0, "start": 0}));

    let subscribed = client.get("sessions.subscribe", &json!({"id": "s-1"}));
    assert_eq!(subscribed, json!({"subscribed": true, "sessionId": "s-1"}));
    let ended = client.get("sessions.prompt", &prompt("s-1", "read a"));
    assert_eq!(ended["stopReason"], "end_turn");
    let events = client.turn_events();
    assert_eq!(
        kinds(&events),
        [
            "runStarted",
            "reasoningMessageStart",
            "reasoningMessageContent",
            "reasoningMessageEnd",
            "textMessageStart",
            "textMessageContent",
            "textMessageContent",
            "textMessageContent",
            "textMessageEnd",
            "toolCallStart",
            "toolCallArgs",
            "toolCallEnd",
            "textMessageStart",
            "textMessageContent",
            "textMessageEnd",
            "runFinished",
        ]
    );
    assert_eq!(text_of(&events), "I read it.Done.");
    assert_eq!(events.last().unwrap()["stopReason"], "end_turn");
    assert_eq!(events[0]["threadId"], "s-1");

    client.get("sessions.detach", &json!({"id": "s-1"}));
    loop {
        let event = client.notification("node.event");
        if event["type"] == "detached" {
            assert_eq!(event["reason"], "explicit");
            break;
        }
        assert_eq!(event["type"], "sessionEvents");
    }
    let (_, code, _) = client.refusal("sessions.prompt", &prompt("s-1", "again"));
    assert_eq!(code, "invalid");
    client.get("sessions.detach", &json!({"id": "s-1"}));
    assert!(client.finish().status.success());
}

#[test]
fn a_second_prompt_is_busy_and_a_later_one_goes_on() {
    let stage_gate = "gate";
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join(stage_gate);
    let script = Script::new().on_prompt([text("one"), wait_for_file(&gate)]).on_prompt([remember()]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let first = client.ask("sessions.prompt", &prompt(&id, "first"));
    client.events_until(|event| event["type"] == "textMessageContent");
    let rows = client.get("sessions.list", &json!({"cwd": stage.cwd()}));
    assert_eq!(rows[0]["busy"], true);
    let (number, code, _) = client.refusal("sessions.prompt", &prompt(&id, "second"));
    assert_eq!((number, code.as_str()), (-32002, "busy"));
    std::fs::write(&gate, b"").unwrap();
    assert_eq!(client.answer(first).unwrap()["stopReason"], "end_turn");
    client.turn_events();
    client.get("sessions.prompt", &prompt(&id, "third"));
    assert_eq!(text_of(&client.turn_events()), "first\nthird");
}

#[test]
fn a_tool_that_fails_is_told_as_such_and_what_is_left_open_is_closed() {
    use sepia_scripted_agent::steps::open_tool;
    let script = Script::new().on_prompt([failed_tool("t1", "Bad", "no such file"), open_tool("t2", "Left")]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    let events = client.turn_events();
    let ends: Vec<_> = events.iter().filter(|event| event["type"] == "toolCallEnd").collect();
    assert_eq!((&ends[0]["toolCallId"], &ends[0]["status"]), (&json!("t1"), &json!("failed")));
    assert_eq!((&ends[1]["toolCallId"], ends[1].get("status")), (&json!("t2"), None));
}

#[test]
fn what_an_agent_can_not_take_is_refused_before_it_is_sent() {
    let script = Script::new().capabilities(json!({"loadSession": true, "promptCapabilities": {}}));
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    for part in [
        json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
        json!({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}),
    ] {
        let (_, code, _) = client.refusal("sessions.prompt", &json!({"id": id, "parts": [part]}));
        assert_eq!(code, "invalid");
    }
    let (_, code, _) = client.refusal("sessions.prompt", &json!({"id": id, "parts": []}));
    assert_eq!(code, "invalid");
    let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
    client.get("sessions.prompt", &json!({"id": id, "parts": [link]}));
}

#[test]
fn what_can_not_be_created_says_why() {
    let stage = Stage::new(Script::new()).with("SEPIA_AGENT_DEVIN_COMMAND", "no-such-program-here acp");
    let mut client = stage.serve();
    let refused =
        |client: &mut sepia_tests::Client, params: serde_json::Value| client.refusal("sessions.create", &params);
    let (_, code, _) = refused(&mut client, json!({"cwd": "relative", "agent": "claude"}));
    assert_eq!(code, "invalid");
    let (_, code, _) = refused(&mut client, json!({"cwd": "/no/such/place", "agent": "claude"}));
    assert_eq!(code, "invalid");
    let (_, code, _) = refused(&mut client, json!({"cwd": stage.cwd(), "agent": "nobody"}));
    assert_eq!(code, "unknown_agent");
    let (_, code, message) = refused(&mut client, json!({"cwd": stage.cwd(), "agent": "devin"}));
    assert_eq!(code, "unknown_agent");
    assert!(message.contains("no-such-program-here") && message.contains("SEPIA_AGENT_DEVIN_COMMAND"), "{message}");
    let agents = client.get("agents.list", &json!({}));
    let of = |id: &str| agents.as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap().clone();
    assert_eq!(of("claude")["runtime"]["installed"], true);
    assert_eq!(of("devin")["runtime"]["installed"], false);
    assert!(of("devin")["runtime"]["program"].is_null());
}

#[test]
fn what_is_sent_in_one_write_reaches_the_session_in_order() {
    use sepia_scripted_agent::steps::wait_for_cancel;
    let script = Script::new().on_prompt([text("working"), wait_for_cancel()]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    for _ in 0..20 {
        let line = |id: u64, method: &str, params: serde_json::Value| {
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        };
        // A prompt and the end of it: in the other order the turn would never end.
        client.send_raw(
            line(1_000, "sessions.prompt", prompt(&id, "go")) + &line(1_001, "sessions.cancel", json!({"id": id})),
        );
        assert_eq!(client.answer(1_001).unwrap(), serde_json::Value::Null);
        assert_eq!(client.answer(1_000).unwrap()["stopReason"], "cancelled");
    }
}

#[test]
fn an_answer_comes_after_everything_that_happened_in_its_turn() {
    use sepia_scripted_agent::steps::flood;
    let stage = Stage::new(Script::new().on_prompt([flood(300, 20)]));
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    for _ in 0..10 {
        let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
        let mut ended = false;
        loop {
            let frame = client.next_answer();
            if frame["id"] == json!(turn) {
                break;
            }
            let events = frame["params"]["events"].as_array().unwrap();
            ended |= events.iter().any(|event| event["type"] == "runFinished");
        }
        assert!(ended, "the end of the turn comes before the answer");
    }
}

#[test]
fn what_an_agent_says_between_two_turns_is_part_of_neither() {
    use sepia_scripted_agent::steps::{late, wait_for_file};
    let folder = tempfile::tempdir().unwrap();
    let gate = folder.path().join("gate");
    let script =
        Script::new().on_prompt([text("one"), late([wait_for_file(&gate), text("stray")])]).on_prompt([text("two")]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    client.get("sessions.prompt", &prompt(&id, "go"));
    client.turn_events();
    std::fs::write(&gate, b"").unwrap();
    client.events_until(|event| event["delta"] == "stray");
    client.get("sessions.prompt", &prompt(&id, "go"));
    let events = client.turn_events();
    let started = kinds(&events).iter().position(|kind| *kind == "runStarted").unwrap();
    assert_eq!(kinds(&events)[..started], ["textMessageEnd"], "the stray message is whole before the turn");
    assert_eq!(text_of(&events[started..]), "two");
}
