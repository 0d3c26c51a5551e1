//! What moves, changes and takes away sessions, as a person types it: `convert`, `rename`, `rewind`, `restore`,
//! `delete`, `trash`.

use sepia_tests::Machine;
use serde_json::{Value, json};
use std::fs;

/// A session of the sample store: three prompts, each with its answer.
const SESSION: &str = "11111111-1111-4111-8111-000000000006";

pub(crate) fn json_of(machine: &Machine, arguments: &[&str]) -> Value {
    serde_json::from_str(&machine.run(arguments).ok()).unwrap()
}

/// Roles, texts and calls of a session, in order.
pub(crate) fn said(machine: &Machine, id: &str) -> Vec<(Value, Value, Value)> {
    let exported = json_of(machine, &["export", id, "--verbatim"]);
    let nodes = exported["session"]["nodes"].as_array().unwrap().iter();
    nodes.map(|node| (node["role"].clone(), node["content"].clone(), node["toolCalls"].clone())).collect()
}

fn titles(machine: &Machine) -> Vec<(String, String)> {
    let rows = json_of(machine, &["list", "--json"]);
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    rows.as_array().unwrap().iter().map(|row| (text(row, "id"), text(row, "title"))).collect()
}

#[test]
fn a_copy_for_another_agent_is_told_with_what_resumes_it_and_a_dry_run_makes_none() {
    let machine = Machine::with_samples();
    let before = titles(&machine);
    let dry = machine.run(&["convert", SESSION, "--to", "cline", "--dry-run"]).ok();
    assert!(dry.starts_with("nothing was written"), "{dry}");
    assert_eq!(titles(&machine), before);
    let told = machine.run(&["convert", SESSION, "--to", "cline"]).ok();
    let (id, rest) = told.split_once(' ').unwrap();
    assert!(rest.starts_with("is a session of cline now\n"), "{told}");
    assert!(told.ends_with(&format!("cline --id {id}\n")), "{told}");
    assert_eq!(said(&machine, id), said(&machine, SESSION));
    let refused = machine.run(&["convert", SESSION, "--to", "nobody"]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("`nobody`") && refused.stderr.contains("cline"), "{}", refused.stderr);
    assert_eq!(machine.run(&["convert", "no-such-session", "--to", "cline"]).code(), 3);
}

#[test]
fn a_session_has_the_title_that_it_is_given() {
    let machine = Machine::with_samples();
    machine.run(&["rename", SESSION, "Another title"]).ok();
    assert!(titles(&machine).contains(&(SESSION.to_owned(), "Another title".to_owned())));
    let refused = machine.run(&["rename", SESSION, "two\nlines"]);
    assert_eq!(refused.code(), 2, "{}", refused.stderr);
}

#[test]
fn prompts_are_taken_back_the_last_first() {
    let machine = Machine::with_samples();
    let before = said(&machine, SESSION);
    assert_eq!(before.len(), 6);
    let dry = machine.run(&["rewind", SESSION, "--turns", "1", "--dry-run"]).ok();
    assert!(dry.contains("would go"), "{dry}");
    assert_eq!(said(&machine, SESSION), before);
    assert!(machine.run(&["show", SESSION]).ok().contains("hello fork"));
    let told = machine.run(&["rewind", SESSION, "--turns", "1"]).ok();
    assert_eq!(told, "2 messages went, 4 stay\n");
    // The agent keeps what was taken back as a branch that is not live.
    assert_eq!(said(&machine, SESSION), before);
    assert!(!machine.run(&["show", SESSION]).ok().contains("hello fork"));
    let refused = machine.run(&["rewind", SESSION, "--turns", "3"]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (1, ""), "two prompts are left");
}

#[test]
fn what_is_deleted_comes_back_as_it_was_until_the_trash_is_emptied() {
    let machine = Machine::with_samples();
    let file = machine.claude().join(format!("projects/-home-dev-shop/{SESSION}.jsonl"));
    let bytes = fs::read(&file).unwrap();
    let would = machine.run(&["delete", SESSION, "--dry-run"]).ok();
    assert!(would.contains("would go") && would.contains(SESSION), "{would}");
    assert!(file.exists());
    machine.run(&["delete", SESSION]).ok();
    assert!(!file.exists());
    assert!(titles(&machine).iter().all(|(id, _)| id != SESSION));
    assert_eq!(machine.run(&["delete", SESSION]).code(), 3);
    let listed = machine.run(&["trash", "list"]).ok();
    let entry = listed.split_whitespace().next().unwrap();
    assert!(listed.contains(SESSION), "{listed}");
    machine.run(&["trash", "restore", entry]).ok();
    assert_eq!(fs::read(&file).unwrap(), bytes);
    machine.run(&["delete", SESSION]).ok();
    assert_eq!(machine.run(&["trash", "empty"]).code(), 1, "it is not taken back, so it is asked for twice");
    machine.run(&["trash", "empty", "--yes"]).ok();
    let empty = machine.run(&["trash", "list"]);
    assert!(empty.status.success() && !empty.stdout.contains(SESSION), "{empty:?}");
    assert!(!file.exists());
}

#[test]
fn a_file_is_shown_before_it_is_brought_back() {
    let machine = Machine::with_samples();
    let work = machine.place("work");
    let file = work.join("a.txt");
    machine.write("work/a.txt", "new\n");
    let call = |name: &str, arguments: Value| {
        json!({"id": "c1", "name": name, "arguments": arguments, "index": 0,
        "kind": "function", "status": "success", "locations": [],
        "diffs": [{"path": file, "oldText": "old\n", "newText": "new\n"}]})
    };
    let session = json!({"session": {
    "id": "x", "title": "Change", "workingDirectory": work, "createdAt": 1.0, "lastActivityAt": 3.0,
    "mainChainId": 3, "backendType": "claude", "model": "m", "nodes": [
        {"nodeId": 1, "role": "user", "content": "Change it", "createdAt": 1.0},
        {"nodeId": 2, "parentNodeId": 1, "role": "assistant", "content": "", "createdAt": 2.0, "model": "m",
            "toolCalls": [call("Edit", json!({"file_path": file, "old_string": "old", "new_string": "new"}))]},
        {"nodeId": 3, "parentNodeId": 2, "role": "tool", "content": "done", "createdAt": 3.0, "toolCallId": "c1"},
    ]}});
    let exported = machine.write("session.json", session.to_string()).display().to_string();
    let told = json_of(&machine, &["import", &exported, "--to", "claude", "--json"]);
    let id = told["id"].as_str().unwrap();
    let place = file.display().to_string();
    let dry = machine.run(&["restore", id, "--path", &place, "--dry-run"]).ok();
    assert!(dry.contains("a.txt"), "{dry}");
    assert_eq!(fs::read(&file).unwrap(), b"new\n");
    machine.run(&["restore", id, "--path", &place]).ok();
    assert_eq!(fs::read(&file).unwrap(), b"old\n");
}
