//! What happens in a live session, and to the set of live sessions.

use crate::acp::{PermissionOption, ToolContent};
use schemars::JsonSchema;
use sepia_ir::{Diff, Location};
use serde::Serialize;
use serde_json::Value;

/// What happens in a live session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SessionEvent {
    /// A turn begins.
    RunStarted {
        /// The session.
        thread_id: String,
        /// The live session's, the same for all its turns.
        run_id: String,
    },
    /// A turn is over; the one end that it has.
    RunFinished {
        /// The session.
        thread_id: String,
        /// The live session's.
        run_id: String,
        /// `end_turn`, `cancelled`, `max_tokens`, `max_turn_requests`, `refusal`; agents may have
        /// others. Absent when the turn failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<String>,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<TurnError>,
    },
    /// An answer begins.
    TextMessageStart {
        /// Its id.
        message_id: String,
        /// `assistant`
        role: &'static str,
    },
    /// A piece of it.
    TextMessageContent {
        /// The message.
        message_id: String,
        /// What is added.
        delta: String,
    },
    /// It is whole.
    TextMessageEnd {
        /// The message.
        message_id: String,
    },
    /// What the model thinks begins.
    ReasoningMessageStart {
        /// Its id.
        message_id: String,
        /// `reasoning`
        role: &'static str,
    },
    /// A piece of it.
    ReasoningMessageContent {
        /// The message.
        message_id: String,
        /// What is added.
        delta: String,
    },
    /// It is whole.
    ReasoningMessageEnd {
        /// The message.
        message_id: String,
    },
    /// A tool is called.
    ToolCallStart {
        /// The call.
        tool_call_id: String,
        /// What it is called for people.
        tool_call_name: String,
        /// What it concerns and shows.
        #[serde(flatten)]
        details: ToolCallDetails,
    },
    /// What it is called with, whole.
    ToolCallArgs {
        /// The call.
        tool_call_id: String,
        /// JSON text.
        delta: String,
        /// What it is called for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<String>,
    },
    /// What it gave.
    ToolCallResult {
        /// Id of the result.
        message_id: String,
        /// The call.
        tool_call_id: String,
        /// JSON text.
        content: String,
    },
    /// The call is over.
    ToolCallEnd {
        /// The call.
        tool_call_id: String,
        /// `completed` or `failed`; absent when its turn ended before it.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// What it is called for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<String>,
        /// What it concerns and shows.
        #[serde(flatten)]
        details: ToolCallDetails,
    },
    /// Anything else: `acp:` and the agent's word for it, or `sepia:` and ours.
    Custom {
        /// What it is.
        name: String,
        /// What there is to it.
        value: Value,
    },
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnError {
    /// Stable kind, as in errors of the plane.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What lies underneath.
    pub cause: Option<String>,
}

/// What a tool call concerns and shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct ToolCallDetails {
    /// Files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// Changes of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<Diff>,
    /// What else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<ToolContent>,
}

/// A permission that an agent waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskedPermission {
    /// What answers it: `<session>:<call, or none>:<number>`.
    pub request_id: String,
    /// The session.
    pub session_id: String,
    /// The call, where the agent tells.
    pub tool_call_id: Option<String>,
    /// What is to be done, for people.
    pub title: String,
    /// What may be chosen.
    pub options: Vec<PermissionOption>,
}

/// What happens to the set of live sessions of this machine, and in them.
#[derive(Debug, Clone)]
pub enum NodeEvent {
    /// A stored session went live.
    Attached {
        /// The session.
        session_id: String,
        /// Its agent.
        agent_id: String,
    },
    /// A fresh session was created live.
    Created {
        /// The session.
        session_id: String,
        /// Its agent.
        agent_id: String,
        /// Where it works.
        cwd: String,
    },
    /// It is live no more; always the last event of a session.
    Detached {
        /// The session.
        session_id: String,
        /// Its agent.
        agent_id: String,
        /// Why.
        reason: DetachReason,
    },
    /// It was deleted from its store.
    Deleted {
        /// The session.
        session_id: String,
        /// Its agent.
        agent_id: String,
    },
    /// Something happened in it.
    Session(std::sync::Arc<super::batch::Batch>),
}

/// Why a session is live no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DetachReason {
    /// Somebody asked for it.
    Explicit,
    /// Nobody used it.
    Idle,
    /// It is being deleted.
    Deleted,
    /// It is being cut back.
    Rewind,
    /// The plane ends.
    Shutdown,
}
