//! Messages: the nodes of a session's tree.

use crate::block::Block;
use crate::json_text::{self, Json};
use crate::tool::{ToolCall, ToolResult};
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageNode {
    /// Unique in the session, not negative, rising in the order of the store.
    #[cfg_attr(feature = "component", component(name = "node-id"))]
    pub node_id: i64,
    /// Absent for roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "parent-node-id"))]
    pub parent_node_id: Option<i64>,
    /// Who speaks.
    pub role: Role,
    /// The text, text blocks joined by line feeds.
    pub content: String,
    /// All blocks in order, text included; empty when there is nothing but text.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Tools that this message calls.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "tool-calls"))]
    pub tool_calls: Vec<ToolCall>,
    /// Tool nodes: the call that this answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "tool-call-id"))]
    pub tool_call_id: Option<String>,
    /// Tool nodes: the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "tool-name"))]
    pub tool_name: Option<String>,
    /// Reasoning; `[redacted]` when it is sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Signature of the reasoning, or its sealed payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "thinking-signature"))]
    pub thinking_signature: Option<String>,
    /// Tokens of the call that made this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
    /// Model that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "request-id"))]
    pub request_id: Option<String>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "finish-reason"))]
    pub finish_reason: Option<String>,
    /// Tool nodes: the outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "tool-result"))]
    pub tool_result: Option<ToolResult>,
    /// Epoch seconds.
    #[cfg_attr(feature = "component", component(name = "created-at"))]
    pub created_at: f64,
    /// What has no field of its own.
    #[serde(with = "json_text", default = "json_text::null")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub metadata: Json,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(u8)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent program.
    #[cfg_attr(feature = "component", component(name = "system"))]
    System,
    /// The person, or what stands in for one.
    #[cfg_attr(feature = "component", component(name = "user"))]
    User,
    /// The model.
    #[cfg_attr(feature = "component", component(name = "assistant"))]
    Assistant,
    /// A tool's result.
    #[cfg_attr(feature = "component", component(name = "tool"))]
    Tool,
}

/// Tokens of one model call; cost in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens read anew.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "cache-read"))]
    pub cache_read: Option<f64>,
    /// Tokens put into the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "cache-write"))]
    pub cache_write: Option<f64>,
    /// Tokens of reasoning, part of `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<f64>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl MessageNode {
    /// An empty message of a role, for drivers to fill.
    pub fn new(node_id: i64, role: Role, created_at: f64) -> Self {
        Self {
            node_id,
            parent_node_id: None,
            role,
            content: String::new(),
            blocks: Vec::new(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            tool_name: None,
            thinking: None,
            thinking_signature: None,
            usage: None,
            model: None,
            request_id: None,
            finish_reason: None,
            tool_result: None,
            created_at,
            metadata: json_text::null(),
        }
    }
}
