//! SC-44: every request of an agent is answered, once, by whoever may.

use sepia_scripted_agent::steps::{permission, request, text};
use sepia_scripted_agent::{Event, Script};
use sepia_tests::stage::{prompt, text_of};
use sepia_tests::{Client, Stage};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn asking() -> Script {
    let ask = permission("t1", "Write a file")
        .options([("ok", "allow_once"), ("no", "reject_once")])
        .when_selected("ok", [text("allowed")])
        .when_selected("no", [text("refused")])
        .when_cancelled([text("given up")]);
    Script::new().on_prompt([ask.step()])
}

/// The request, and what the client is told of it.
fn asked(client: &mut Client) -> Value {
    let is_request = |event: &Value| event["name"] == "acp:permission_request";
    let events = client.events_until(is_request);
    events.into_iter().find(is_request).unwrap()["value"].clone()
}

#[test]
fn an_answer_reaches_the_agent_and_the_first_one_counts() {
    let stage = Stage::new(asking());
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    for (option, said) in [("ok", "allowed"), ("no", "refused")] {
        let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
        let value = asked(&mut client);
        assert_eq!((&value["title"], &value["toolCallId"]), (&json!("Write a file"), &json!("t1")));
        let request = value["requestId"].as_str().unwrap().to_owned();
        assert!(request.starts_with(&format!("{id}:t1:")), "{request}");
        let rows = client.get("sessions.list", &json!({"cwd": stage.cwd()}));
        assert_eq!(rows[0]["permissions"][0]["requestId"], request.as_str());

        let answer = |option: Value| json!({"id": id, "request": request, "option": option});
        let (_, code, message) = client.refusal("sessions.permission", &answer(json!("nope")));
        assert_eq!(code, "invalid");
        assert!(message.contains("ok, no"), "{message}");
        client.get("sessions.permission", &answer(json!(option)));
        let (_, code, message) = client.refusal("sessions.permission", &answer(json!("ok")));
        assert_eq!(code, "conflict");
        assert!(message.contains("already decided"), "{message}");
        client.answer(turn).unwrap();
        assert_eq!(text_of(&client.turn_events()), said);
    }
    let unknown = json!({"id": id, "request": "x", "option": "ok"});
    assert_eq!(client.refusal("sessions.permission", &unknown).1, "not_found");
}

#[test]
fn no_option_at_all_gives_it_up() {
    let stage = Stage::new(asking());
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
    let request = asked(&mut client)["requestId"].clone();
    client.get("sessions.permission", &json!({"id": id, "request": request, "option": null}));
    client.answer(turn).unwrap();
    assert_eq!(text_of(&client.turn_events()), "given up");
}

#[test]
fn where_nobody_follows_it_is_refused_within_a_second() {
    let stage = Stage::new(asking());
    let mut client = stage.serve();
    let id = stage.create(&mut client);
    let start = Instant::now();
    client.get("sessions.prompt", &prompt(&id, "go"));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let stored = client.get("sessions.events", &json!({"id": id}));
    let answered = stored["events"].as_array().unwrap().iter().find(|event| event["type"] == "permissionAnswered");
    let data = &answered.unwrap()["data"];
    assert_eq!((&data["optionId"], &data["by"]), (&json!("no"), &json!("nobody")));
}

#[test]
fn a_silent_client_is_waited_for_as_long_as_is_set() {
    let stage = Stage::new(asking()).with("SEPIA_PERMISSION_TTL_MS", "300");
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let start = Instant::now();
    client.get("sessions.prompt", &prompt(&id, "go"));
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    assert_eq!(text_of(&client.turn_events()), "refused");
}

#[test]
fn who_comes_later_is_asked_too() {
    let stage = Stage::new(asking());
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
    let first = asked(&mut client);
    client.get("sessions.subscribe", &json!({"id": id}));
    let second = asked(&mut client);
    assert_eq!(first, second);
    client.get("sessions.permission", &json!({"id": id, "request": first["requestId"], "option": "ok"}));
    client.answer(turn).unwrap();
}

#[test]
fn a_request_with_nothing_to_choose_and_one_that_nobody_knows_are_answered_at_once() {
    let nothing = permission("t1", "x").raw_options(json!([])).when_cancelled([text("given up;")]).step();
    let script = Script::new().on_prompt([
        nothing,
        request("x/unknown", json!({})),
        request("fs/read_text_file", json!({"path": "/etc/passwd"})),
        request("terminal/create", json!({"command": "ls"})),
        text("still here"),
    ]);
    let stage = Stage::new(script);
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let start = Instant::now();
    client.get("sessions.prompt", &prompt(&id, "go"));
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(text_of(&client.turn_events()), "given up;still here");
    let answers: Vec<i64> =
        stage.record().iter().filter_map(|record| record.event.frame()?["error"]["code"].as_i64()).collect();
    assert_eq!(answers, [-32601, -32601, -32601]);
}

#[test]
fn a_cancelled_turn_gives_up_what_was_asked() {
    let stage = Stage::new(asking());
    let mut client = stage.serve();
    let id = stage.followed(&mut client);
    let turn = client.ask("sessions.prompt", &prompt(&id, "go"));
    let request = asked(&mut client)["requestId"].clone();
    client.get("sessions.cancel", &json!({"id": id}));
    assert_eq!(client.answer(turn).unwrap()["stopReason"], "cancelled");
    // It hears of the cancel first: one that hears the answer first goes on with its turn.
    let gives_up =
        |event: &Event| event.frame().is_some_and(|frame| frame["result"]["outcome"]["outcome"] == "cancelled");
    let told = stage.record_with(gives_up);
    let cancel = told.iter().position(|record| record.event.method() == Some("session/cancel"));
    let answer = told.iter().position(|record| gives_up(&record.event));
    assert!(cancel.is_some() && cancel < answer, "{told:#?}");
    let late = json!({"id": id, "request": request, "option": "ok"});
    assert_eq!(client.refusal("sessions.permission", &late).1, "conflict");
    let rows = client.get("sessions.list", &json!({"cwd": stage.cwd()}));
    assert!(rows[0].get("permissions").is_none(), "{rows}");
}
