//! Text, thoughts and tool calls.

use super::super::defaults;
use super::super::run::Run;
use crate::script::{Text, Thought, ToolCall, ToolEnd};
use serde_json::{Map, Value, json};

pub(super) fn text(run: &Run<'_>, step: &Text) {
    for part in parts(&step.text, step.chunks) {
        run.say("agent_message_chunk", step.message_id.as_deref(), part);
    }
}

pub(super) fn thought(run: &Run<'_>, step: &Thought) {
    for part in parts(&step.thought, step.chunks) {
        run.say("agent_thought_chunk", step.message_id.as_deref(), part);
    }
}

pub(super) fn remember(run: &Run<'_>) {
    let texts = run.call.session.as_ref().map(|session| session.texts()).unwrap_or_default();
    run.say("agent_message_chunk", None, &texts.join("\n"));
}

pub(super) fn replay(run: &Run<'_>) {
    let Some(id) = &run.call.session_id else { return };
    match run.agent.sessions.find(id) {
        Ok(Some(session)) => defaults::replay(run, &session),
        Ok(None) => super::super::complain(&format!("session {id} has nothing to replay")),
        Err(e) => super::super::complain(&format!("session {id} could not be replayed: {e}")),
    }
}

pub(super) fn tool(run: &Run<'_>, call: &ToolCall) {
    let known = run.known();
    let mut start = update("tool_call", &call.id, "pending");
    start.insert("title".to_owned(), call.title.as_str().into());
    start.insert("kind".to_owned(), call.kind.as_deref().unwrap_or("other").into());
    for (name, value) in [("rawInput", &call.raw_input), ("locations", &call.locations)] {
        start.extend(value.as_ref().map(|value| (name.to_owned(), known.fill(value))));
    }
    run.update(&Value::Object(start));
    run.update(&Value::Object(update("tool_call_update", &call.id, "in_progress")));
    let status = match call.end {
        ToolEnd::Completed => "completed",
        ToolEnd::Failed => "failed",
        ToolEnd::Open => return,
    };
    let mut end = update("tool_call_update", &call.id, status);
    if let Some(output) = &call.output {
        let content = json!([{"type": "content", "content": {"type": "text", "text": output}}]);
        end.insert("content".to_owned(), content);
    }
    end.extend(call.raw_output.as_ref().map(|value| ("rawOutput".to_owned(), known.fill(value))));
    run.update(&Value::Object(end));
}

fn update(kind: &str, id: &str, status: &str) -> Map<String, Value> {
    let fields = [("sessionUpdate", kind), ("toolCallId", id), ("status", status)];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// The text in parts that differ in length by one character at most.
fn parts(text: &str, wanted: Option<usize>) -> Vec<&str> {
    let length = text.chars().count();
    let count = wanted.unwrap_or(1).min(length).max(1);
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let start = |part: usize| starts.get(part * length / count).copied().unwrap_or(text.len());
    (0..count).filter_map(|part| text.get(start(part)..start(part + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_cut_between_characters() {
        assert_eq!(parts("größe", Some(3)), ["g", "rö", "ße"]);
        assert_eq!(parts("ab", Some(9)), ["a", "b"]);
        assert_eq!(parts("ab", Some(0)), ["ab"]);
        assert_eq!(parts("ab", None), ["ab"]);
        assert_eq!(parts("", Some(2)), [""]);
    }
}
