//! What of a session its agent's model will see: the live branch, in order.

use serde_json::Value;
use std::collections::BTreeMap;

/// One thing that is said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    User(String),
    Assistant(String),
    /// A call, by its place among the calls of the session, with its tool and arguments.
    Call {
        tool: String,
        arguments: Value,
    },
    /// What a call gave.
    Outcome {
        call: usize,
        text: String,
    },
}

/// The nodes of the live branch, in order.
pub(crate) fn live(session: &Value) -> Vec<&Value> {
    let nodes = session["nodes"].as_array().unwrap();
    let by_id: BTreeMap<i64, &Value> = nodes.iter().map(|node| (node["nodeId"].as_i64().unwrap(), node)).collect();
    let mut chain = Vec::new();
    let mut next = by_id.get(&session["mainChainId"].as_i64().unwrap()).copied().or_else(|| nodes.last());
    while let Some(node) = next {
        assert!(chain.len() <= nodes.len(), "the chain does not end");
        chain.push(node);
        next = node["parentNodeId"].as_i64().and_then(|parent| by_id.get(&parent)).copied();
    }
    chain.reverse();
    chain
}

/// The conversation of a session, without what the program notes for itself.
pub(crate) fn of(session: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for node in live(session) {
        let text = node["content"].as_str().unwrap().to_owned();
        match node["role"].as_str().unwrap() {
            "user" => said.push(Said::User(text)),
            "assistant" => {
                // Also without a text: who speaks ends the turn before.
                said.push(Said::Assistant(text));
                for call in node["toolCalls"].as_array().unwrap() {
                    let at = calls.len();
                    calls.insert(call["id"].as_str().unwrap().to_owned(), at);
                    let tool = call["name"].as_str().unwrap().to_owned();
                    said.push(Said::Call { tool, arguments: call["arguments"].clone() });
                }
            }
            "tool" => {
                let id = node["toolCallId"].as_str().unwrap_or_default();
                let call = calls.get(id).copied().unwrap_or(usize::MAX);
                said.push(Said::Outcome { call, text });
            }
            _ => {}
        }
    }
    said
}

/// Calls without a result among the nodes that follow before somebody speaks again, and results without a call.
pub(crate) fn unpaired(session: &Value) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut unpaired = Vec::new();
    for node in live(session) {
        match node["role"].as_str().unwrap() {
            "tool" => {
                let id = node["toolCallId"].as_str().unwrap_or_default();
                match open.iter().position(|call| call == id) {
                    Some(at) => drop(open.remove(at)),
                    None => unpaired.push(format!("result of {id}")),
                }
            }
            "system" => {}
            _ => unpaired.append(&mut open),
        }
        let calls = node["toolCalls"].as_array().unwrap().iter();
        open.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
    }
    unpaired.append(&mut open);
    unpaired
}

/// What is said, with the tools' names and arguments left out: these may be those of another agent.
pub(crate) fn without_tools(said: &[Said]) -> Vec<Said> {
    let mut said = said.to_vec();
    for one in &mut said {
        if let Said::Call { tool, arguments } = one {
            tool.clear();
            *arguments = Value::Null;
        }
    }
    said
}
