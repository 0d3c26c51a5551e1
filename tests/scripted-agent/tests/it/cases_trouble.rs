//! Scripts for an agent that dies in a turn (SC-41), and for questions that nobody answers (SC-44).

use crate::client::{Client, chunk, command, folder, stopped, updates};
use sepia_scripted_agent::steps::{
    close_stdin, close_stdout, exit, kill_self, permission, request, respond_and_exit, stderr, text, wait_for_cancel,
};
use sepia_scripted_agent::{Event, Script, Step};
use serde_json::{Value, json};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

/// A client whose turn has come to its second chunk.
fn after_two_chunks(end: impl IntoIterator<Item = Step>, folder: &std::path::Path) -> Client {
    let steps = [text("a"), text("b")].into_iter().chain(end);
    let mut command = command(Script::new().on_prompt(steps), folder);
    command.stderr(Stdio::piped());
    let mut client = Client::of(command, folder);
    let session = client.new_session();
    client.send_prompt(&session, "x");
    let frames = [client.frame(), client.frame()];
    assert_eq!(updates(&frames, &session), [chunk("a"), chunk("b")]);
    client
}

#[test]
fn sc_41_it_exits_or_is_killed_in_a_turn() {
    let (first, second) = (folder(), folder());
    let mut client = after_two_chunks([stderr("boom"), exit(3)], first.path());
    assert_eq!((client.line(), client.ended().code()), (None, Some(3)));
    let mut said = String::new();
    client.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "boom");
    let mut client = after_two_chunks([kill_self()], second.path());
    assert_eq!((client.line(), client.ended().signal()), (None, Some(9)));
}

#[test]
fn sc_41_a_pipe_ends_and_it_lives() {
    let (first, second) = (folder(), folder());
    let mut client = after_two_chunks([close_stdout(), wait_for_cancel()], first.path());
    assert_eq!(client.line(), None);
    assert_eq!(client.child.try_wait().unwrap(), None);
    let mut client = after_two_chunks([close_stdin(), text("closed"), wait_for_cancel()], second.path());
    assert_eq!(client.frame()["params"]["update"], chunk("closed"));
    assert_eq!(client.write(b"{}\n").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(client.child.try_wait().unwrap(), None);
}

#[test]
fn sc_41_it_exits_while_it_asks_or_starts_or_right_after_its_answer() {
    let (first, second, third) = (folder(), folder(), folder());
    let mut client = after_two_chunks([permission("t", "ls").without_waiting().step(), exit(3)], first.path());
    assert_eq!(client.frame()["method"], "session/request_permission");
    assert_eq!((client.line(), client.ended().code()), (None, Some(3)));
    let mut client = Client::start(Script::new().on("initialize", [exit(3)]), second.path());
    client.request("initialize", &json!({"protocolVersion": 1}));
    assert_eq!((client.line(), client.ended().code()), (None, Some(3)));
    let mut client = after_two_chunks([respond_and_exit(0)], third.path());
    assert_eq!(client.frame(), stopped(2, "end_turn"));
    assert_eq!((client.line(), client.ended().code()), (None, Some(0)));
}

#[test]
fn sc_44_permissions_and_methods_that_nobody_knows() {
    let folder = folder();
    let options = [("allow_once", "allow_once"), ("reject_once", "reject_once")];
    let script = Script::new()
        .on_prompt([permission("t", "ls")
            .options(options)
            .when_selected("allow_once", [text("allowed")])
            .when_selected("reject_once", [text("rejected")])
            .otherwise([text("bogus")])
            .step()])
        .on_prompt([permission("t", "ls").options([]).when_cancelled([text("cancelled")]).step()])
        .on_prompt([request("x/unknown", json!({})), request("fs/read_text_file", json!({"path": "/x"})), text("on")]);
    let (mut client, session) = Client::open(script, folder.path());

    let id = client.send_prompt(&session, "x");
    let asked = client.frame();
    let expected = json!([
        {"optionId": "allow_once", "name": "allow_once", "kind": "allow_once"},
        {"optionId": "reject_once", "name": "reject_once", "kind": "reject_once"},
    ]);
    assert_eq!(asked["params"]["options"], expected);
    client.answer(&asked["id"], &json!({"outcome": {"outcome": "selected", "optionId": "reject_once"}}));
    assert_eq!(updates(&client.until_answer(id).0, &session), [chunk("rejected")]);

    let id = client.send_prompt(&session, "x");
    let asked = client.frame();
    assert_eq!(asked["params"]["options"], json!([]));
    client.answer(&asked["id"], &json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(updates(&client.until_answer(id).0, &session), [chunk("cancelled")]);

    let id = client.send_prompt(&session, "x");
    for method in ["x/unknown", "fs/read_text_file"] {
        let asked: Value = client.frame();
        assert_eq!(asked["method"], method);
        let error = json!({"code": -32601, "message": "no"});
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
    }
    assert_eq!(updates(&client.until_answer(id).0, &session), [chunk("on")]);
    let records = client.records();
    let answers: Vec<&str> = records
        .iter()
        .filter_map(|record| match &record.event {
            Event::Answered { method, .. } => method.as_deref(),
            _ => None,
        })
        .collect();
    let permission = "session/request_permission";
    assert_eq!(answers, [permission, permission, "x/unknown", "fs/read_text_file"]);
}
