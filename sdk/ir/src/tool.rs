//! Tool calls and what became of them.

use crate::json_text::{self, Json};
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// A call of a tool by the model. Its result is a tool node of its own; the outcome is
/// folded back here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Id that the result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it was called with.
    #[serde(with = "json_text", default = "json_text::null")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub arguments: Json,
    /// Position among the calls of the message.
    #[serde(default)]
    pub index: i64,
    /// `function`.
    #[serde(default = "default_kind")]
    pub kind: String,
    /// Absent while nothing is known of the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolCallStatus>,
    /// Exit code of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "exit-code"))]
    pub exit_code: Option<i64>,
    /// Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "duration-ms"))]
    pub duration_ms: Option<f64>,
    /// Files that it concerns.
    #[serde(default)]
    pub locations: Vec<Location>,
    /// Changes that it made.
    #[serde(default)]
    pub diffs: Vec<Diff>,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
#[serde(rename_all = "lowercase")]
pub enum ToolCallStatus {
    /// Running, or waiting for permission.
    #[cfg_attr(feature = "component", component(name = "pending"))]
    Pending,
    /// Done.
    #[cfg_attr(feature = "component", component(name = "success"))]
    Success,
    /// Failed or refused.
    #[cfg_attr(feature = "component", component(name = "error"))]
    Error,
}

/// A place in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Location {
    /// The file, as the agent named it.
    pub path: String,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<i64>,
}

/// A change of one file: without `old_text` it was created, without `new_text` removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The file, as the agent named it.
    pub path: String,
    /// Before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "old-text"))]
    pub old_text: Option<String>,
    /// After.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "new-text"))]
    pub new_text: Option<String>,
}

/// The outcome of a call, on the tool node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Outcome.
    pub status: ToolCallStatus,
    /// Exit code of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "exit-code"))]
    pub exit_code: Option<i64>,
    /// Milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "duration-ms"))]
    pub duration_ms: Option<f64>,
}

fn default_kind() -> String {
    "function".to_owned()
}

impl ToolCall {
    /// A call with nothing known of its outcome.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Json) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
            index: 0,
            kind: default_kind(),
            status: None,
            exit_code: None,
            duration_ms: None,
            locations: Vec::new(),
            diffs: Vec::new(),
        }
    }
}
