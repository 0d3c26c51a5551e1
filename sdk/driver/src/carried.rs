//! What a native record has no place for, carried beside it under a key of its own that the
//! agent passes over, so that a session that comes back is as it was.
//!
//! A writer knows the node that it is to write and the node that its reader would make of the
//! native record; [`difference`] is what has to ride along, as the text of a JSON object, and [`restore`] puts it
//! on the node again. What is carried is as hostile as the rest of a store: members that are not of
//! the right shape are passed over.

use crate::json::{Noted, Object};
use sepia_ir::{Block, Diff, Location, MessageNode, Role, Session, TokenUsage, ToolCall, ToolCallStatus, ToolResult};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Key of a native record under which things are carried.
pub const KEY: &str = "sepia";

/// Members of a session that its place in the store, or the agent it is in, decides.
const OF_STORE: [&str; 5] = ["id", "backendType", "mainChainId", "nodes", "workingDirectory"];

/// What of `wanted` the native form doesn't give back; none when it gives all. A member that
/// the native form has and `wanted` has not is carried as `null`.
pub fn difference(wanted: &MessageNode, native: &MessageNode) -> Option<String> {
    let same_calls = wanted.tool_calls == native.tool_calls;
    if same_calls && same_apart_from_place(wanted, native) {
        return None;
    }
    let mut members = Members::default();
    members.differs("role", &wanted.role, &native.role);
    members.differs("content", &wanted.content, &native.content);
    members.differs("blocks", &wanted.blocks, &native.blocks);
    if !same_calls {
        members.push("toolCalls", &calls(&wanted.tool_calls, &native.tool_calls));
    }
    members.differs("toolCallId", &wanted.tool_call_id, &native.tool_call_id);
    members.differs("toolName", &wanted.tool_name, &native.tool_name);
    members.differs("thinking", &wanted.thinking, &native.thinking);
    members.differs("thinkingSignature", &wanted.thinking_signature, &native.thinking_signature);
    members.differs("usage", &wanted.usage, &native.usage);
    members.differs("model", &wanted.model, &native.model);
    members.differs("requestId", &wanted.request_id, &native.request_id);
    members.differs("finishReason", &wanted.finish_reason, &native.finish_reason);
    members.differs("toolResult", &wanted.tool_result, &native.tool_result);
    members.differs("createdAt", &wanted.created_at, &native.created_at);
    members.raw("metadata", &wanted.metadata, &native.metadata);
    members.finish()
}

/// Puts what was carried on the node that was read; whether it was of a shape that could be put there.
pub fn restore(node: &mut MessageNode, carried: &str) -> bool {
    let Ok(carried) = serde_json::from_str::<Carried>(carried) else { return false };
    let calls = match carried.tool_calls.map(|calls| restored_calls(&calls, &node.tool_calls)) {
        Some(Err(_)) => return false,
        Some(Ok(calls)) => Some(calls),
        None => None,
    };
    put(&mut node.role, carried.role);
    put(&mut node.content, carried.content);
    put(&mut node.blocks, carried.blocks);
    put(&mut node.tool_calls, calls);
    put_noted(&mut node.tool_call_id, carried.tool_call_id);
    put_noted(&mut node.tool_name, carried.tool_name);
    put_noted(&mut node.thinking, carried.thinking);
    put_noted(&mut node.thinking_signature, carried.thinking_signature);
    put_noted(&mut node.usage, carried.usage);
    put_noted(&mut node.model, carried.model);
    put_noted(&mut node.request_id, carried.request_id);
    put_noted(&mut node.finish_reason, carried.finish_reason);
    put_noted(&mut node.tool_result, carried.tool_result);
    put(&mut node.created_at, carried.created_at);
    put(&mut node.metadata, carried.metadata.map(|raw| raw.get().to_owned()));
    true
}

fn put<T>(own: &mut T, carried: Option<T>) {
    if let Some(carried) = carried {
        *own = carried;
    }
}

fn put_noted<T>(own: &mut T, carried: Noted<T>) {
    if carried.present {
        *own = carried.value;
    }
}

/// A node's members as they are carried: JSON that is free stays the text that it was.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Carried {
    role: Option<Role>,
    content: Option<String>,
    blocks: Option<Vec<Block>>,
    tool_calls: Option<Vec<Box<RawValue>>>,
    tool_call_id: Noted<Option<String>>,
    tool_name: Noted<Option<String>>,
    thinking: Noted<Option<String>>,
    thinking_signature: Noted<Option<String>>,
    usage: Noted<Option<TokenUsage>>,
    model: Noted<Option<String>>,
    request_id: Noted<Option<String>>,
    finish_reason: Noted<Option<String>>,
    tool_result: Noted<Option<ToolResult>>,
    created_at: Option<f64>,
    #[serde(deserialize_with = "present")]
    metadata: Option<Box<RawValue>>,
}

/// A member that is there, `null` included.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Calls as they were, with the arguments of the native record where they are not carried twice.
fn restored_calls(carried: &[Box<RawValue>], native: &[ToolCall]) -> serde_json::Result<Vec<ToolCall>> {
    let restored = carried.iter().map(|raw| {
        let mut call: ToolCall = serde_json::from_str(raw.get())?;
        let has_own = serde_json::from_str::<Object<'_>>(raw.get())?.get("arguments").is_some();
        if let Some(native) = native.iter().find(|native| !has_own && native.id == call.id) {
            call.arguments.clone_from(&native.arguments);
        }
        Ok(call)
    });
    restored.collect()
}

/// The same of a session without its nodes. Its id, its agent and where it works stay those of the store.
pub fn difference_of_session(wanted: &Session, native: &Session) -> Option<String> {
    let mut members = Members::default();
    members.differs("title", &wanted.title, &native.title);
    members.differs("agentMode", &wanted.agent_mode, &native.agent_mode);
    members.differs("model", &wanted.model, &native.model);
    members.differs("createdAt", &wanted.created_at, &native.created_at);
    members.differs("lastActivityAt", &wanted.last_activity_at, &native.last_activity_at);
    members.differs("shellLastSeenIndex", &wanted.shell_last_seen_index, &native.shell_last_seen_index);
    members.differs("cogsJson", &wanted.cogs_json, &native.cogs_json);
    members.differs("workspaceDirs", &wanted.workspace_dirs, &native.workspace_dirs);
    members.differs("hidden", &wanted.hidden, &native.hidden);
    members.differs("checkpoints", &wanted.checkpoints, &native.checkpoints);
    members.differs("promptHistory", &wanted.prompt_history, &native.prompt_history);
    members.raw("metadata", &wanted.metadata, &native.metadata);
    members.finish()
}

/// Puts what was carried on the session that was read; whether it was of a shape that could be put there.
pub fn restore_session(session: &mut Session, carried: &str) -> bool {
    let restored = merged(session, carried, &OF_STORE);
    restored.map(|restored| *session = restored).is_some()
}

fn merged<T>(own: &T, carried: &str, fixed: &[&str]) -> Option<T>
where
    T: Serialize + for<'de> Deserialize<'de>,
{
    let Ok(Value::Object(carried)) = serde_json::from_str(carried) else { return None };
    let Ok(Value::Object(mut members)) = serde_json::to_value(own) else { return None };
    for (key, value) in carried {
        if fixed.contains(&key.as_str()) {
            continue;
        }
        if value.is_null() && key != "metadata" {
            members.remove(&key);
        } else {
            members.insert(key, value);
        }
    }
    serde_json::from_value(Value::Object(members)).ok()
}

fn same_apart_from_place(a: &MessageNode, b: &MessageNode) -> bool {
    a.role == b.role
        && a.content == b.content
        && a.blocks == b.blocks
        && a.tool_call_id == b.tool_call_id
        && a.tool_name == b.tool_name
        && a.thinking == b.thinking
        && a.thinking_signature == b.thinking_signature
        && a.usage == b.usage
        && a.model == b.model
        && a.request_id == b.request_id
        && a.finish_reason == b.finish_reason
        && a.tool_result == b.tool_result
        && a.created_at.to_bits() == b.created_at.to_bits()
        && a.metadata == b.metadata
}

/// A call as it is carried: without the arguments that the native record has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CarriedCall<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    index: i64,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<ToolCallStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<f64>,
    locations: &'a [Location],
    diffs: &'a [Diff],
}

fn calls<'a>(wanted: &'a [ToolCall], native: &[ToolCall]) -> Vec<CarriedCall<'a>> {
    let carried = wanted.iter().map(|call| {
        let known = native.iter().any(|n| n.id == call.id && n.arguments == call.arguments);
        CarriedCall {
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
    });
    carried.collect()
}

/// A JSON object of what differs.
#[derive(Default)]
struct Members(String);

impl Members {
    fn differs<T: PartialEq + Serialize>(&mut self, key: &str, wanted: &T, native: &T) {
        if wanted != native {
            self.push(key, wanted);
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        // The types of the IR always have a JSON form, but for a number that JSON has not.
        if let Ok(json) = serde_json::to_string(value) {
            self.0.push(if self.0.is_empty() { '{' } else { ',' });
            self.0.push('"');
            self.0.push_str(key);
            self.0.push_str("\":");
            self.0.push_str(&json);
        }
    }

    fn raw(&mut self, key: &str, wanted: &str, native: &str) {
        if wanted != native
            && let Ok(raw) = serde_json::from_str::<&RawValue>(wanted)
        {
            self.push(key, raw);
        }
    }

    fn finish(mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push('}');
        Some(self.0)
    }
}
