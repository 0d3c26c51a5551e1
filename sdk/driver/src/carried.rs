//! What a native record has no place for, carried beside it under a key of its own that the
//! agent passes over, so that a session that comes back is as it was.
//!
//! A writer knows the node that it is to write and the node that its reader would make of the
//! native record; [`difference`] is what has to ride along, as the text of a JSON object, and [`restore`] puts it
//! on the node again. What is carried is as hostile as the rest of a store: members that are not of
//! the right shape are passed over.

use crate::json::{Object, parse};
use crate::same::{Same, same};
use sepia_ir::{
    Block, CheckpointRef, Json, MessageNode, PromptHistoryEntry, Role, Session, TokenUsage, ToolCall, ToolResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Key of a native record under which things are carried.
pub const KEY: &str = "sepia";

/// What of `wanted` the native form doesn't give back; none when it gives all. A member that
/// the native form has and `wanted` has not is carried as `null`.
pub fn difference(wanted: &MessageNode, native: &MessageNode) -> Option<String> {
    let same_calls = same(&wanted.tool_calls, &native.tool_calls);
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
/// Texts of JSON stay as they were carried, to the letter, and nothing else of the node is copied.
pub fn restore(node: &mut MessageNode, carried: &str) -> bool {
    let calls = node.tool_calls.as_slice();
    let Some(parts) = NodeParts::of(carried, calls) else { return false };
    put(&mut node.role, parts.role);
    put(&mut node.content, parts.content);
    put(&mut node.blocks, parts.blocks);
    put(&mut node.tool_calls, parts.tool_calls);
    put(&mut node.tool_call_id, parts.tool_call_id);
    put(&mut node.tool_name, parts.tool_name);
    put(&mut node.thinking, parts.thinking);
    put(&mut node.thinking_signature, parts.thinking_signature);
    put(&mut node.usage, parts.usage);
    put(&mut node.model, parts.model);
    put(&mut node.request_id, parts.request_id);
    put(&mut node.finish_reason, parts.finish_reason);
    put(&mut node.tool_result, parts.tool_result);
    put(&mut node.created_at, parts.created_at);
    put(&mut node.metadata, parts.metadata);
    true
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
    let Some(parts) = SessionParts::of(carried) else { return false };
    put(&mut session.title, parts.title);
    put(&mut session.agent_mode, parts.agent_mode);
    put(&mut session.model, parts.model);
    put(&mut session.created_at, parts.created_at);
    put(&mut session.last_activity_at, parts.last_activity_at);
    put(&mut session.shell_last_seen_index, parts.shell_last_seen_index);
    put(&mut session.cogs_json, parts.cogs_json);
    put(&mut session.workspace_dirs, parts.workspace_dirs);
    put(&mut session.hidden, parts.hidden);
    put(&mut session.checkpoints, parts.checkpoints);
    put(&mut session.prompt_history, parts.prompt_history);
    put(&mut session.metadata, parts.metadata);
    true
}

fn put<T>(place: &mut T, carried: Option<T>) {
    if let Some(carried) = carried {
        *place = carried;
    }
}

/// What is carried of a node, each member if it is there. Its number and its parent are never.
#[expect(clippy::option_option, reason = "whether it is carried, and what: perhaps nothing")]
struct NodeParts {
    role: Option<Role>,
    content: Option<String>,
    blocks: Option<Vec<Block>>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_call_id: Option<Option<String>>,
    tool_name: Option<Option<String>>,
    thinking: Option<Option<String>>,
    thinking_signature: Option<Option<String>>,
    usage: Option<Option<TokenUsage>>,
    model: Option<Option<String>>,
    request_id: Option<Option<String>>,
    finish_reason: Option<Option<String>>,
    tool_result: Option<Option<ToolResult>>,
    created_at: Option<f64>,
    metadata: Option<Json>,
}

impl NodeParts {
    fn of(carried: &str, calls: &[ToolCall]) -> Option<Self> {
        let from = Carried::of(carried)?;
        Some(Self {
            role: from.member("role")?,
            content: from.member("content")?,
            blocks: from.member("blocks")?,
            tool_calls: from.calls(calls)?,
            tool_call_id: from.member("toolCallId")?,
            tool_name: from.member("toolName")?,
            thinking: from.member("thinking")?,
            thinking_signature: from.member("thinkingSignature")?,
            usage: from.member("usage")?,
            model: from.member("model")?,
            request_id: from.member("requestId")?,
            finish_reason: from.member("finishReason")?,
            tool_result: from.member("toolResult")?,
            created_at: from.member("createdAt")?,
            metadata: from.json("metadata"),
        })
    }
}

/// What is carried of a session.
struct SessionParts {
    title: Option<String>,
    agent_mode: Option<String>,
    model: Option<String>,
    created_at: Option<f64>,
    last_activity_at: Option<f64>,
    shell_last_seen_index: Option<i64>,
    cogs_json: Option<String>,
    workspace_dirs: Option<String>,
    hidden: Option<i64>,
    checkpoints: Option<Vec<CheckpointRef>>,
    prompt_history: Option<Vec<PromptHistoryEntry>>,
    metadata: Option<Json>,
}

impl SessionParts {
    fn of(carried: &str) -> Option<Self> {
        let from = Carried::of(carried)?;
        Some(Self {
            title: from.member("title")?,
            agent_mode: from.member("agentMode")?,
            model: from.member("model")?,
            created_at: from.member("createdAt")?,
            last_activity_at: from.member("lastActivityAt")?,
            shell_last_seen_index: from.member("shellLastSeenIndex")?,
            cogs_json: from.member("cogsJson")?,
            workspace_dirs: from.member("workspaceDirs")?,
            hidden: from.member("hidden")?,
            checkpoints: from.member("checkpoints")?,
            prompt_history: from.member("promptHistory")?,
            metadata: from.json("metadata"),
        })
    }
}

/// The object that is carried, its members as text.
struct Carried<'a>(Object<'a>);

impl<'a> Carried<'a> {
    fn of(carried: &'a str) -> Option<Self> {
        if !carried.trim_start().starts_with('{') {
            return None;
        }
        parse(carried).ok().map(Self)
    }

    /// A member, if it is there; none when it is of another shape.
    #[expect(clippy::option_option, reason = "whether it fits, and whether it is there")]
    fn member<T: DeserializeOwned>(&self, name: &str) -> Option<Option<T>> {
        match self.0.get(name) {
            None => Some(None),
            Some(raw) => parse(raw.get()).ok().map(Some),
        }
    }

    fn json(&self, name: &str) -> Option<Json> {
        self.0.get(name).map(|raw| raw.get().to_owned())
    }

    /// Calls; arguments that the native record has are not carried twice.
    #[expect(clippy::option_option, reason = "whether they fit, and whether they are there")]
    fn calls(&self, own: &[ToolCall]) -> Option<Option<Vec<ToolCall>>> {
        let Some(list) = self.0.get("toolCalls") else { return Some(None) };
        let mut calls = Vec::new();
        for raw in parse::<Vec<&RawValue>>(list.get()).ok()? {
            let mut call: ToolCall = parse(raw.get()).ok()?;
            if parse::<Object<'_>>(raw.get()).ok()?.get("arguments").is_none()
                && let Some(own) = own.iter().find(|own| own.id == call.id)
            {
                call.arguments.clone_from(&own.arguments);
            }
            calls.push(call);
        }
        Some(Some(calls))
    }
}

fn same_apart_from_place(a: &MessageNode, b: &MessageNode) -> bool {
    a.role == b.role
        && same(&a.content, &b.content)
        && same(&a.blocks, &b.blocks)
        && a.tool_call_id == b.tool_call_id
        && a.tool_name == b.tool_name
        && same(&a.thinking, &b.thinking)
        && same(&a.thinking_signature, &b.thinking_signature)
        && a.usage == b.usage
        && a.model == b.model
        && a.request_id == b.request_id
        && a.finish_reason == b.finish_reason
        && a.tool_result == b.tool_result
        && same(&a.created_at, &b.created_at)
        && same(&a.metadata, &b.metadata)
}

/// Calls as they are carried, JSON text: without the arguments that the native record has.
fn calls(wanted: &[ToolCall], native: &[ToolCall]) -> Vec<Box<RawValue>> {
    let carried = wanted.iter().filter_map(|call| {
        let json = serde_json::to_string(call).ok()?;
        if !native.iter().any(|n| n.id == call.id && same(&n.arguments, &call.arguments)) {
            return RawValue::from_string(json).ok();
        }
        let mut members = Members::default();
        for (name, value) in parse::<Object<'_>>(&json).ok()?.0 {
            if name != "arguments" {
                members.push(&name, value);
            }
        }
        RawValue::from_string(members.finish()?).ok()
    });
    carried.collect()
}

/// A JSON object of what differs.
#[derive(Default)]
struct Members(String);

impl Members {
    fn differs<T: Same + Serialize>(&mut self, key: &str, wanted: &T, native: &T) {
        if !same(wanted, native) {
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
        if !same(wanted, native)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{difference, difference_of_session, restore, restore_session};
    use sepia_ir::{MessageNode, Role, Session, ToolCall, ToolCallStatus};

    #[test]
    fn json_comes_back_to_the_letter() {
        let mut wanted = MessageNode::new(7, Role::Assistant, 1.25);
        wanted.metadata = r#"{"z": 1.50, "a": {"y":[1e2], "b":null}}"#.into();
        let mut call = ToolCall::new("c", "exec", r#"{"z":1,  "a":"\u00e9"}"#.into());
        call.status = Some(ToolCallStatus::Error);
        let other = ToolCall::new("d", "exec", r#"{"z":1,"a":2}"#.into());
        wanted.tool_calls = vec![call.clone(), other];
        let mut native = MessageNode::new(3, Role::Assistant, 1.25);
        call.status = None;
        native.tool_calls = vec![call];
        let carried = difference(&wanted, &native).unwrap();
        // The arguments of the first call are the native record's.
        assert!(!carried.contains("u00e9") && carried.contains(r#"{"z":1,"a":2}"#), "{carried}");
        assert!(restore(&mut native, &carried));
        assert_eq!(native, MessageNode { node_id: 3, ..wanted });

        let mut wanted = Session::new("a", "x");
        wanted.metadata = r#"{"z":1,"a":2}"#.into();
        wanted.title = "T".into();
        let mut native = Session::new("b", "y");
        let carried = difference_of_session(&wanted, &native).unwrap();
        assert!(restore_session(&mut native, &carried));
        assert_eq!(native, Session { id: "b".into(), backend_type: "y".into(), ..wanted });
    }

    #[test]
    fn what_is_absent_is_taken_away_and_what_is_odd_is_left() {
        let wanted = MessageNode::new(1, Role::User, 0.0);
        let mut native = MessageNode { model: Some("m".into()), ..wanted.clone() };
        let carried = difference(&wanted, &native).unwrap();
        assert!(restore(&mut native, &carried));
        assert_eq!((native, difference(&wanted, &wanted)), (wanted.clone(), None));
        for odd in
            [r#"{"model":7,"content":"x"}"#, r#"{"toolCalls":[1]}"#, "[]", "7", "not json", r#"{"role":"nobody"}"#]
        {
            let mut node = wanted.clone();
            assert!(!restore(&mut node, odd), "{odd}");
            assert_eq!(node, wanted, "{odd}");
        }
    }
}
