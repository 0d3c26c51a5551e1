//! The notifications of this wire. They are part of its contract and stand in its schema; no
//! method of this build makes them flow yet.

#![expect(dead_code, reason = "the shapes are the contract; the live plane will fill them")]

use schemars::JsonSchema;
use sepia_ir::{Diff, Location};
use serde::Serialize;
use serde_json::Value;

/// `session.event`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionEventParams {
    session_id: String,
    /// One batch.
    events: Vec<SessionEvent>,
    /// So many batches were dropped, since the receiver fell behind; `events` is then empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    lagged: Option<u64>,
}

/// What happens in a live session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum SessionEvent {
    RunStarted {
        thread_id: String,
        run_id: String,
    },
    RunFinished {
        thread_id: String,
        run_id: String,
    },
    TextMessageStart {
        message_id: String,
        role: String,
    },
    TextMessageContent {
        message_id: String,
        delta: String,
    },
    TextMessageEnd {
        message_id: String,
    },
    ReasoningMessageStart {
        message_id: String,
        role: String,
    },
    ReasoningMessageContent {
        message_id: String,
        delta: String,
    },
    ReasoningMessageEnd {
        message_id: String,
    },
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        #[serde(flatten)]
        details: ToolCallDetails,
    },
    ToolCallArgs {
        tool_call_id: String,
        delta: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<String>,
    },
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: String,
    },
    ToolCallEnd {
        tool_call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<String>,
        #[serde(flatten)]
        details: ToolCallDetails,
    },
    Custom {
        name: String,
        value: Value,
    },
}

/// What a tool call concerns and shows.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolCallDetails {
    #[serde(skip_serializing_if = "Option::is_none")]
    locations: Option<Vec<Location>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diffs: Option<Vec<Diff>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<Vec<Content>>,
}

/// Something that a tool call shows.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Content {
    Terminal {
        terminal_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    },
    Text {
        text: String,
    },
    Image {
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

/// `node.event`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum NodeEventParams {
    /// A stored session went live.
    Attached { session_id: String, agent_id: String },
    /// A fresh session was created live.
    Created { session_id: String, agent_id: String, cwd: String },
    /// It is live no more; always the last event of a session.
    Detached { session_id: String, agent_id: String, reason: DetachReason },
    /// It was deleted from its store.
    Deleted { session_id: String, agent_id: String },
    /// The batches that `session.event` carries.
    SessionEvents { session_id: String, events: Vec<SessionEvent> },
    /// So many batches were dropped; without a session: the feed as a whole overflowed.
    Lagged { session_id: Option<String>, count: u64 },
}

/// Why a session is live no more.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum DetachReason {
    Explicit,
    Idle,
    Deleted,
    Rewind,
    Shutdown,
}
