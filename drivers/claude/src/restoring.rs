//! What records carry of sessions that were brought here from elsewhere, put back on what is read: beside
//! a message under a key that the agent passes over, and for the session in a record of a type that it does not
//! know. It is as hostile as the rest of a file: what has not the right shape is passed over.

use crate::json::{Object, parse};
use crate::metadata::clean;
use crate::time;
use sepia_ir::{Json, MessageNode, PromptHistoryEntry, Session, ToolCall, Warning};
use sepia_sdk::one_line;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Type of the record that carries what is of the session.
pub(crate) const RECORD: &str = "sepia";

/// Members of the metadata that tell of the file itself.
const OF_THE_STORE: [&str; 3] = ["stats", "warnings", "opaque"];

/// Puts on a node what its record carries. With `repaired`, the warnings of the repair stay.
pub(crate) fn node(node: &mut MessageNode, carried: &str, repaired: bool) {
    let carried = clean(carried);
    let Ok(members) = parse::<Object<'_>>(&carried) else { return };
    for (name, value) in members.0 {
        match name.as_ref() {
            "role" => put(&mut node.role, value),
            "content" => put(&mut node.content, value),
            "blocks" => put(&mut node.blocks, value),
            "toolCalls" => calls(&mut node.tool_calls, value),
            "toolCallId" => put(&mut node.tool_call_id, value),
            "toolName" => put(&mut node.tool_name, value),
            "thinking" => put(&mut node.thinking, value),
            "thinkingSignature" => put(&mut node.thinking_signature, value),
            "usage" => put(&mut node.usage, value),
            "model" => put(&mut node.model, value),
            "requestId" => put(&mut node.request_id, value),
            "finishReason" => put(&mut node.finish_reason, value),
            "toolResult" => put(&mut node.tool_result, value),
            "createdAt" => put_time(&mut node.created_at, value),
            "metadata" => {
                let own: &[&str] = if repaired { &["warnings"] } else { &[] };
                node.metadata = merged(value.get(), &node.metadata, |name| own.contains(&name));
            }
            _ => {}
        }
    }
}

fn put<T: DeserializeOwned>(place: &mut T, value: &RawValue) {
    if let Ok(value) = serde_json::from_str(value.get()) {
        *place = value;
    }
}

fn put_time(place: &mut f64, value: &RawValue) {
    if let Ok(time) = serde_json::from_str::<f64>(value.get())
        && time.is_finite()
        && time >= 0.0
    {
        *place = time;
    }
}

/// Calls are carried without the arguments that the record has: those of the call in the same place.
fn calls(own: &mut Vec<ToolCall>, value: &RawValue) {
    let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(value.get()) else { return };
    let call = |(at, raw): (usize, &&RawValue)| {
        let mut call: ToolCall = serde_json::from_str(raw.get()).ok()?;
        if parse::<Object<'_>>(raw.get()).ok()?.get("arguments").is_none() {
            call.arguments.clone_from(&own.get(at)?.arguments);
        }
        Some(call)
    };
    if let Some(calls) = list.iter().enumerate().map(call).collect() {
        *own = calls;
    }
}

/// Metadata that was carried, and those members of the record's own that `keep` names. Anything but an
/// object, or nothing, is no metadata.
fn merged(carried: &str, own: &str, keep: impl Fn(&str) -> bool) -> Json {
    let members = match carried.as_bytes().first() {
        Some(b'{') => parse::<Object<'_>>(carried).unwrap_or_default(),
        Some(b'n') => Object::default(),
        _ => return own.to_owned(),
    };
    let own_members = parse::<Object<'_>>(own).unwrap_or_default();
    let kept: Vec<_> = own_members.0.iter().filter(|(name, _)| keep(name)).collect();
    if kept.is_empty() {
        return carried.to_owned();
    }
    let carried = members.0.iter().filter(|(name, _)| kept.iter().all(|(own, _)| own != name));
    let mut all = crate::metadata::Members::default();
    for (name, value) in carried.chain(kept.iter().copied()) {
        all.raw(name, value.get());
    }
    all.finish()
}

/// What the record of a session carries.
#[derive(Debug, Clone)]
pub(crate) struct Carried {
    /// Where the record is.
    offset: u64,
    text: String,
}

/// What else is known of the session.
pub(crate) struct Known {
    /// A person gave it a title.
    pub(crate) renamed: bool,
    /// Where the newest message is.
    pub(crate) spoken_at: Option<u64>,
    /// Its prompts and checkpoints are wanted.
    pub(crate) full: bool,
    /// Time of the file, epoch seconds.
    pub(crate) file: f64,
}

impl Carried {
    /// Of the record at this offset.
    pub(crate) fn at(offset: u64, text: &[u8]) -> Self {
        Self { offset, text: String::from_utf8_lossy(text).into_owned() }
    }

    /// Puts it on the session. What changes with every turn holds only as long as nobody went on after the record.
    pub(crate) fn restore(&self, session: &mut Session, known: &Known) {
        let text = clean(&self.text);
        let Ok(members) = parse::<Object<'_>>(&text) else { return };
        let untouched = known.spoken_at.is_none_or(|spoken| spoken < self.offset);
        for (name, value) in members.0 {
            match name.as_ref() {
                "title" => title(session, value, known.renamed),
                "agentMode" if untouched => put(&mut session.agent_mode, value),
                "model" if untouched => put(&mut session.model, value),
                "lastActivityAt" if untouched => put_time(&mut session.last_activity_at, value),
                "createdAt" => put_time(&mut session.created_at, value),
                "shellLastSeenIndex" => put(&mut session.shell_last_seen_index, value),
                "cogsJson" => list(&mut session.cogs_json, value),
                "workspaceDirs" => list(&mut session.workspace_dirs, value),
                "hidden" => put(&mut session.hidden, value),
                "checkpoints" if known.full => put(&mut session.checkpoints, value),
                "promptHistory" if known.full && untouched => {
                    put::<Vec<PromptHistoryEntry>>(&mut session.prompt_history, value);
                }
                "metadata" => session.metadata = metadata(value, &session.metadata, untouched),
                _ => {}
            }
        }
        (session.last_activity_at, _) = time::not_after(session.last_activity_at, known.file);
        session.created_at = session.created_at.min(session.last_activity_at);
    }
}

/// A title that the agent's own record of it can't hold.
fn title(session: &mut Session, value: &RawValue, renamed: bool) {
    let mut title = String::new();
    put(&mut title, value);
    if !renamed || one_line(&title) == session.title {
        session.title = title;
    }
}

/// Text of a JSON list.
fn list(place: &mut String, value: &RawValue) {
    let mut text = String::new();
    put(&mut text, value);
    if serde_json::from_str::<Vec<&RawValue>>(&text).is_ok() {
        *place = text;
    }
}

fn metadata(carried: &RawValue, own: &str, untouched: bool) -> Json {
    let members: Object<'_> = parse(carried.get()).unwrap_or_default();
    let warnings = members.get("warnings").map(|raw| serde_json::from_str::<Vec<Warning>>(raw.get()));
    let is_sound = warnings.is_none_or(|warnings| {
        warnings.is_ok_and(|list| list.iter().all(|warning| !warning.code.is_empty() && !warning.message.is_empty()))
    });
    if !is_sound {
        return own.to_owned();
    }
    // What was counted elsewhere is as good as what is counted here, until there is more to count.
    let outdated = |name: &str| !untouched && OF_THE_STORE.contains(&name);
    merged(carried.get(), own, |name| outdated(name) || members.get(name).is_none())
}

#[cfg(test)]
mod tests {
    use super::{merged, node};
    use sepia_ir::{MessageNode, Role, ToolCall};

    #[test]
    fn members_of_the_wrong_shape_are_passed_over() {
        let mut read = MessageNode::new(1, Role::User, 7.0);
        read.tool_calls = vec![ToolCall::new("a", "b", r#"{"z":1,"a":2}"#.into())];
        let before = read.clone();
        for text in [
            "",
            "7",
            "[]",
            "{",
            r#"{"role":"king","content":7,"createdAt":-1,"metadata":[1],"toolCalls":{}}"#,
            r#"{"createdAt":1e999,"metadata":"x","toolCalls":[{"id":1}],"nodeId":9,"parentNodeId":9}"#,
        ] {
            node(&mut read, text, false);
            assert_eq!(read, before, "{text}");
        }
    }

    #[test]
    fn arguments_stay_those_of_the_record_unless_others_are_carried() {
        let mut read = MessageNode::new(1, Role::Assistant, 7.0);
        read.tool_calls = vec![ToolCall::new("a", "Read", r#"{"z":1,"a":2}"#.into())];
        node(&mut read, r#"{"toolCalls":[{"id":"x","name":"read_file","status":"success"}]}"#, false);
        assert_eq!((read.tool_calls[0].id.as_str(), read.tool_calls[0].arguments.as_str()), ("x", r#"{"z":1,"a":2}"#));
        node(&mut read, r#"{"toolCalls":[{"id":"x","name":"n","arguments":"text"}]}"#, false);
        assert_eq!(read.tool_calls[0].arguments, "\"text\"");
    }

    #[test]
    fn metadata_takes_the_place_of_the_records_own() {
        assert_eq!(merged(r#"{"a":1}"#, r#"{"b":2}"#, |_| false), r#"{"a":1}"#);
        assert_eq!(merged(r#"{"a":1}"#, r#"{"b":2,"a":3}"#, |name| name == "b"), r#"{"a":1,"b":2}"#);
        assert_eq!(merged("null", r#"{"b":2}"#, |_| true), r#"{"b":2}"#);
        assert_eq!(merged("[1]", r#"{"b":2}"#, |_| false), r#"{"b":2}"#);
    }
}
