//! From an agent to another and back, with the branches that were left.

use crate::everywhere::{AGENTS, convert, export, rows, told};
use sepia_tests::conversation;
use sepia_tests::{Client, Machine};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What every leaf of a session ends: from the first node to it, without what programs note for themselves.
fn branches(session: &Value) -> BTreeSet<Vec<String>> {
    let nodes = session["nodes"].as_array().unwrap();
    let by_id: BTreeMap<i64, &Value> = nodes.iter().map(|node| (node["nodeId"].as_i64().unwrap(), node)).collect();
    let parents: BTreeSet<i64> = nodes.iter().filter_map(|node| node["parentNodeId"].as_i64()).collect();
    let leaves = by_id.iter().filter(|(id, _)| !parents.contains(id));
    leaves
        .map(|(_, leaf)| {
            let mut path = Vec::new();
            let mut next = Some(*leaf);
            while let Some(node) = next {
                if node["role"] != "system" {
                    path.push(told(node).to_string());
                }
                next = node["parentNodeId"].as_i64().and_then(|parent| by_id.get(&parent)).copied();
            }
            path.reverse();
            path
        })
        .collect()
}

/// The branches of which none is the beginning of another: a note of the program behind a message makes no branch.
fn whole_branches(session: &Value) -> BTreeSet<Vec<String>> {
    let all = branches(session);
    all.iter()
        .filter(|one| !all.iter().any(|other| other.len() > one.len() && other.starts_with(one)))
        .cloned()
        .collect()
}

/// Forks everywhere: at a prompt, at an answer, inside of a branch, behind a result, and one that is the root's.
fn forked() -> Value {
    let mut nodes = Vec::new();
    let mut add = |id: u32, parent: u32, mut node: Value| {
        node["nodeId"] = json!(id);
        node["createdAt"] = json!(1_767_225_600.0 + f64::from(id));
        if parent > 0 {
            node["parentNodeId"] = json!(parent);
        }
        nodes.push(node);
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let said = |text: &str| json!({"role": "assistant", "content": text, "model": "m"});
    let calls = |id: &str| {
        json!({"role": "assistant", "content": "", "model": "m", "toolCalls": [{"id": id, "name": "weather",
            "arguments": {"city": "Ulm"}, "status": "success"}]})
    };
    let result = |id: &str| json!({"role": "tool", "content": format!("rain in {id}"), "toolCallId": id, "toolName": "weather", "toolResult": {"status": "success"}});
    add(1, 0, user("Begin"));
    add(2, 1, said("Begun"));
    add(3, 2, user("the first way"));
    add(4, 3, said("the first way it is"));
    add(5, 2, user("the second way"));
    add(6, 5, calls("call_a"));
    add(7, 6, result("call_a"));
    add(8, 7, said("a first answer"));
    add(9, 7, said("a second answer"));
    add(10, 9, user("further on"));
    add(11, 10, said("left there"));
    add(12, 9, user("on the live branch"));
    add(13, 12, calls("call_b"));
    add(14, 13, result("call_b"));
    add(15, 14, said("the end"));
    add(16, 4, user("the first way, further on"));
    json!({
        "id": "x", "title": "Forks", "workingDirectory": "/p/demo", "model": "m", "createdAt": 1_767_225_600.0,
        "lastActivityAt": 1_767_225_700.0, "mainChainId": 15, "backendType": "elsewhere", "nodes": nodes,
    })
}

/// Whether the calls of all branches have their results.
fn is_paired(session: &Value) -> bool {
    let nodes = session["nodes"].as_array().unwrap();
    let parents: BTreeSet<i64> = nodes.iter().filter_map(|node| node["parentNodeId"].as_i64()).collect();
    nodes.iter().map(|node| node["nodeId"].as_i64().unwrap()).filter(|id| !parents.contains(id)).all(|leaf| {
        let mut of_branch = session.clone();
        of_branch["mainChainId"] = json!(leaf);
        conversation::unpaired(&of_branch).is_empty()
    })
}

/// There and back; what comes back has every branch, or the losses say what it has not.
fn there_and_back(client: &mut Client, id: &str, from: &str, to: &str) {
    let source = export(client, id, from);
    let there = convert(client, id, from, to);
    let back = convert(client, there["sessionId"].as_str().unwrap(), to, from);
    let copy = export(client, back["sessionId"].as_str().unwrap(), from);
    let context = format!("{from} {id} -> {to} -> {from}:\nthere {:#}\nback {:#}", there["losses"], back["losses"]);
    let (wanted, found) = (whole_branches(&source), whole_branches(&copy));
    let missing: Vec<_> = wanted.difference(&found).collect();
    let new: Vec<_> = found.difference(&wanted).collect();
    assert!(missing.is_empty() && new.is_empty(), "{context}\nmissing {missing:#?}\nnew {new:#?}");
    let tip = |session: &Value| {
        conversation::live(session).into_iter().filter(|n| n["role"] != "system").map(told).next_back()
    };
    assert_eq!(tip(&copy), tip(&source), "{context}: the live branch is another one");
}

fn from(agent: &str) {
    let machine = Machine::with_all_agents();
    let client = &mut machine.serve();
    let made = client.get("sessions.import", &json!({"agent": agent, "session": forked()}));
    let made = made["id"].as_str().unwrap().to_owned();
    let mut ids: Vec<String> = rows(client, agent).iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.contains(&made));
    ids.retain(|id| {
        let source = export(client, id, agent);
        source["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()) && is_paired(&source)
    });
    let count = whole_branches(&export(client, &made, agent)).len();
    assert_eq!(count, 4, "{agent}: what was imported forks");
    for to in AGENTS.into_iter().filter(|to| *to != agent) {
        for id in &ids {
            there_and_back(client, id, agent, to);
        }
    }
}

#[test]
fn branches_of_claude() {
    from("claude");
}

#[test]
fn branches_of_cline() {
    from("cline");
}

#[test]
fn branches_of_cursor() {
    from("cursor");
}

#[test]
fn branches_of_devin() {
    from("devin");
}
