//! Sessions that outlive a process.

use crate::client::{Client, chunk, folder, thought, user};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{
    kill_self, remember, replay, respond, text, text_in_chunks, thought as think, tool, wait_for_cancel,
};
use serde_json::{Value, json};
use std::path::Path;

fn script(folder: &Path) -> Script {
    Script::new().store(folder.join("store"))
}

fn loaded(client: &mut Client, session: &str) -> (Vec<Value>, Value) {
    let (frames, answer) = client.call("session/load", &json!({"sessionId": session, "cwd": "/w", "mcpServers": []}));
    (crate::client::updates(&frames, session), answer)
}

#[test]
fn another_process_replays_lists_and_deletes() {
    let folder = folder();
    let steps = [think("hm"), text_in_chunks("hello", 3), tool("t", "ls", "x"), text("end")];
    let (mut client, session) = Client::open(script(folder.path()).on_prompt(steps), folder.path());
    let (live, _) = client.prompt(&session, "first");
    drop(client);

    let mut client = Client::start(script(folder.path()).on_prompt([remember()]), folder.path());
    let (replayed, answer) = loaded(&mut client, &session);
    let mut expected = vec![user("first"), thought("hm"), chunk("hello")];
    expected.extend_from_slice(&live[4..]);
    assert_eq!(replayed, expected);
    assert_eq!(replayed.len(), 7);
    assert_eq!(answer["result"]["modes"]["currentModeId"], "default");
    assert_eq!(client.prompt(&session, "second").0, [chunk("first\nsecond")]);
    drop(client);

    let mut client = Client::start(script(folder.path()), folder.path());
    let rows = |client: &mut Client, cwd: &str| {
        client.call("session/list", &json!({"cwd": cwd})).1["result"]["sessions"].as_array().unwrap().clone()
    };
    let listed = rows(&mut client, "/w");
    assert_eq!(listed.len(), 1);
    let row = &listed[0];
    assert_eq!([&row["sessionId"], &row["cwd"], &row["title"]], [&json!(session), &json!("/w"), &json!("first")]);
    assert_eq!(row["updatedAt"].as_str().unwrap().len(), "2026-01-01T00:00:00.000Z".len());
    assert!(rows(&mut client, "/elsewhere").is_empty());
    assert_eq!(client.call("session/delete", &json!({"sessionId": session})).1["result"], json!({}));
    assert!(rows(&mut client, "/w").is_empty());
    assert_eq!(loaded(&mut client, &session).1["error"]["code"], -32002);
}

#[test]
fn a_turn_that_was_broken_off_is_kept_as_far_as_it_came() {
    for last in [kill_self(), wait_for_cancel()] {
        let folder = folder();
        let (mut client, session) = Client::open(script(folder.path()).on_prompt([text("a"), last]), folder.path());
        client.send_prompt(&session, "x");
        client.frame();
        client.close_stdin();
        client.ended();
        let mut client = Client::start(script(folder.path()), folder.path());
        assert_eq!(loaded(&mut client, &session).0, [user("x"), chunk("a")]);
    }
}

#[test]
fn a_scripted_load_can_replay_what_is_kept() {
    let folder = folder();
    let (mut client, session) = Client::open(script(folder.path()).on_prompt([text("a")]), folder.path());
    client.prompt(&session, "x");
    drop(client);
    let script = script(folder.path()).on("session/load", [text("before"), replay(), respond(json!(null))]);
    let mut client = Client::start(script, folder.path());
    let (replayed, answer) = loaded(&mut client, &session);
    assert_eq!(replayed, [chunk("before"), user("x"), chunk("a")]);
    assert_eq!(answer["result"], json!(null));
    assert_eq!(client.prompt(&session, "y").1["result"]["stopReason"], "end_turn");
}

#[test]
fn a_closed_session_is_still_in_the_store() {
    let folder = folder();
    let (mut client, session) = Client::open(script(folder.path()), folder.path());
    client.prompt(&session, "x");
    assert_eq!(client.call("session/close", &json!({"sessionId": session})).1["result"], json!({}));
    let (_, answer) = client.prompt(&session, "y");
    assert_eq!(answer["error"]["code"], -32002);
    assert_eq!(client.call("session/resume", &json!({"sessionId": session})).0, [] as [Value; 0]);
    assert_eq!(client.prompt(&session, "z").0[1], chunk("You said: z"));
}
