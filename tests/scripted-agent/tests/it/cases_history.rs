//! Scripts for what a load replays (SC-45).

use crate::client::{Client, chunk, folder, stopped, thought, user};
use sepia_scripted_agent::steps::{error, late, open_tool, replay, respond, text, update};
use sepia_scripted_agent::{Script, Step};
use serde_json::{Value, json};

fn history() -> Vec<Value> {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "ls", "status": "pending"});
    let end = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"});
    vec![user("q"), thought("hm"), call, end, chunk("a"), chunk("b")]
}

/// What comes with the answer to `session/load`, the answer, and what a prompt gives after it.
fn load(steps: impl IntoIterator<Item = Step>, after: usize) -> (Vec<Value>, Value, Vec<Value>, Value) {
    let folder = folder();
    let script = Script::new().on("session/load", steps).on_prompt([text("new")]);
    let mut client = Client::start(script, folder.path());
    let (frames, answer) = client.call("session/load", &json!({"sessionId": "s", "cwd": "/w", "mcpServers": []}));
    let late: Vec<Value> = (0..after).map(|_| client.frame()).collect();
    let replayed = [crate::client::updates(&frames, "s"), crate::client::updates(&late, "s")].concat();
    let (turn, stop) = client.prompt("s", "x");
    (replayed, answer, turn, stop)
}

#[test]
fn sc_45_replay_and_null() {
    let steps = history().into_iter().map(update).chain([respond(json!(null))]);
    let (replayed, answer, turn, stop) = load(steps, 0);
    assert_eq!(replayed, history());
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": null}));
    assert_eq!((turn, stop), (vec![chunk("new")], stopped(2, "end_turn")));
}

#[test]
fn sc_45_two_updates_after_the_result() {
    let last = history().split_off(4);
    let (replayed, answer, turn, _) = load([late(last.iter().cloned().map(update))], 2);
    assert!(answer["result"]["modes"].is_object(), "{answer}");
    assert_eq!((replayed, turn), (last, vec![chunk("new")]));
}

#[test]
fn sc_45_no_replay() {
    let (replayed, answer, turn, _) = load([respond(json!({}))], 0);
    assert_eq!(answer["result"], json!({}));
    assert_eq!((replayed, turn), (vec![], vec![chunk("new")]));
    assert_eq!(load([replay()], 0).0, [] as [Value; 0]);
}

#[test]
fn sc_45_an_error_makes_no_session() {
    let (replayed, answer, turn, stop) = load([error(-32602, "unknown session")], 0);
    assert_eq!(answer["error"], json!({"code": -32602, "message": "unknown session"}));
    assert_eq!((replayed.len(), turn.len(), &stop["error"]["code"]), (0, 0, &json!(-32002)));
}

#[test]
fn sc_45_the_last_tool_call_is_open() {
    let steps = history().into_iter().take(2).map(update).chain([open_tool("t", "ls")]);
    let (replayed, _, turn, _) = load(steps, 0);
    let states: Vec<&Value> = replayed[2..].iter().map(|update| &update["status"]).collect();
    assert_eq!(states, ["pending", "in_progress"]);
    assert_eq!(turn, [chunk("new")]);
}
