//! What of a session its agent's model will see: the live branch, in order.

use serde_json::Value;
use std::collections::BTreeMap;

/// What a call without a result is answered with.
const INTERRUPTED: &str = "The call was interrupted before it had a result.";

/// One thing that is said.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// By the person.
    User(String),
    /// By the model.
    Assistant(String),
    /// A call, by its place among the calls of the session.
    Call {
        /// Its tool.
        tool: String,
        /// What the tool is asked for.
        arguments: Value,
    },
    /// What a call gave.
    Outcome {
        /// The place of the call.
        call: usize,
        /// What it gave.
        text: String,
    },
}

/// The nodes of the live branch, in order.
pub fn live(session: &Value) -> Vec<&Value> {
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
pub fn of(session: &Value) -> Vec<Said> {
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
pub fn unpaired(session: &Value) -> Vec<String> {
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
pub fn without_tools(said: &[Said]) -> Vec<Said> {
    let mut said = said.to_vec();
    for one in &mut said {
        if let Said::Call { tool, arguments } = one {
            tool.clear();
            *arguments = Value::Null;
        }
    }
    said
}

/// The session as it is handed over: each call has a result, each result a call.
pub fn expected(source: &Value) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut calls = 0;
    let close = |said: &mut Vec<Said>, open: &mut Vec<usize>| {
        said.extend(open.drain(..).map(|call| Said::Outcome { call, text: INTERRUPTED.into() }));
    };
    for one in of(source) {
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
pub fn compared(said: &[Said]) -> Vec<Said> {
    let said = without_tools(said);
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
