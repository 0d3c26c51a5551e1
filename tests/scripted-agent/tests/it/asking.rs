//! Steps that ask the client.

use crate::client::{Client, chunk, folder, stopped, updates};
use sepia_scripted_agent::steps::{notify, permission, request, request_without_waiting, text};
use sepia_scripted_agent::{Event, Script};
use serde_json::{Value, json};

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[test]
fn each_decision_has_its_steps() {
    let folder = folder();
    let asking = permission("t", "ls")
        .when_selected("allow_once", [text("allowed")])
        .when_cancelled([text("cancelled")])
        .when_refused([text("no outcome")])
        .otherwise([text("something else")]);
    let script = Script::new().on_prompt([asking.step(), text("end")]);
    let (mut client, session) = Client::open(script, folder.path());
    for (number, (result, said)) in (0..).zip([
        (selected("allow_once"), "allowed"),
        (selected("nope"), "something else"),
        (json!({"outcome": {"outcome": "cancelled"}}), "cancelled"),
        (json!(null), "no outcome"),
    ]) {
        let id = client.send_prompt(&session, "x");
        let asked = client.frame();
        let options = json!([
            {"optionId": "allow_once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"},
        ]);
        let call = json!({"toolCallId": "t", "title": "ls", "kind": "execute", "status": "pending"});
        let expected = json!({
            "jsonrpc": "2.0", "id": number, "method": "session/request_permission",
            "params": {"sessionId": session, "toolCall": call, "options": options},
        });
        assert_eq!(asked, expected);
        client.answer(&asked["id"], &result);
        let (frames, answer) = client.until_answer(id);
        assert_eq!(updates(&frames, &session), [chunk(said), chunk("end")]);
        assert_eq!(answer, stopped(id, "end_turn"));
    }
}

#[test]
fn a_cancel_gives_an_open_request_up() {
    let folder = folder();
    let script = Script::new().on_prompt([permission("t", "ls").otherwise([text("never")]).step(), text("never")]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    let asked = client.frame();
    client.cancel(&session);
    assert_eq!(client.frame(), stopped(id, "cancelled"));
    client.answer(&asked["id"], &selected("allow_once"));
    let late = Event::Answered {
        method: Some("session/request_permission".to_owned()),
        id: asked["id"].clone(),
        given_up: true,
    };
    client.wait_for(|event| *event == late);
    client.answer(&json!(99), &json!({}));
    client.wait_for(|event| *event == Event::Answered { method: None, id: json!(99), given_up: false });
}

#[test]
fn requests_wait_or_do_not_and_notifications_never() {
    let folder = folder();
    let script = Script::new().on_prompt([
        request_without_waiting("x/first", json!({"in": "${sessionId}"})),
        permission("t", "ls").without_waiting().step(),
        notify("x/told", json!([1])),
        request("x/second", json!(null)),
        text("end"),
    ]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    let frames: Vec<Value> = (0..4).map(|_| client.frame()).collect();
    let methods: Vec<&str> = frames.iter().map(|frame| frame["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["x/first", "session/request_permission", "x/told", "x/second"]);
    assert_eq!(frames[0]["params"], json!({"in": session}));
    assert_eq!(frames[2], json!({"jsonrpc": "2.0", "method": "x/told", "params": [1]}));
    client.send(&json!({"jsonrpc": "2.0", "id": frames[3]["id"], "error": {"code": -32601, "message": "no"}}));
    let (frames, _) = client.until_answer(id);
    assert_eq!(updates(&frames, &session), [chunk("end")]);
    let answered = Event::Answered { method: Some("x/second".to_owned()), id: json!(2), given_up: false };
    assert!(client.records().iter().any(|record| record.event == answered));
}
