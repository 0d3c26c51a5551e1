//! What a session that came from elsewhere carries beside its messages: members of nodes that no
//! message has a place for, and where in a tree the nodes are. It stands in a member of the
//! message that the agent passes over and keeps.
//!
//! ```text
//! "sepia": {
//!   "node": {…},                 members of the node, as `sepia_sdk::carried` has them
//!   "calls": [{"status": …, "exit": …}, …],   what became of its calls, in their order
//!   "outcome": {"status": …, "exit": …},      what became of the call that it answers
//!   "side": true,                it is of a branch that was left
//!   "back": 3                    its parent is the third node before it; 0: it has none
//! }
//! ```

use crate::changes;
use crate::result::Outcome;
use sepia_ir::{Block, MessageNode, Role, ToolCall, ToolCallStatus};
use sepia_sdk::json::{Flag, Number, Raw, Str, Whole, members, parse};
use sepia_sdk::metadata::{self, Members};
use serde_json::value::RawValue;
use std::collections::HashSet;

members! {
    Beside {
        node: Raw<'a> = "node",
        calls: Raw<'a> = "calls",
        outcome: Raw<'a> = "outcome",
        side: Flag = "side",
        back: Number = "back",
    }
}

members! {
    /// What became of a call.
    Ended {
        status: Str<'a> = "status",
        exit: Whole = "exit",
    }
}

/// What was carried, beside what was put on the node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The node tells all by itself: no other message adds to it.
    pub(crate) settled: bool,
    /// It is of a branch that was left.
    pub(crate) side: bool,
    /// Its parent is so many nodes before it; 0: it has none.
    pub(crate) back: Option<u32>,
    /// What became of the call that it answers, where that is not what its content tells.
    pub(crate) outcome: Option<Answered>,
}

/// What became of a call, as its result carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    So(Outcome),
    /// Nothing is known of it.
    Unknown,
}

/// Puts what is carried beside a message on its node, and says the rest. None when the node is none
/// that can be, then.
pub(crate) fn put_on(node: &mut MessageNode, beside: &RawValue) -> Option<Carried> {
    let Ok(beside) = parse::<Beside<'_>>(beside.get()) else { return Some(Carried::default()) };
    if let Some(calls) = beside.calls.and_then(|raw| parse::<Vec<Ended<'_>>>(raw.get()).ok()) {
        for (call, ended) in node.tool_calls.iter_mut().zip(&calls) {
            settle(call, status(ended), ended.exit.0);
        }
    }
    if let Some(members) = beside.node {
        sepia_sdk::carried::restore(node, members.get());
        node.metadata = metadata::clean(&node.metadata).into_owned();
        if !is_sound(node) {
            return None;
        }
        for call in &mut node.tool_calls {
            call.arguments = metadata::clean(&call.arguments).into_owned();
        }
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    let back = beside.back.0.filter(|back| (0.0..4e9).contains(back)).map(|back| back as u32);
    Some(Carried {
        settled: beside.node.is_some() || beside.calls.is_some(),
        side: beside.side.0,
        back,
        outcome: beside.outcome.map(|raw| {
            let ended = parse::<Ended<'_>>(raw.get()).unwrap_or_default();
            let so = |status| Answered::So(Outcome { status, exit_code: ended.exit.0 });
            status(&ended).map_or(Answered::Unknown, so)
        }),
    })
}

/// Whether a node is one that a reader may give: results name their call and nobody else does, calls
/// have ids and names, the content is the text of the blocks.
fn is_sound(node: &MessageNode) -> bool {
    let mut met = HashSet::new();
    let calls =
        node.tool_calls.iter().all(|call| !call.id.is_empty() && !call.name.is_empty() && met.insert(call.id.as_str()));
    let answers = node.tool_call_id.as_ref().is_some_and(|id| !id.is_empty()) == (node.role == Role::Tool);
    let texts: Vec<&str> = node
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    let content = texts.is_empty() || node.content == texts.join("\n");
    calls && answers && content && node.created_at.is_finite() && node.created_at >= 0.0
}

/// Tells a call what became of it, as a result that is read does.
pub(crate) fn settle(call: &mut ToolCall, status: Option<ToolCallStatus>, exit_code: Option<i64>) {
    call.status = status;
    call.exit_code = exit_code;
    if status == Some(ToolCallStatus::Success) {
        call.diffs = changes::diffs(&call.name, &call.arguments);
    }
}

fn status(ended: &Ended<'_>) -> Option<ToolCallStatus> {
    match ended.status.get()? {
        "success" => Some(ToolCallStatus::Success),
        "error" => Some(ToolCallStatus::Error),
        "pending" => Some(ToolCallStatus::Pending),
        _ => None,
    }
}

/// What became of a call, as JSON; `{}` when nothing is known.
pub(crate) fn ended(status: Option<ToolCallStatus>, exit_code: Option<i64>) -> String {
    let mut members = Members::default();
    members.maybe(
        "status",
        status.map(|status| match status {
            ToolCallStatus::Success => "success",
            ToolCallStatus::Error => "error",
            ToolCallStatus::Pending => "pending",
        }),
    );
    members.maybe_number("exit", exit_code);
    Some(members.finish()).filter(|json| json != "null").unwrap_or_else(|| "{}".to_owned())
}
