//! What the record of a node carries besides: all that the reader would not give back.

use super::record::one_line;
use sepia_ir::{MessageNode, ToolCall};
use sepia_sdk::{carried, same};
use serde::Serialize;
use serde_json::value::RawValue;

/// A call as it is carried: without the arguments that the record has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    index: i64,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<sepia_ir::ToolCallStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    locations: &'a [sepia_ir::Location],
    diffs: &'a [sepia_ir::Diff],
}

/// What a record says of itself, for the reader.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Marks {
    /// It stands for a node that the agent has no place for.
    pub(crate) node: bool,
    /// Its parent is not to be mended.
    pub(crate) exact: bool,
}

/// JSON text of what is carried; none when there is nothing. Calls are compared with those that the record
/// gives, in their order.
pub(crate) fn text(mut wanted: MessageNode, mut native: MessageNode, marks: Marks) -> Option<String> {
    let own = std::mem::take(&mut native.tool_calls);
    let calls = std::mem::take(&mut wanted.tool_calls);
    let mut parts = Vec::new();
    if marks.node {
        parts.push("\"node\":true".to_owned());
    }
    if marks.exact {
        parts.push("\"exact\":true".to_owned());
    }
    if !same(&calls, &own) {
        let list: Vec<Call<'_>> = calls.iter().enumerate().map(|(at, call)| carried_call(call, own.get(at))).collect();
        // Plain members always have a JSON form, numbers that JSON has not excepted.
        if let Ok(list) = serde_json::to_string(&list) {
            parts.push(format!("\"toolCalls\":{list}"));
        }
    }
    if let Some(difference) = carried::difference(&wanted, &native) {
        parts.push(difference[1..difference.len() - 1].to_owned());
    }
    if parts.is_empty() {
        return None;
    }
    Some(one_line(&format!("{{{}}}", parts.join(","))).into_owned())
}

fn carried_call<'a>(call: &'a ToolCall, own: Option<&ToolCall>) -> Call<'a> {
    let known = own.is_some_and(|own| same(&own.arguments, &call.arguments));
    Call {
        id: &call.id,
        name: &call.name,
        arguments: if known { None } else { serde_json::from_str(&call.arguments).ok() },
        index: call.index,
        kind: &call.kind,
        status: call.status,
        exit_code: call.exit_code,
        duration_ms: call.duration_ms,
        locations: &call.locations,
        diffs: &call.diffs,
    }
}
