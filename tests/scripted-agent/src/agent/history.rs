//! What was said in a session.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A prompt and what followed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// The content blocks of the prompt.
    pub(crate) prompt: Vec<Value>,
    /// The updates; chunks of one message are one.
    pub(crate) updates: Vec<Value>,
}

impl Turn {
    pub(crate) fn add(&mut self, update: &Value) {
        let text = update.pointer("/content/text").and_then(Value::as_str);
        let kind = update.get("sessionUpdate").and_then(Value::as_str);
        match (kind, text) {
            (Some(kind @ ("agent_message_chunk" | "agent_thought_chunk")), Some(text)) => {
                self.add_text(kind, update.get("messageId").and_then(Value::as_str), text);
            }
            _ => self.updates.push(update.clone()),
        }
    }

    /// Adds a chunk to the message before it, if it belongs to it.
    pub(crate) fn add_text(&mut self, kind: &str, message_id: Option<&str>, text: &str) {
        let same = |last: &&mut Value| {
            last.get("sessionUpdate").and_then(Value::as_str) == Some(kind)
                && last.get("messageId").and_then(Value::as_str) == message_id
        };
        let last = self.updates.last_mut().filter(same).and_then(|last| last.pointer_mut("/content/text"));
        if let Some(Value::String(whole)) = last {
            whole.push_str(text);
        } else {
            self.updates.push(chunk(kind, message_id, text));
        }
    }

    /// The prompt's text.
    pub(crate) fn text(&self) -> String {
        text_of(&self.prompt)
    }

    /// The updates that replay it.
    pub(crate) fn replay(&self) -> impl Iterator<Item = Value> {
        let user = self.prompt.iter().map(|block| json!({"sessionUpdate": "user_message_chunk", "content": block}));
        user.chain(self.updates.iter().cloned())
    }
}

/// An update with a piece of text.
pub(crate) fn chunk(kind: &str, message_id: Option<&str>, text: &str) -> Value {
    let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    if let (Some(fields), Some(id)) = (update.as_object_mut(), message_id) {
        fields.insert("messageId".to_owned(), id.into());
    }
    update
}

/// The text of content blocks, a line for each.
pub(crate) fn text_of(blocks: &[Value]) -> String {
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Turn, chunk, text_of};
    use serde_json::json;

    #[test]
    fn chunks_of_one_message_become_one() {
        let mut turn = Turn::default();
        let message = "agent_message_chunk";
        turn.add(&chunk(message, None, "a"));
        turn.add(&chunk(message, None, "b"));
        turn.add(&chunk(message, Some("m"), "c"));
        turn.add(&chunk("agent_thought_chunk", Some("m"), "d"));
        turn.add(&json!({"sessionUpdate": "plan", "entries": []}));
        turn.add(&chunk(message, None, "e"));
        let expected = [
            chunk(message, None, "ab"),
            chunk(message, Some("m"), "c"),
            chunk("agent_thought_chunk", Some("m"), "d"),
            json!({"sessionUpdate": "plan", "entries": []}),
            chunk(message, None, "e"),
        ];
        assert_eq!(turn.updates, expected);
    }

    #[test]
    fn blocks_without_text_have_none() {
        let blocks = [json!({"type": "text", "text": "a"}), json!({"type": "image"}), json!({"text": "b"})];
        assert_eq!(text_of(&blocks), "a\nb");
    }
}
