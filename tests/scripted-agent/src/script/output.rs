//! Steps that tell the client something about the session.

use super::switch::On;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A `session/update` as given, with the session's id filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Update {
    /// The `update`; placeholders are filled.
    pub update: Value,
}

/// `agent_message_chunk`s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Text {
    /// The whole text.
    pub text: String,
    /// In how many parts it is sent, at most one a character; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
    /// Sent with each part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
}

/// `agent_thought_chunk`s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Thought {
    /// The whole text.
    pub thought: String,
    /// In how many parts it is sent, at most one a character; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
    /// Sent with each part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
}

/// Many chunks, as fast as they are taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// What it consists of.
    pub flood: FloodOf,
}

/// What a flood consists of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FloodOf {
    /// How many chunks; their numbers are 1, 2, 3, …
    pub count: u64,
    /// Size of a chunk's text, bytes; see [`flood_text`].
    #[serde(default = "FloodOf::default_bytes")]
    pub bytes: usize,
    /// Chunks in a second; unlimited by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_second: Option<u32>,
    /// Text or thought.
    #[serde(default)]
    pub kind: FloodKind,
    /// Sent with each chunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
}

impl FloodOf {
    fn default_bytes() -> usize {
        20
    }

    /// Unlimited text.
    pub fn new(count: u64, bytes: usize) -> Self {
        Self { count, bytes, per_second: None, kind: FloodKind::Text, message_id: None }
    }
}

/// Text or thought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FloodKind {
    /// `agent_message_chunk`.
    #[default]
    Text,
    /// `agent_thought_chunk`.
    Thought,
}

/// Appends the text of a chunk of a flood: its number, a space, and full stops up to `bytes`
/// bytes. Number and space are there even when they need more.
pub fn flood_text(number: u64, bytes: usize, text: &mut Vec<u8>) {
    let before = text.len();
    text.extend_from_slice(number.to_string().as_bytes());
    text.push(b' ');
    let whole = before.saturating_add(bytes).max(text.len());
    text.resize(whole, b'.');
}

/// A `tool_call` and its `tool_call_update`s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The call.
    pub tool: ToolCall,
}

/// A tool call: `pending`, then `in_progress`, then its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolCall {
    /// Its `toolCallId`.
    pub id: String,
    /// Its `title`.
    pub title: String,
    /// Its `kind`; `other` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its `rawInput`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// Its `locations`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Value>,
    /// Text content of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// `rawOutput` of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// How it ends.
    #[serde(default)]
    pub end: ToolEnd,
}

/// How a tool call ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolEnd {
    /// With success.
    #[default]
    Completed,
    /// Without.
    Failed,
    /// It does not: no update closes it.
    Open,
}

/// A text chunk that repeats the text of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Echo {
    /// There is nothing to choose.
    pub echo: On,
}

/// A text chunk with all texts of the user in this session, the present one last, a line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remember {
    /// There is nothing to choose.
    pub remember: On,
}

/// The history of the session, as an unscripted `session/load` replays it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// There is nothing to choose.
    pub replay: On,
}
