//! What the driver's own reader makes of a message that is written: what differs from that has to ride
//! along.

use super::outgoing::{Outgoing, OwnMeta};
use crate::json::{self, Object};
use crate::message::{self, Place};
use crate::outcome;
use crate::step;
use sepia_ir::{DriverError, ErrorCode, MessageNode, Role, ToolCall};

/// The node, but for its place, and its time, which rides along.
pub(super) fn of(json: &[u8], blob: &str, archived: bool, meta: &OwnMeta) -> Result<MessageNode, DriverError> {
    let unreadable = || DriverError::new(ErrorCode::Invalid, "a node can't be written as a message of Cursor");
    let text = std::str::from_utf8(json).map_err(|_| unreadable())?;
    let mut steps = message::steps(text, Place { blob, archived }).ok_or_else(unreadable)?;
    let mut step = steps.pop().filter(|_| steps.is_empty()).ok_or_else(unreadable)?;
    if meta.is_simulated() && step.prompt.is_some() {
        step::mark_simulated(&mut step.node);
    }
    step.node.created_at = f64::NAN;
    Ok(step.node)
}

/// The same of a node of another agent that has nothing but text, calls or a result, without reading the
/// message again. Its metadata is the reader's own, and never that of the node.
pub(super) fn of_usual(
    node: &MessageNode,
    out: &Outgoing,
    meta: &OwnMeta,
    request: Option<&str>,
    tool: &str,
) -> Option<MessageNode> {
    if meta.is_own() || !out.fits || !node.blocks.is_empty() || node.thinking_signature.is_some() {
        return None;
    }
    let mut native = MessageNode::new(0, node.role, f64::NAN);
    native.metadata = String::new();
    native.content.clone_from(&node.content);
    match node.role {
        Role::System => return None,
        Role::User => native.request_id = request.filter(|request| !request.is_empty()).map(str::to_owned),
        Role::Assistant => native.tool_calls = node.tool_calls.iter().map(call).collect(),
        Role::Tool => {
            native.tool_call_id.clone_from(&node.tool_call_id);
            native.tool_name = Some(tool.to_owned()).filter(|tool| !tool.is_empty());
            let high_level = Object::parse(&out.high_level)?;
            native.tool_result = Some(outcome::noted(Some(&high_level), &node.content).outcome.result());
        }
    }
    Some(native)
}

fn call(wanted: &ToolCall) -> ToolCall {
    let trimmed = wanted.arguments.trim();
    let arguments =
        if Object::parse(trimmed).is_some() { json::passed_on(trimmed).get().to_owned() } else { "{}".to_owned() };
    let mut call = ToolCall::new(wanted.id.clone(), wanted.name.clone(), arguments);
    call.locations = outcome::locations(&call.name, &call.arguments);
    call
}
