//! What an agent says of a turn, as events of the session and as facts of its log.
//!
//! Knows no process, no time and no subscriber: what came in before decides what comes out.

mod calls;
mod message;

use super::event::{AskedPermission, SessionEvent, TurnError};
use super::recorded::Recorded;
use crate::acp::{Chunk, PermissionRequest, ToolCallUpdate, Update};
use calls::OpenCalls;
use message::{Kind, Messages};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;

/// What one thing that was said came to.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) events: Vec<SessionEvent>,
    pub(super) facts: Vec<Recorded>,
    /// What it takes in memory, about, bytes.
    pub(super) weight: usize,
    /// Its share of the room for what is on its way from the agent, until it is told.
    pub(super) share: Option<OwnedSemaphorePermit>,
}

impl Step {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.facts.is_empty()
    }

    fn custom(&mut self, name: &str, value: Value) {
        self.events.push(SessionEvent::Custom { name: format!("acp:{name}"), value });
    }
}

/// The state of one live session's stream.
#[derive(Debug)]
pub(super) struct Translation {
    session_id: String,
    run_id: String,
    messages: Messages,
    calls: OpenCalls,
    runs: bool,
    asked: u64,
}

impl Translation {
    /// Of a session; ids of messages are made of `base`, which no other live session has.
    pub(super) fn new(session_id: &str, base: &str) -> Self {
        Self {
            session_id: session_id.to_owned(),
            run_id: format!("run_{base}"),
            messages: Messages::new(base),
            calls: OpenCalls::default(),
            runs: false,
            asked: 0,
        }
    }

    /// A turn begins with this prompt.
    pub(super) fn begin(&mut self, parts: &[crate::acp::PromptPart]) -> Step {
        let mut step = Step::default();
        // What an agent said between two turns is part of neither.
        self.close(&mut step);
        self.runs = true;
        self.calls.forget_ended();
        step.facts.push(Recorded::input(&self.messages.next_id(), parts));
        step.facts.push(Recorded::run_started(&self.run_id));
        let (thread_id, run_id) = (self.session_id.clone(), self.run_id.clone());
        step.events.push(SessionEvent::RunStarted { thread_id, run_id });
        step
    }

    /// It is over: what is open is closed. Nothing when no turn runs.
    pub(super) fn end(&mut self, end: Result<String, TurnError>, usage: Option<&Value>) -> Step {
        let mut step = Step::default();
        if !std::mem::take(&mut self.runs) {
            return step;
        }
        self.close(&mut step);
        step.facts.push(Recorded::run_finished(&self.run_id, &end, usage));
        let (stop_reason, error) = match end {
            Ok(reason) => (Some(reason), None),
            Err(error) => (None, Some(error)),
        };
        step.events.push(SessionEvent::RunFinished {
            thread_id: self.session_id.clone(),
            run_id: self.run_id.clone(),
            stop_reason,
            error,
        });
        step
    }

    fn close(&mut self, step: &mut Step) {
        self.messages.close(Kind::Text, step);
        self.messages.close(Kind::Reasoning, step);
        self.calls.close_all(step);
    }

    /// An update came.
    pub(super) fn update(&mut self, update: Update) -> Step {
        let mut step = Step::default();
        match update {
            Update::Message(Chunk::Text(text)) => self.messages.add(Kind::Text, text, &mut step),
            Update::Thought(Chunk::Text(text)) => self.messages.add(Kind::Reasoning, text, &mut step),
            Update::Message(Chunk::Block(block)) => step.custom("agent_message_chunk", json!({ "content": block })),
            Update::Thought(Chunk::Block(block)) => step.custom("agent_thought_chunk", json!({ "content": block })),
            Update::User => {}
            Update::ToolCall(call) => {
                self.messages.close(Kind::Text, &mut step);
                self.messages.close(Kind::Reasoning, &mut step);
                self.calls.begin(call, &mut step);
            }
            Update::ToolCallUpdate(call) => self.calls.update(call, &mut self.messages, &mut step),
            Update::Other { name, value } => {
                let value = known_shape(&name, &value).unwrap_or(value);
                step.custom(&name, value);
            }
        }
        step
    }

    /// A permission is asked for; what is shown of it.
    pub(super) fn ask(&mut self, request: &PermissionRequest) -> (AskedPermission, Step) {
        let mut step = Step::default();
        let call = &request.tool_call;
        if !call.id.is_empty() && !self.calls.knows(&call.id) {
            // Some agents ask before they tell of the call.
            self.messages.close(Kind::Text, &mut step);
            self.messages.close(Kind::Reasoning, &mut step);
            let status = None;
            self.calls.begin(ToolCallUpdate { status, ..call.clone() }, &mut step);
        } else if call.has_input() {
            self.calls.told_input(call, &mut step);
        }
        self.asked += 1;
        let tool_call_id = Some(call.id.clone()).filter(|id| !id.is_empty());
        let asked = AskedPermission {
            request_id: format!("{}:{}:{}", self.session_id, tool_call_id.as_deref().unwrap_or("none"), self.asked),
            session_id: self.session_id.clone(),
            title: call.title.clone().or_else(|| self.calls.title(&call.id)).unwrap_or_default(),
            tool_call_id,
            options: request.options.clone(),
        };
        step.custom("permission_request", json!(asked));
        step.facts.push(Recorded::asked(&asked));
        (asked, step)
    }
}

/// Updates that have a shape of their own here; none: the update as it came.
fn known_shape(name: &str, value: &Value) -> Option<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match name {
        "plan" => {
            let entries = value["entries"].as_array()?.iter();
            let entries: Vec<Value> = entries
                .map(|entry| json!({ "content": text(&entry["content"]), "status": text(&entry["status"]) }))
                .collect();
            Some(json!({ "kind": "plan", "entries": entries }))
        }
        "current_mode_update" => {
            // Both spellings: earlier readers of these events know the second.
            let mode = text(&value["currentModeId"]);
            Some(json!({ "kind": name, "modeId": mode, "mode_id": mode }))
        }
        "available_commands_update" => {
            let commands = value["availableCommands"].as_array()?.iter();
            let commands: Vec<Value> = commands
                .map(|command| {
                    let mut shown = json!({ "name": text(&command["name"]) });
                    if let Some(description) = command["description"].as_str() {
                        shown["description"] = description.into();
                    }
                    shown
                })
                .collect();
            Some(json!({ "kind": name, "commands": commands }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
