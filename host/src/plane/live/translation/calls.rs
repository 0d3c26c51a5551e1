//! The calls of tools of a turn, in the order in which they began.
//!
//! Agents tell of a call in their own order: some twice that it begins, some first what became
//! of it, some twice that it failed. Here it begins once and ends once.

use super::Step;
use super::message::Messages;
use crate::acp::ToolCallUpdate;
use crate::plane::live::event::{SessionEvent, ToolCallDetails};
use crate::plane::live::recorded::Recorded;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Calls that are open at once, and ended ones that are remembered in a turn.
const MOST_OPEN: usize = 1_000;
const MOST_ENDED: usize = 10_000;

/// A call that has begun.
#[derive(Debug, Default)]
struct Call {
    id: String,
    title: String,
    kind: Option<String>,
    /// What it is called with, as told last.
    input: Option<Value>,
    locations: Vec<sepia_ir::Location>,
    /// Its fact that it began is stored: that waits for what it is called with.
    told: bool,
}

/// Those that are open, and those that ended in this turn.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    open: Vec<Call>,
    /// By id: whether a result came.
    ended: HashMap<String, bool>,
}

impl OpenCalls {
    /// Whether the call has begun in this turn.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.open.iter().any(|call| call.id == id) || self.ended.contains_key(id)
    }

    /// What an open call is called.
    pub(super) fn title(&self, id: &str) -> Option<String> {
        self.open.iter().find(|call| call.id == id).map(|call| call.title.clone())
    }

    /// A new turn: ids of earlier ones may come again.
    pub(super) fn forget_ended(&mut self) {
        self.ended.clear();
    }

    /// Makes room for one more: of an agent that leaves open what it begins, the oldest is closed.
    fn bound(&mut self, step: &mut Step) {
        if self.open.len() >= MOST_OPEN {
            let mut oldest = self.open.remove(0);
            oldest.close(step);
            self.ended.insert(oldest.id, false);
        }
        if self.ended.len() >= MOST_ENDED {
            self.ended.clear();
        }
    }

    /// A call begins. One that has begun already is only told again.
    pub(super) fn begin(&mut self, told: ToolCallUpdate, step: &mut Step) {
        if self.knows(&told.id) {
            if told.has_input() {
                self.told_input(&told, step);
            }
            return;
        }
        self.bound(step);
        let title = told.title.clone().unwrap_or_default();
        step.events.push(SessionEvent::ToolCallStart {
            tool_call_id: told.id.clone(),
            tool_call_name: title.clone(),
            details: details(&told),
        });
        step.events.push(SessionEvent::ToolCallArgs {
            tool_call_id: told.id.clone(),
            delta: told.raw_input.as_ref().map_or_else(|| "null".to_owned(), Value::to_string),
            tool_call_name: None,
        });
        let mut call = Call { id: told.id.clone(), title, kind: told.kind.clone(), ..Call::default() };
        call.learn(&told);
        if told.has_input() {
            call.record_start(step);
        }
        self.open.push(call);
    }

    /// What an open call is called with was told by the way.
    pub(super) fn told_input(&mut self, told: &ToolCallUpdate, step: &mut Step) {
        let Some(call) = self.open.iter_mut().find(|call| call.id == told.id) else { return };
        let known = call.input.clone();
        call.learn(told);
        if call.input != known {
            step.events.push(SessionEvent::ToolCallArgs {
                tool_call_id: told.id.clone(),
                delta: told.raw_input.as_ref().map_or_else(|| "null".to_owned(), Value::to_string),
                tool_call_name: told.title.clone(),
            });
        }
        call.record_start(step);
    }

    /// Something about a call.
    pub(super) fn update(&mut self, told: ToolCallUpdate, messages: &mut Messages, step: &mut Step) {
        if let Some(had_result) = self.ended.get_mut(&told.id) {
            // Its end is told: only a result that it did not have yet is news.
            if let Some(output) = told.raw_output.as_ref().filter(|_| !*had_result) {
                *had_result = true;
                step.events.push(SessionEvent::ToolCallResult {
                    message_id: messages.next_id(),
                    tool_call_id: told.id.clone(),
                    content: output.to_string(),
                });
                let mut members = Map::new();
                members.insert("toolCallId".to_owned(), told.id.as_str().into());
                members.insert("result".to_owned(), output.clone());
                step.facts.push(Recorded { kind: "toolCallResult", ..Recorded::tool_call_ended(members) });
            }
            return;
        }
        if !self.open.iter().any(|call| call.id == told.id) {
            self.bound(step);
        }
        let at = self.open.iter().position(|call| call.id == told.id).unwrap_or_else(|| {
            let name = told.title.clone().unwrap_or_else(|| told.id.clone());
            step.events.push(SessionEvent::ToolCallStart {
                tool_call_id: told.id.clone(),
                tool_call_name: name.clone(),
                details: ToolCallDetails::default(),
            });
            self.open.push(Call { id: told.id.clone(), title: name, kind: told.kind.clone(), ..Call::default() });
            self.open.len() - 1
        });
        let Some(call) = self.open.get_mut(at) else { return };
        call.learn(&told);
        if let Some(input) = &told.raw_input {
            step.events.push(SessionEvent::ToolCallArgs {
                tool_call_id: told.id.clone(),
                delta: input.to_string(),
                tool_call_name: told.title.clone(),
            });
            if told.has_input() {
                call.record_start(step);
            }
        }
        if told.is_end() {
            let mut call = self.open.remove(at);
            call.record_start(step);
            if let Some(output) = &told.raw_output {
                step.events.push(SessionEvent::ToolCallResult {
                    message_id: messages.next_id(),
                    tool_call_id: told.id.clone(),
                    content: output.to_string(),
                });
            }
            call.record_end(Some(&told), step);
            self.ended.insert(told.id.clone(), told.raw_output.is_some());
            step.events.push(SessionEvent::ToolCallEnd {
                details: details(&told),
                tool_call_id: told.id,
                status: told.status,
                tool_call_name: told.title,
            });
        } else if told.has_details() {
            let value = json!({
                "toolCallId": told.id,
                "title": told.title,
                "locations": some(&told.locations),
                "diffs": some(&told.diffs),
                "contents": some(&told.contents),
            });
            step.custom("tool_call_update", value);
        }
    }

    /// The turn is over, and they will hear no more.
    pub(super) fn close_all(&mut self, step: &mut Step) {
        for mut call in self.open.drain(..) {
            call.close(step);
            self.ended.insert(call.id, false);
        }
    }
}

impl Call {
    fn learn(&mut self, told: &ToolCallUpdate) {
        if let Some(title) = &told.title {
            self.title.clone_from(title);
        }
        if told.kind.is_some() {
            self.kind.clone_from(&told.kind);
        }
        if told.has_input() || self.input.is_none() {
            self.input.clone_from(&told.raw_input);
        }
        if !told.locations.is_empty() {
            self.locations.clone_from(&told.locations);
        }
    }

    /// It will hear no more.
    fn close(&mut self, step: &mut Step) {
        self.record_start(step);
        self.record_end(None, step);
        step.events.push(SessionEvent::ToolCallEnd {
            tool_call_id: self.id.clone(),
            status: None,
            tool_call_name: None,
            details: ToolCallDetails::default(),
        });
    }

    fn record_start(&mut self, step: &mut Step) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        let mut members = Map::new();
        members.insert("toolCallId".to_owned(), self.id.as_str().into());
        members.insert("title".to_owned(), self.title.as_str().into());
        put(&mut members, "kind", self.kind.as_deref().map(Value::from));
        put(&mut members, "arguments", self.input.clone());
        put(&mut members, "locations", some(&self.locations));
        step.facts.push(Recorded::tool_call_started(members));
    }

    fn record_end(&self, told: Option<&ToolCallUpdate>, step: &mut Step) {
        let mut members = Map::new();
        members.insert("toolCallId".to_owned(), self.id.as_str().into());
        members.insert("title".to_owned(), self.title.as_str().into());
        if let Some(told) = told {
            put(&mut members, "status", told.status.as_deref().map(Value::from));
            put(&mut members, "result", told.raw_output.clone());
            put(&mut members, "locations", some(&told.locations));
            put(&mut members, "diffs", some(&told.diffs));
            put(&mut members, "contents", some(&told.contents));
        }
        step.facts.push(Recorded::tool_call_ended(members));
    }
}

fn put(members: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), value);
    }
}

/// A list that is not empty.
fn some<T: serde::Serialize>(list: &[T]) -> Option<Value> {
    (!list.is_empty()).then(|| json!(list))
}

fn details(told: &ToolCallUpdate) -> ToolCallDetails {
    ToolCallDetails { locations: told.locations.clone(), diffs: told.diffs.clone(), contents: told.contents.clone() }
}
