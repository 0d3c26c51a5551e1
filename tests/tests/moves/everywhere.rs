//! Every sample session to every agent, and back.

use crate::conversation::{self, Said};
use sepia_tests::Machine;
use serde_json::Value;

const AGENTS: [&str; 4] = ["claude", "cline", "cursor", "devin"];
/// What a call without a result is answered with.
const INTERRUPTED: &str = "The call was interrupted before it had a result.";

/// A machine on which all agents are, with a directory for the sessions that name none.
fn machine() -> Machine {
    Machine::with_all_agents()
}

fn rows(machine: &Machine, agent: &str) -> Vec<Value> {
    let rows = machine.run(&["list", "--json", "--agent", agent]).json();
    rows.as_array().unwrap().iter().filter(|row| row["source"] == agent).cloned().collect()
}

fn export(machine: &Machine, id: &str, agent: &str) -> Value {
    machine.run(&["export", id, "--agent", agent, "--verbatim"]).json()["session"].take()
}

/// The session as it is handed over: each call has a result, each result a call.
fn expected(source: &Value) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut calls = 0;
    let close = |said: &mut Vec<Said>, open: &mut Vec<usize>| {
        said.extend(open.drain(..).map(|call| Said::Outcome { call, text: INTERRUPTED.into() }));
    };
    for one in conversation::of(source) {
        match &one {
            Said::Outcome { call, text } if !open.contains(call) => {
                close(&mut said, &mut open);
                said.push(Said::User(text.clone()));
                continue;
            }
            Said::Outcome { call, .. } => open.retain(|open| open != call),
            Said::Call { .. } => {
                open.push(calls);
                calls += 1;
            }
            Said::User(_) | Said::Assistant(_) => close(&mut said, &mut open),
        }
        said.push(one);
    }
    close(&mut said, &mut open);
    said
}

/// Texts as far as they can be compared: an agent may not hold an empty message, and a result without a call is told with
/// a sentence before it.
fn compared(said: &[Said]) -> Vec<Said> {
    let said = conversation::without_tools(said);
    let told = |text: &str| match text.split_once("whose call is not in this session]\n") {
        Some((_, text)) => text.to_owned(),
        None => text.to_owned(),
    };
    said.into_iter()
        .filter(|one| !matches!(one, Said::User(text) | Said::Assistant(text) if text.trim().is_empty()))
        .map(|one| match one {
            Said::User(text) => Said::User(told(&text)),
            other => other,
        })
        .collect()
}

fn convert(machine: &Machine, id: &str, from: &str, to: &str) -> Value {
    let cwd = machine.place("home");
    let mut arguments = vec!["convert", id, "--agent", from, "--to", to, "--json"];
    let source = export(machine, id, from);
    let cwd = cwd.to_str().unwrap();
    if source["workingDirectory"] == "" {
        arguments.extend(["--cwd", cwd]);
    }
    machine.run(&arguments).json()
}

fn moved_to(to: &str) {
    let machine = machine();
    for from in AGENTS {
        let mut count = 0;
        for row in rows(&machine, from) {
            let id = row["id"].as_str().unwrap();
            let source = export(&machine, id, from);
            if source["nodes"].as_array().unwrap().is_empty() {
                continue;
            }
            count += 1;
            let told = convert(&machine, id, from, to);
            let copy = export(&machine, told["sessionId"].as_str().unwrap(), to);
            let context = format!("{from} {id} -> {to}: {:#}", told["losses"]);
            assert_eq!(copy["title"], source["title"], "{context}");
            assert_eq!(conversation::unpaired(&copy), [""; 0], "{context}");
            let (wanted, found) = (compared(&expected(&source)), compared(&conversation::of(&copy)));
            assert_eq!(found, wanted, "{context}");
            if from != to {
                let text = copy.to_string();
                for node in source["nodes"].as_array().unwrap() {
                    let Some(signature) = node["thinkingSignature"].as_str().filter(|s| s.len() > 8) else { continue };
                    assert!(!text.contains(signature), "{context}: the signature went along");
                }
            }
        }
        assert!(count >= 3, "{from}: {count} sessions");
    }
}

#[test]
fn to_claude() {
    moved_to("claude");
}

#[test]
fn to_cline() {
    moved_to("cline");
}

#[test]
fn to_cursor() {
    moved_to("cursor");
}

#[test]
fn to_devin() {
    moved_to("devin");
}

/// Members of a node that have to come back, but for those that are declared to be lost.
fn told(node: &Value) -> Value {
    let mut node = node.clone();
    let members = node.as_object_mut().unwrap();
    for of_place in ["nodeId", "parentNodeId", "thinkingSignature"] {
        members.remove(of_place);
    }
    node
}

/// From an agent to another and back: the live branch is what it was, but for signatures of reasoning.
fn back_again(from: &str) {
    let machine = machine();
    for to in AGENTS.into_iter().filter(|to| *to != from) {
        for row in rows(&machine, from) {
            let id = row["id"].as_str().unwrap();
            let source = export(&machine, id, from);
            if source["nodes"].as_array().unwrap().is_empty() || !conversation::unpaired(&source).is_empty() {
                continue;
            }
            let there = convert(&machine, id, from, to);
            let back = convert(&machine, there["sessionId"].as_str().unwrap(), to, from);
            let copy = export(&machine, back["sessionId"].as_str().unwrap(), from);
            let context = format!("{from} {id} -> {to} -> {from}: {:#}", there["losses"]);
            let sealed = |node: &&Value| node["thinking"] == "[redacted]";
            let system = |node: &&Value| node["role"] == "system";
            let of = |session: &Value| -> Vec<Value> {
                conversation::live(session).into_iter().filter(|n| !sealed(n) && !system(n)).map(told).collect()
            };
            let (wanted, found) = (of(&source), of(&copy));
            assert_eq!(found.len(), wanted.len(), "{context}");
            for (found, wanted) in found.iter().zip(&wanted) {
                assert_eq!(found, wanted, "{context}");
            }
            for member in ["title", "workingDirectory", "model", "agentMode", "createdAt", "lastActivityAt"] {
                if source["workingDirectory"] != "" {
                    assert_eq!(copy[member], source[member], "{context}: {member}");
                }
            }
        }
    }
}

#[test]
fn from_claude_and_back() {
    back_again("claude");
}

#[test]
fn from_cline_and_back() {
    back_again("cline");
}

#[test]
fn from_cursor_and_back() {
    back_again("cursor");
}

#[test]
fn from_devin_and_back() {
    back_again("devin");
}
