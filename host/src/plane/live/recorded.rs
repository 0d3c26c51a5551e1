//! The facts of a turn as they are stored: kinds, and what is in each.
//!
//! | kind | data |
//! |---|---|
//! | `inputMessage` | `{messageId, content: [part]}`: what the person said; bytes of images are left out |
//! | `runStarted` | `{runId}` |
//! | `messageComplete` | `{messageId, role: assistant or reasoning, text, continues?}` |
//! | `toolCallStarted` | `{toolCallId, title, kind?, arguments?, locations?}` |
//! | `toolCallEnded` | `{toolCallId, status?, title?, result?, locations?, diffs?, contents?}` |
//! | `permissionAsked` | as it is listed |
//! | `permissionAnswered` | `{requestId, outcome: selected or cancelled, optionId?, by}` |
//! | `runFinished` | `{runId, stopReason}` or `{runId, error: {code, message, cause}}`; `usage?` |
//! | `rewound` | `{kept, removed}` |

use super::announcer::TurnName;
use super::event::{AskedPermission, TurnError};
use crate::acp::{Outcome, PromptPart};
use crate::plane::facts::{NewFact, TurnEdge};
use serde_json::{Map, Value, json};

/// Largest result of a tool that is stored whole, bytes of JSON.
const MOST_RESULT: usize = 1 << 20;
/// What is kept of a larger one, bytes.
const HEAD: usize = 64 << 10;

/// A fact before it has its number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recorded {
    pub(super) kind: &'static str,
    pub(super) data: Value,
    pub(super) edge: Option<TurnEdge>,
}

impl Recorded {
    /// The fact, to be stored.
    pub(super) fn into_fact(self, id: String, at: i64, turn: Option<&TurnName>) -> NewFact {
        NewFact {
            id,
            at,
            kind: self.kind.into(),
            turn: turn.map(|turn| turn.id.clone()),
            command: turn.and_then(|turn| turn.command.clone()),
            data: self.data.to_string(),
            turn_edge: self.edge,
        }
    }

    fn new(kind: &'static str, data: Value) -> Self {
        Self { kind, data, edge: None }
    }

    pub(super) fn input(message_id: &str, parts: &[PromptPart]) -> Self {
        let content: Vec<PromptPart> = parts.iter().map(PromptPart::without_bytes).collect();
        Self::new("inputMessage", json!({ "messageId": message_id, "content": content }))
    }

    pub(super) fn run_started(run_id: &str) -> Self {
        Self { edge: Some(TurnEdge::Opens), ..Self::new("runStarted", json!({ "runId": run_id })) }
    }

    pub(super) fn run_finished(run_id: &str, end: &Result<String, TurnError>, usage: Option<&Value>) -> Self {
        let mut data = match end {
            Ok(stop_reason) => json!({ "runId": run_id, "stopReason": stop_reason }),
            Err(error) => json!({ "runId": run_id, "error": error }),
        };
        if let Some(usage) = usage {
            data["usage"] = usage.clone();
        }
        Self { edge: Some(TurnEdge::Closes), ..Self::new("runFinished", data) }
    }

    /// The process that ran the turn ended before it.
    pub(super) fn run_broken() -> Self {
        let error = TurnError {
            code: crate::plane::ErrorKind::Internal.code(),
            message: "the sepia that ran the turn ended before it".to_owned(),
            cause: None,
        };
        Self { edge: Some(TurnEdge::Closes), ..Self::new("runFinished", json!({ "error": error })) }
    }

    pub(super) fn message(message_id: &str, role: &str, text: &str, continues: bool) -> Self {
        let mut data = json!({ "messageId": message_id, "role": role, "text": text });
        if continues {
            data["continues"] = Value::Bool(true);
        }
        Self::new("messageComplete", data)
    }

    pub(super) fn tool_call_started(mut members: Map<String, Value>) -> Self {
        for name in ["arguments", "title", "locations"] {
            bound(&mut members, name);
        }
        Self::new("toolCallStarted", Value::Object(members))
    }

    pub(super) fn tool_call_ended(mut members: Map<String, Value>) -> Self {
        for name in ["result", "title", "locations", "diffs", "contents"] {
            bound(&mut members, name);
        }
        Self::new("toolCallEnded", Value::Object(members))
    }

    pub(super) fn asked(asked: &AskedPermission) -> Self {
        Self::new("permissionAsked", json!(asked))
    }

    pub(super) fn answered(request_id: &str, outcome: &Outcome, by: &str) -> Self {
        let mut data = json!(outcome);
        data["requestId"] = request_id.into();
        data["by"] = by.into();
        Self::new("permissionAnswered", data)
    }

    pub(super) fn rewound(kept: usize, removed: usize) -> Self {
        Self::new("rewound", json!({ "kept": kept, "removed": removed }))
    }
}

/// What is too large is stored as its size and its beginning; whoever follows got it whole, and
/// the agent's store has it.
fn bound(members: &mut Map<String, Value>, name: &str) {
    let Some(value) = members.get_mut(name) else { return };
    let text = value.to_string();
    if text.len() > MOST_RESULT {
        let head = &text[..text.floor_char_boundary(HEAD)];
        *value = json!({ "cut": true, "bytes": text.len(), "head": head });
    }
}

#[cfg(test)]
mod tests {
    use super::Recorded;
    use serde_json::{Map, json};

    #[test]
    fn a_large_result_is_stored_as_its_beginning() {
        let mut members = Map::new();
        members.insert("toolCallId".to_owned(), json!("t"));
        members.insert("result".to_owned(), json!("é".repeat(1 << 20)));
        let data = Recorded::tool_call_ended(members).data;
        assert_eq!(data["result"]["cut"], true);
        assert_eq!(data["result"]["bytes"], (2 << 20) + 2);
        assert!(data["result"]["head"].as_str().is_some_and(|head| head.len() <= 64 << 10 && head.starts_with("\"é")));
    }
}
