//! Steps about the answer.

use crate::client::{Client, chunk, folder, stopped, updates};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{echo, error, error_with, repeat, respond, text, wait_for_cancel, wait_for_file};
use serde_json::json;

#[test]
fn results_and_errors_are_sent_where_they_are_in_the_steps() {
    let folder = folder();
    let script = Script::new()
        .on_prompt([text("a"), respond(json!({"stopReason": "refusal", "of": "${id}"})), text("b")])
        .on_prompt([error(-32603, "no"), text("c")])
        .on_prompt([error_with(-32011, "later", json!({"session": "${sessionId}"}))]);
    let (mut client, session) = Client::open(script, folder.path());
    let id = client.send_prompt(&session, "x");
    assert_eq!(updates(&[client.frame()], &session), [chunk("a")]);
    let result = json!({"stopReason": "refusal", "of": id});
    assert_eq!(client.frame(), json!({"jsonrpc": "2.0", "id": id, "result": result}));
    assert_eq!(updates(&[client.frame()], &session), [chunk("b")]);

    let answer = client.prompt(&session, "x").1;
    assert_eq!(answer["error"], json!({"code": -32603, "message": "no"}));
    assert_eq!(updates(&[client.frame()], &session), [chunk("c")]);
    let answer = client.prompt(&session, "x").1;
    assert_eq!(answer["error"], json!({"code": -32011, "message": "later", "data": {"session": session}}));
}

#[test]
fn reactions_are_taken_in_turn_and_by_text() {
    let folder = folder();
    let script = Script::new()
        .on_prompt([text("1")])
        .on_prompt_with("red", [text("matched")])
        .on_prompt([repeat(2, [text("2")])])
        .on("x/y", [respond(json!(1))])
        .on("x/y", [respond(json!(2))])
        .on("authenticate", [error(-32000, "signed out")]);
    let (mut client, session) = Client::open(script, folder.path());
    let mut said = |text: &str| client.prompt(&session, text).0;
    assert_eq!(said("blue"), [chunk("1")]);
    assert_eq!(said("a red one"), [chunk("matched")]);
    assert_eq!(said("blue"), [chunk("2"), chunk("2")]);
    assert_eq!(said("blue"), [chunk("2"), chunk("2")]);
    let mut result = || client.call("x/y", &json!({})).1["result"].clone();
    assert_eq!([result(), result(), result()], [json!(1), json!(2), json!(2)]);
    assert_eq!(client.call("authenticate", &json!({})).1["error"]["code"], -32000);
}

#[test]
fn notifications_have_reactions_too() {
    let folder = folder();
    let script = Script::new()
        .on_prompt([wait_for_cancel()])
        .on("session/cancel", [text("noticed")])
        .on("x/told", [text("told"), respond(json!("to nobody"))]);
    let (mut client, session) = Client::open(script, folder.path());
    client.send(&json!({"jsonrpc": "2.0", "method": "x/told", "params": {"sessionId": session}}));
    assert_eq!(updates(&[client.frame()], &session), [chunk("told")]);
    let id = client.send_prompt(&session, "x");
    client.cancel(&session);
    let frames = [client.frame(), client.frame()];
    assert!(frames.contains(&stopped(id, "cancelled")), "{frames:?}");
    assert!(frames.iter().any(|frame| frame["params"]["update"] == chunk("noticed")), "{frames:?}");
}

#[test]
fn prompts_of_different_sessions_run_at_the_same_time() {
    let folder = folder();
    let gate = folder.path().join("gate");
    let script = Script::new().on_prompt_with("wait", [wait_for_file(&gate), text("done")]).on_prompt([echo()]);
    let (mut client, slow) = Client::open(script, folder.path());
    let quick = client.new_session();
    let waiting = client.send_prompt(&slow, "wait");
    let id = client.send_prompt(&quick, "hi");
    assert_eq!(updates(&[client.frame()], &quick), [chunk("hi")]);
    assert_eq!(client.frame(), stopped(id, "end_turn"));
    std::fs::write(gate, "").unwrap();
    assert_eq!(updates(&[client.frame()], &slow), [chunk("done")]);
    assert_eq!(client.frame(), stopped(waiting, "end_turn"));
}
