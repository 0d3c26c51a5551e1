//! Recorded traffic of real agents, played again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::{Step, Translation};
use crate::acp::{Chunk, PermissionRequest, PromptPart, ToolCallUpdate, Update};
use crate::plane::live::event::{SessionEvent, TurnError};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

const RECORDINGS: [&str; 18] = [
    "claude-basic",
    "claude-cancel",
    "claude-cancel-permission",
    "claude-load-fork-delete",
    "claude-modes-errors",
    "claude-plan-subagent",
    "claude-tools-allow",
    "claude-tools-reject",
    "cline-basic",
    "cline-cancel",
    "cline-errors",
    "cline-errors-local",
    "cline-load",
    "cline-modes",
    "cline-noauth",
    "cline-permission",
    "cline-thinking-subagent",
    "cline-two-clients-a",
];

fn recording(name: &str) -> Vec<(bool, Value)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/acp/{name}.ndjson"));
    let text = std::fs::read_to_string(path).unwrap();
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        (line["dir"] == "in", line["msg"].take())
    };
    text.lines().map(line).collect()
}

/// What the recorded traffic of one session comes to. Turns begin with each prompt and end with
/// its answer.
struct Played {
    steps: Vec<Step>,
    /// Text that the recording itself has, between each prompt and its answer.
    said: String,
    prompts: usize,
}

fn play(name: &str) -> Played {
    let mut translation = Translation::new("s", "base");
    let mut played = Played { steps: Vec::new(), said: String::new(), prompts: 0 };
    let mut running: Option<Value> = None;
    for (from_client, message) in recording(name) {
        let method = message["method"].as_str().unwrap_or_default();
        if from_client && method == "session/prompt" {
            if running.is_some() {
                // A second one while the first runs: this plane never sends it.
                continue;
            }
            let parts = serde_json::from_value::<Vec<PromptPart>>(message["params"]["prompt"].clone());
            // What is no prompt was sent to see what the agent says of it.
            let Ok(parts) = parts else { continue };
            running = Some(message["id"].clone());
            played.prompts += 1;
            played.steps.push(translation.begin(&parts));
        } else if !from_client && method == "session/update" {
            let update = Update::of(message["params"]["update"].clone());
            if running.is_none() && update.is_content() {
                continue;
            }
            if let Update::Message(Chunk::Text(text)) = &update {
                played.said.push_str(text);
            }
            played.steps.push(translation.update(update));
        } else if !from_client && method == "session/request_permission" {
            played.steps.push(translation.ask(&PermissionRequest::of(&message["params"])).1);
        } else if !from_client && method.is_empty() && running.as_ref() == Some(&message["id"]) {
            running = None;
            let end = match message["result"]["stopReason"].as_str() {
                Some(reason) => Ok(reason.to_owned()),
                None => Err(TurnError {
                    code: "internal",
                    message: message["error"]["message"].as_str().unwrap_or_default().to_owned(),
                    cause: None,
                }),
            };
            played.steps.push(translation.end(end, message["result"].get("usage")));
        }
    }
    if running.is_some() {
        played.steps.push(translation.end(Ok("cancelled".to_owned()), None));
    }
    played
}

/// The events of all recordings, as they are on the wire.
#[test]
fn what_was_recorded_comes_out_as_it_always_did() {
    for name in RECORDINGS {
        let lines: Vec<String> = play(name)
            .steps
            .iter()
            .flat_map(|step| &step.events)
            .map(|event| serde_json::to_string(event).unwrap())
            .collect();
        insta::assert_snapshot!(name, lines.join("\n"));
    }
}

/// The facts of all recordings.
#[test]
fn what_is_stored_of_what_was_recorded() {
    for name in RECORDINGS {
        let lines: Vec<String> = play(name)
            .steps
            .iter()
            .flat_map(|step| &step.facts)
            .map(|fact| format!("{} {}", fact.kind, fact.data))
            .collect();
        insta::assert_snapshot!(format!("{name}-facts"), lines.join("\n"));
    }
}

/// Whatever an agent does: frames are closed once, in their turn, and nothing that was said is
/// lost.
#[test]
fn frames_are_whole_in_every_recording() {
    for name in RECORDINGS {
        let played = play(name);
        let events: Vec<&SessionEvent> = played.steps.iter().flat_map(|step| &step.events).collect();
        let mut open: HashMap<String, &str> = HashMap::new();
        let (mut said, mut starts, mut ends, mut running) = (String::new(), 0, 0, false);
        let mut calls: HashMap<String, usize> = HashMap::new();
        for event in events {
            match event {
                SessionEvent::RunStarted { .. } => {
                    assert!(!running, "{name}: a turn in a turn");
                    (running, starts) = (true, starts + 1);
                }
                SessionEvent::RunFinished { .. } => {
                    assert!(running && open.is_empty(), "{name}: {open:?} open at the end");
                    (running, ends) = (false, ends + 1);
                }
                SessionEvent::TextMessageStart { message_id, .. } => {
                    assert!(open.insert(message_id.clone(), "text").is_none(), "{name}");
                    assert_eq!(open.values().filter(|kind| **kind != "call").count(), 1, "{name}");
                }
                SessionEvent::ReasoningMessageStart { message_id, .. } => {
                    assert!(open.insert(message_id.clone(), "reasoning").is_none(), "{name}");
                    assert_eq!(open.values().filter(|kind| **kind != "call").count(), 1, "{name}");
                }
                SessionEvent::TextMessageContent { message_id, delta } => {
                    assert_eq!(open.get(message_id), Some(&"text"), "{name}");
                    said.push_str(delta);
                }
                SessionEvent::ReasoningMessageContent { message_id, .. } => {
                    assert_eq!(open.get(message_id), Some(&"reasoning"), "{name}");
                }
                SessionEvent::TextMessageEnd { message_id } | SessionEvent::ReasoningMessageEnd { message_id } => {
                    assert!(open.remove(message_id).is_some(), "{name}");
                }
                SessionEvent::ToolCallStart { tool_call_id, .. } => {
                    assert!(running, "{name}: a call outside of a turn");
                    assert!(open.insert(tool_call_id.clone(), "call").is_none(), "{name}");
                    *calls.entry(tool_call_id.clone()).or_default() += 1;
                }
                SessionEvent::ToolCallArgs { tool_call_id, delta, .. } => {
                    assert!(open.contains_key(tool_call_id), "{name}: {tool_call_id}");
                    serde_json::from_str::<Value>(delta).unwrap();
                }
                SessionEvent::ToolCallResult { content, .. } => {
                    serde_json::from_str::<Value>(content).unwrap();
                }
                SessionEvent::ToolCallEnd { tool_call_id, .. } => {
                    assert_eq!(open.remove(tool_call_id), Some("call"), "{name}: {tool_call_id}");
                }
                SessionEvent::Custom { .. } => {}
            }
        }
        assert_eq!((said, starts, ends, running), (played.said, played.prompts, played.prompts, false), "{name}");
        assert!(calls.values().all(|begun| *begun == 1), "{name}: {calls:?}");
        let stored: String = played
            .steps
            .iter()
            .flat_map(|step| &step.facts)
            .filter(|fact| fact.kind == "messageComplete" && fact.data["role"] == "assistant")
            .map(|fact| fact.data["text"].as_str().unwrap())
            .collect();
        let shown: String = played.steps.iter().flat_map(|step| &step.events).filter_map(delta).collect();
        assert_eq!(stored, shown, "{name}: what is stored is what was shown");
    }
}

fn delta(event: &SessionEvent) -> Option<&str> {
    match event {
        SessionEvent::TextMessageContent { delta, .. } => Some(delta),
        _ => None,
    }
}

fn names(step: &Step) -> Vec<String> {
    step.events.iter().map(|event| serde_json::to_value(event).unwrap()["type"].as_str().unwrap().to_owned()).collect()
}

fn call(id: &str, members: Value) -> ToolCallUpdate {
    let mut update = json!({ "sessionUpdate": "tool_call", "toolCallId": id });
    update.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    match Update::of(update) {
        Update::ToolCall(call) => call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_is_begun_by_whatever_tells_of_it_first() {
    let mut translation = Translation::new("s", "b");
    translation.begin(&[PromptPart::Text { text: "go".to_owned() }]);
    let request = PermissionRequest::of(&json!({
        "toolCall": {"toolCallId": "c", "title": "ls", "status": "pending", "rawInput": {"command": "ls"}},
        "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"}],
    }));
    let (asked, step) = translation.ask(&request);
    assert_eq!(names(&step), ["toolCallStart", "toolCallArgs", "custom"]);
    assert_eq!((asked.request_id.as_str(), asked.title.as_str()), ("s:c:1", "ls"));
    let again = translation.update(Update::ToolCall(call("c", json!({"title": "ls", "rawInput": {"command": "ls"}}))));
    assert_eq!(names(&again), Vec::<String>::new());
    let failed = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"});
    assert_eq!(names(&translation.update(Update::of(failed.clone()))), ["toolCallEnd"]);
    let mut with_output = failed;
    with_output["rawOutput"] = json!("refused");
    assert_eq!(names(&translation.update(Update::of(with_output.clone()))), ["toolCallResult"]);
    assert_eq!(names(&translation.update(Update::of(with_output))), Vec::<String>::new());
    let end = translation.end(Ok("end_turn".to_owned()), None);
    assert_eq!(names(&end), ["runFinished"]);
}

#[test]
fn the_end_closes_text_then_reasoning_then_calls_and_comes_once() {
    let mut translation = Translation::new("s", "b");
    translation.begin(&[PromptPart::Text { text: "go".to_owned() }]);
    translation.update(Update::ToolCall(call("one", json!({"title": "One"}))));
    translation.update(Update::ToolCall(call("two", json!({"title": "Two"}))));
    translation.update(Update::Thought(Chunk::Text("hm".to_owned())));
    let end = translation.end(Ok("cancelled".to_owned()), None);
    assert_eq!(names(&end), ["reasoningMessageEnd", "toolCallEnd", "toolCallEnd", "runFinished"]);
    let kinds: Vec<&str> = end.facts.iter().map(|fact| fact.kind).collect();
    assert_eq!(
        kinds,
        ["messageComplete", "toolCallStarted", "toolCallEnded", "toolCallStarted", "toolCallEnded", "runFinished"]
    );
    assert!(translation.end(Ok("end_turn".to_owned()), None).is_empty());
}
