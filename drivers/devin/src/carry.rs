//! What rides along in a row for which the agent has no column and no member: written by
//! [`crate::write`], put back here. It is as hostile as the rest of the store, so what would make
//! a node or a session that no reader may give is passed over.
//!
//! The agent goes on with a session that was written here. A member of the session is put back
//! only while the column beside it still says what it said when the session was written; what the
//! agent changed since counts.

use crate::row::json_list;
use crate::time;
use sepia_ir::{Block, MessageNode, Role, Session};
use sepia_sdk::carried::{KEY, restore, restore_session};
use sepia_sdk::json::{Object, Raw, parse, part};
use sepia_sdk::metadata::Members;
use sepia_sdk::one_line;
use std::collections::HashSet;

/// Member of what a session carries: what the columns said when it was written.
pub(crate) const AS_WRITTEN: &str = "native";

/// Members that a row of a list tells.
pub(crate) const OF_ROW: [&str; 7] =
    ["title", "agentMode", "model", "createdAt", "lastActivityAt", "hidden", "workspaceDirs"];
/// Members that only the session itself tells.
pub(crate) const OF_HEADER: [&str; 4] = ["shellLastSeenIndex", "cogsJson", "checkpoints", "metadata"];
/// Member that is told with the prompts.
pub(crate) const OF_PROMPTS: [&str; 1] = ["promptHistory"];

/// What a session carries, out of the text of its column `metadata`.
pub(crate) fn of_session(metadata: Option<&str>) -> Option<String> {
    let metadata = metadata.filter(|text| text.contains(KEY))?;
    let members: Object<'_> = parse(metadata).ok()?;
    members.get(KEY).map(|carried| carried.get().to_owned())
}

/// Puts members of these names back.
pub(crate) fn onto_session(session: &mut Session, carried: Option<&str>, names: &[&str]) {
    let Some(Ok(members)) = carried.map(parse::<Object<'_>>) else { return };
    let written: Object<'_> = part(members.get(AS_WRITTEN));
    let mut fit = Members::default();
    for name in names {
        let Some(value) = members.get(name) else { continue };
        let unchanged = written.get(name).is_none_or(|then| said(session, name).as_deref() == Some(then.get()));
        if unchanged {
            fit.raw(name, value.get());
        }
    }
    let mut restored = session.clone();
    if restore_session(&mut restored, &fit.finish()) && is_session(&restored) {
        *session = restored;
    }
}

/// What a session says now, as JSON text; of prompts only how many there are.
pub(crate) fn said(session: &Session, name: &str) -> Option<String> {
    let json = match name {
        "title" => serde_json::to_string(&session.title),
        "agentMode" => serde_json::to_string(&session.agent_mode),
        "model" => serde_json::to_string(&session.model),
        "createdAt" => serde_json::to_string(&session.created_at),
        "lastActivityAt" => serde_json::to_string(&session.last_activity_at),
        "hidden" => serde_json::to_string(&session.hidden),
        "workspaceDirs" => serde_json::to_string(&session.workspace_dirs),
        "shellLastSeenIndex" => serde_json::to_string(&session.shell_last_seen_index),
        "cogsJson" => serde_json::to_string(&session.cogs_json.len()),
        "checkpoints" => serde_json::to_string(&session.checkpoints),
        "promptHistory" => serde_json::to_string(&session.prompt_history.len()),
        _ => return None,
    };
    json.ok()
}

/// Whether this is a session that a reader may give.
fn is_session(session: &Session) -> bool {
    let is_time = |time: f64| time == 0.0 || time::plausible(time) == Some(time);
    let is_list = |text: &str| {
        let mut warnings = Vec::new();
        json_list("", Some(text.to_owned()), "", &mut warnings) == text
    };
    let is_title = session.title.is_empty() || one_line(&session.title) == session.title;
    let is_object = session.metadata == "null" || session.metadata.starts_with('{');
    is_title
        && is_object
        && is_time(session.created_at)
        && is_time(session.last_activity_at)
        && session.created_at <= session.last_activity_at
        && is_list(&session.cogs_json)
        && is_list(&session.workspace_dirs)
}

/// Members that a law of nodes speaks of; the others may be anything of their shape.
const OF_LAWS: [&str; 7] = ["role", "content", "blocks", "toolCalls", "toolCallId", "usage", "createdAt"];

/// Puts on a node what its row carries. `repeats` says that another node is the same message, and
/// tells its tokens.
pub(crate) fn onto_node(node: &mut MessageNode, carried: &str, repeats: bool) {
    let Ok(members) = parse::<Object<'_>>(carried) else { return };
    if members.0.iter().any(|(name, _)| OF_LAWS.contains(&name.as_ref())) {
        let mut restored = node.clone();
        if !restore(&mut restored, carried) || !is_node(&restored) {
            return;
        }
        *node = restored;
        if repeats {
            node.usage = None;
        }
    } else {
        // What is of another shape is passed over, as a whole.
        let _ = restore(node, carried);
    }
}

/// Whether this is a node that a reader may give.
fn is_node(node: &MessageNode) -> bool {
    let mut met = HashSet::new();
    let is_call = |call: &sepia_ir::ToolCall| !call.id.is_empty() && !call.name.is_empty();
    let calls = node.tool_calls.iter().all(|call| is_call(call) && met.insert(call.id.as_str()));
    let answers = node.tool_call_id.as_ref().is_some_and(|id| !id.is_empty());
    let tokens = node.usage.is_none_or(|usage| {
        let counts = [Some(usage.input), Some(usage.output), usage.cache_read, usage.cache_write, usage.thinking];
        counts.iter().flatten().all(|count| count.is_finite() && *count >= 0.0)
    });
    let time = node.created_at == 0.0 || time::plausible(node.created_at) == Some(node.created_at);
    calls && answers == (node.role == Role::Tool) && tokens && time && texts_are_content(node)
}

fn texts_are_content(node: &MessageNode) -> bool {
    let text = |block: &Block| match block {
        Block::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    let texts: Vec<String> = node.blocks.iter().filter_map(text).collect();
    texts.is_empty() || texts.join("\n") == node.content
}

/// What a message carries, out of its extensions.
pub(crate) fn of_message(extensions: &Object<'_>) -> Option<String> {
    let carried: Raw<'_> = extensions.get(KEY);
    carried.map(|carried| carried.get().to_owned())
}
