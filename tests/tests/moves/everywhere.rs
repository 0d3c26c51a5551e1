//! Every sample session to every agent, and back.

use sepia_tests::conversation::{self, compared, expected};
use sepia_tests::{Client, Machine};
use serde_json::{Value, json};

pub(crate) const AGENTS: [&str; 4] = ["claude", "cline", "cursor", "devin"];

pub(crate) fn rows(client: &mut Client, agent: &str) -> Vec<Value> {
    let rows = client.get("sessions.list", &json!({"agent": agent, "topLevel": true}));
    rows.as_array().unwrap().iter().filter(|row| row["source"] == agent).cloned().collect()
}

pub(crate) fn export(client: &mut Client, id: &str, agent: &str) -> Value {
    client.get("sessions.export", &json!({"id": id, "agent": agent}))["session"].take()
}

pub(crate) fn convert(client: &mut Client, id: &str, from: &str, to: &str) -> Value {
    let mut params = json!({"id": id, "from": from, "agent": to});
    if export(client, id, from)["workingDirectory"] == "" {
        params["cwd"] = json!("/p/elsewhere");
    }
    client.get("sessions.convert", &params)
}

fn moved_to(to: &str) {
    let machine = Machine::with_all_agents();
    let client = &mut machine.serve();
    for from in AGENTS {
        let mut count = 0;
        for row in rows(client, from) {
            let id = row["id"].as_str().unwrap();
            let source = export(client, id, from);
            if source["nodes"].as_array().unwrap().is_empty() {
                continue;
            }
            count += 1;
            let told = convert(client, id, from, to);
            let copy = export(client, told["sessionId"].as_str().unwrap(), to);
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
        assert!(count >= 2, "{from}: {count} sessions");
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

#[test]
fn to_an_agent_that_was_never_started() {
    let machine = Machine::with_samples();
    let client = &mut machine.serve();
    let id = "11111111-1111-4111-8111-000000000003";
    let source = compared(&expected(&export(client, id, "claude")));
    for to in ["cline", "cursor"] {
        let told = convert(client, id, "claude", to);
        let copy = export(client, told["sessionId"].as_str().unwrap(), to);
        assert_eq!(compared(&conversation::of(&copy)), source, "{to}");
    }
    // The database of the other is made by its own program alone, and it says so.
    let refusal = client.refusal("sessions.convert", &json!({"id": id, "agent": "devin"}));
    assert_eq!(refusal.1, "unsupported", "{}", refusal.2);
}

/// Members of a node that have to come back, but for those that are declared to be lost.
pub(crate) fn told(node: &Value) -> Value {
    let mut node = node.clone();
    let members = node.as_object_mut().unwrap();
    for of_place in ["nodeId", "parentNodeId", "thinkingSignature"] {
        members.remove(of_place);
    }
    // What only its own agent could read is not handed over.
    if members.get("thinking").is_some_and(|thinking| thinking == "[redacted]") {
        members.remove("thinking");
    }
    node
}

/// From an agent to another and back: the live branch is what it was, but for signatures of reasoning.
fn back_again(from: &str) {
    let machine = Machine::with_all_agents();
    let client = &mut machine.serve();
    for to in AGENTS.into_iter().filter(|to| *to != from) {
        for row in rows(client, from) {
            let id = row["id"].as_str().unwrap();
            let source = export(client, id, from);
            if source["nodes"].as_array().unwrap().is_empty() || !conversation::unpaired(&source).is_empty() {
                continue;
            }
            let there = convert(client, id, from, to);
            let back = convert(client, there["sessionId"].as_str().unwrap(), to, from);
            let copy = export(client, back["sessionId"].as_str().unwrap(), from);
            let context = format!("{from} {id} -> {to} -> {from}: {:#}", there["losses"]);
            let system = |node: &&Value| node["role"] == "system";
            let of = |session: &Value| -> Vec<Value> {
                conversation::live(session).into_iter().filter(|n| !system(n)).map(told).collect()
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
