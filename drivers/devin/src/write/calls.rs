//! Tool calls of an answer: as the message has them, as their snapshots beside it have them, and
//! as the table of call states does.

use crate::outcome::Outcome;
use sepia_ir::{ToolCall, ToolCallStatus, json_text};
use sepia_sdk::metadata::Members;
use std::collections::HashSet;

/// Arguments and outputs up to this many bytes are told again where a person is shown a call.
pub(crate) const SHOWN: usize = 16 << 10;

/// A call that the agent can hold.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its place among the calls of the node.
    pub(crate) at: usize,
    /// What a reader makes of it, arguments apart.
    pub(crate) native: ToolCall,
    /// Arguments as they are written, when not as they are: the agent's are always an object.
    pub(crate) wrapped: Option<String>,
}

/// The calls of a node that the agent can hold: with an id of their own, and a tool. `arguments` are
/// theirs; what is in the calls themselves is not looked at.
pub(crate) fn held(calls: &[ToolCall], arguments: &[String]) -> Vec<Held> {
    let mut met = HashSet::new();
    let fit = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| !call.id.is_empty() && !call.name.is_empty() && met.insert(call.id.as_str()));
    fit.map(|(at, call)| {
        let mut native = ToolCall::new(call.id.clone(), call.name.clone(), json_text::null());
        native.index = call.index;
        native.status = call.status;
        native.exit_code = call.exit_code;
        native.duration_ms = call.duration_ms;
        native.locations.clone_from(&call.locations);
        // What is shown of a change is the text afterwards: there is no form for a file that goes.
        native.diffs = call.diffs.iter().filter(|diff| diff.new_text.is_some()).cloned().collect();
        Held { at, native, wrapped: wrapped(&arguments[at]) }
    })
    .collect()
}

/// Arguments that are no object, in one.
fn wrapped(arguments: &str) -> Option<String> {
    let arguments = arguments.trim();
    match arguments {
        _ if arguments.starts_with('{') => None,
        "" | "null" => Some("{}".to_owned()),
        other => Some(format!("{{\"input\":{other}}}")),
    }
}

/// Word of the protocol for what became of a call.
fn word(status: ToolCallStatus) -> &'static str {
    match status {
        ToolCallStatus::Pending => "pending",
        ToolCallStatus::Success => "completed",
        ToolCallStatus::Error => "failed",
    }
}

/// Kind of the protocol for a tool.
fn kind(tool: &str) -> &'static str {
    match tool {
        "read" => "read",
        "edit" | "write" | "apply_patch" | "notebook_edit" => "edit",
        "exec" => "execute",
        "grep" => "search",
        "webfetch" => "fetch",
        _ => "other",
    }
}

/// The call as a person is shown it.
pub(crate) fn snapshot(call: &ToolCall, arguments: &str) -> String {
    let mut members = Members::default();
    members.text("toolCallId", &call.id);
    members.text("title", &call.name);
    members.maybe("status", call.status.map(word));
    members.text("kind", kind(&call.name));
    if arguments.len() <= SHOWN {
        members.raw("rawInput", arguments);
    }
    let place = |location: &sepia_ir::Location| {
        let mut place = Members::default();
        place.text("path", &location.path);
        place.maybe_number("line", location.line);
        place.finish()
    };
    let places: Vec<String> = call.locations.iter().map(place).collect();
    members.raw("locations", &format!("[{}]", places.join(",")));
    let shown = |diff: &sepia_ir::Diff| {
        let mut shown = Members::default();
        shown.text("type", "diff");
        shown.text("path", &diff.path);
        if let Some(old) = &diff.old_text {
            shown.text("oldText", old);
        }
        shown.text("newText", diff.new_text.as_deref().unwrap_or_default());
        shown.finish()
    };
    members.list("content", &call.diffs.iter().map(shown).collect::<Vec<_>>());
    let mut meta = Members::default();
    meta.text("cognition.ai/inferenceToolName", &call.name);
    members.raw("_meta", &meta.finish());
    members.finish()
}

/// A row of the table of call states.
#[derive(Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) call: String,
    pub(crate) json: String,
    /// The last update; none while the call is at work.
    pub(crate) update: Option<String>,
    /// What a reader takes from the update.
    pub(crate) outcome: Outcome,
}

/// The state of a call; none when nothing is known of what became of it.
pub(crate) fn state(call: &ToolCall, snapshot: String) -> Option<State> {
    let status = call.status?;
    let (mut update, mut outcome) = (None, Outcome::default());
    if status != ToolCallStatus::Pending {
        let mut members = Members::default();
        members.text("toolCallId", &call.id);
        members.text("status", word(status));
        if let Some(code) = call.exit_code {
            let mut exit = Members::default();
            exit.number("exit_code", code);
            let mut meta = Members::default();
            meta.raw("cognition.ai/terminal_exit", &exit.finish());
            members.raw("_meta", &meta.finish());
        }
        update = Some(members.finish());
        outcome = Outcome { status: Some(status), exit_code: call.exit_code, duration_ms: None };
    }
    Some(State { call: call.id.clone(), json: snapshot, update, outcome })
}
