//! What an agent tells of a session, read tolerantly: missing texts are empty, numbers may be
//! texts, what has another type than it should is not there, and nothing is refused.

use schemars::JsonSchema;
use sepia_ir::{Diff, Location};
use serde::Serialize;
use serde_json::Value;

/// `session/update`
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Update {
    /// A piece of an answer.
    Message(Chunk),
    /// A piece of what the model thinks.
    Thought(Chunk),
    /// A piece of what the person said, told again.
    User,
    /// A call of a tool begins.
    ToolCall(ToolCallUpdate),
    /// Something about a call.
    ToolCallUpdate(ToolCallUpdate),
    /// Anything else, as it came; the name is its `sessionUpdate`.
    Other { name: String, value: Value },
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Chunk {
    /// Text.
    Text(String),
    /// An image or another block, as it came.
    Block(Value),
}

/// What is told of a call of a tool. Absent members are as they were.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolCallUpdate {
    /// Its id; empty when the agent gives none.
    pub(crate) id: String,
    /// For people.
    pub(crate) title: Option<String>,
    /// `read`, `edit`, `execute` and others.
    pub(crate) kind: Option<String>,
    /// `pending`, `in_progress`, `completed`, `failed`; agents may have others.
    pub(crate) status: Option<String>,
    /// What the tool is called with.
    pub(crate) raw_input: Option<Value>,
    /// What it gave.
    pub(crate) raw_output: Option<Value>,
    /// Files that it concerns.
    pub(crate) locations: Vec<Location>,
    /// Changes of files.
    pub(crate) diffs: Vec<Diff>,
    /// What else it shows.
    pub(crate) contents: Vec<ToolContent>,
}

/// Something that a tool call shows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolContent {
    /// A terminal.
    Terminal {
        /// Its id.
        terminal_id: String,
        /// What it shows.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    },
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Base64.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        /// Where it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
        /// For example `image/png`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Update {
    /// Of the `update` member.
    pub(crate) fn of(mut update: Value) -> Self {
        let name = text(&update["sessionUpdate"]);
        let chunk = |update: &mut Value| {
            let content = update["content"].take();
            match &content {
                Value::Object(block) if block.get("type").is_none_or(|kind| kind == "text") => {
                    Chunk::Text(block.get("text").map(text).unwrap_or_default())
                }
                Value::String(plain) => Chunk::Text(plain.clone()),
                Value::Object(_) => Chunk::Block(content),
                _ => Chunk::Text(String::new()),
            }
        };
        match name.as_str() {
            "agent_message_chunk" => Self::Message(chunk(&mut update)),
            "agent_thought_chunk" => Self::Thought(chunk(&mut update)),
            "user_message_chunk" => Self::User,
            "tool_call" => Self::ToolCall(ToolCallUpdate::of(&update)),
            "tool_call_update" => Self::ToolCallUpdate(ToolCallUpdate::of(&update)),
            _ => Self::Other { name, value: update },
        }
    }

    /// Whether it tells of the conversation, and not of the session's settings.
    pub(crate) fn is_content(&self) -> bool {
        match self {
            Self::Message(_) | Self::Thought(_) | Self::User | Self::ToolCall(_) | Self::ToolCallUpdate(_) => true,
            Self::Other { name, .. } => name == "plan",
        }
    }
}

impl ToolCallUpdate {
    /// Reads what there is.
    pub(super) fn of(value: &Value) -> Self {
        let some = |name: &str| value.get(name).filter(|found| !found.is_null()).cloned();
        let word = |name: &str| value[name].as_str().map(str::to_owned);
        let mut update = Self {
            id: text(&value["toolCallId"]),
            title: word("title"),
            kind: word("kind"),
            status: word("status"),
            raw_input: some("rawInput"),
            // Here the key alone says that there is a result.
            raw_output: value.get("rawOutput").cloned(),
            locations: value["locations"].as_array().into_iter().flatten().filter_map(location).collect(),
            ..Self::default()
        };
        for content in value["content"].as_array().into_iter().flatten() {
            match content["type"].as_str() {
                Some("diff") => update.diffs.extend(diff(content)),
                Some("terminal") => update.contents.push(terminal(content)),
                Some("content") => update.contents.extend(block(&content["content"])),
                _ => update.contents.extend(block(content)),
            }
        }
        update
    }

    /// Whether it says something that a person sees beside its status.
    pub(crate) fn has_details(&self) -> bool {
        !(self.locations.is_empty() && self.diffs.is_empty() && self.contents.is_empty())
    }

    /// Whether the call is at its end.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self.status.as_deref(), Some("completed" | "failed"))
    }

    /// Whether it tells what the tool is called with.
    pub(crate) fn has_input(&self) -> bool {
        self.raw_input.as_ref().is_some_and(|input| match input {
            Value::Object(members) => !members.is_empty(),
            Value::Null => false,
            _ => true,
        })
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn location(value: &Value) -> Option<Location> {
    let path = value["path"].as_str().filter(|path| !path.is_empty())?.to_owned();
    let line = &value["line"];
    let number = line.as_u64().or_else(|| line.as_str()?.trim().parse().ok());
    Some(Location { path, line: number.and_then(|line| line.try_into().ok()) })
}

fn diff(value: &Value) -> Option<Diff> {
    let path = value["path"].as_str().filter(|path| !path.is_empty())?.to_owned();
    let side = |name: &str| value[name].as_str().map(str::to_owned);
    Some(Diff { path, old_text: side("oldText"), new_text: side("newText") })
}

fn terminal(value: &Value) -> ToolContent {
    let output = ["output", "data", "text"].iter().find_map(|name| value[*name].as_str().map(str::to_owned));
    ToolContent::Terminal { terminal_id: text(&value["terminalId"]), output }
}

fn block(value: &Value) -> Option<ToolContent> {
    let word = |name: &str| value[name].as_str().map(str::to_owned);
    match value["type"].as_str()? {
        "text" => Some(ToolContent::Text { text: text(&value["text"]) }),
        "image" => Some(ToolContent::Image { data: word("data"), uri: word("uri"), mime_type: word("mimeType") }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, ToolCallUpdate, ToolContent, Update};
    use serde_json::json;

    #[test]
    fn what_agents_leave_out_or_mistype_is_borne() {
        assert_eq!(
            Update::of(json!(null)),
            Update::Other { name: String::new(), value: json!(null) },
            "an update that is none is told as it came"
        );
        let chunk = |content| Update::of(json!({"sessionUpdate": "agent_message_chunk", "content": content}));
        for (content, text) in [
            (json!({"type": "text", "text": "a"}), "a"),
            (json!({"text": "b"}), "b"),
            (json!("c"), "c"),
            (json!(7), ""),
        ] {
            assert_eq!(chunk(content), Update::Message(Chunk::Text(text.to_owned())));
        }
        let image = json!({"type": "image", "data": "AA=="});
        assert_eq!(chunk(image.clone()), Update::Message(Chunk::Block(image)));
        let call = ToolCallUpdate::of(&json!({
            "toolCallId": 7, "title": null, "rawInput": null, "rawOutput": null, "status": 3,
            "locations": [{"path": "/a", "line": "12"}, {"path": ""}, {"line": 3}, 4],
            "content": [
                {"type": "diff", "path": "/a", "newText": "x"}, {"type": "diff"},
                {"type": "terminal", "terminalId": "t", "data": "out"},
                {"type": "content", "content": {"type": "text", "text": "shown"}},
                {"type": "content", "content": {"type": "audio"}}, 5,
            ],
        }));
        assert_eq!((call.id.as_str(), call.title.as_deref(), call.status.as_deref()), ("7", None, None));
        assert_eq!((call.raw_input.as_ref(), call.raw_output.as_ref()), (None, Some(&json!(null))));
        assert_eq!(call.locations.len(), 1);
        assert_eq!(call.locations.first().and_then(|location| location.line), Some(12));
        assert_eq!(call.diffs.len(), 1);
        assert_eq!(
            call.contents,
            [
                ToolContent::Terminal { terminal_id: "t".to_owned(), output: Some("out".to_owned()) },
                ToolContent::Text { text: "shown".to_owned() }
            ]
        );
    }
}
