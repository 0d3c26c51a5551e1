//! A session and its typed prompts.

use crate::checkpoint::CheckpointRef;
use crate::json_text::{self, Json};
use crate::node::MessageNode;
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// A session. List rows and summaries are the same type with `nodes` and `prompt_history`
/// empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The agent's own id.
    pub id: String,
    /// One line.
    pub title: String,
    /// Absolute path, or empty when the store doesn't tell.
    #[cfg_attr(feature = "component", component(name = "working-directory"))]
    pub working_directory: String,
    /// Which agent's store it came from.
    #[serde(default = "default_backend")]
    #[cfg_attr(feature = "component", component(name = "backend-type"))]
    pub backend_type: String,
    /// The agent's mode.
    #[serde(default = "default_mode")]
    #[cfg_attr(feature = "component", component(name = "agent-mode"))]
    pub agent_mode: String,
    /// Model of the newest answer, or empty.
    pub model: String,
    /// Epoch seconds.
    #[cfg_attr(feature = "component", component(name = "created-at"))]
    pub created_at: f64,
    /// Epoch seconds of the newest conversational record.
    #[cfg_attr(feature = "component", component(name = "last-activity-at"))]
    pub last_activity_at: f64,
    /// Tip of the live branch; 0 when there is no node.
    #[cfg_attr(feature = "component", component(name = "main-chain-id"))]
    pub main_chain_id: i64,
    /// Kept for agents that count shell output.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "shell-last-seen-index"))]
    pub shell_last_seen_index: i64,
    /// JSON text of a list.
    #[serde(default = "empty_list")]
    #[cfg_attr(feature = "component", component(name = "cogs-json"))]
    pub cogs_json: String,
    /// JSON text of a list.
    #[serde(default = "empty_list")]
    #[cfg_attr(feature = "component", component(name = "workspace-dirs"))]
    pub workspace_dirs: String,
    /// 0 or 1.
    #[serde(default)]
    pub hidden: i64,
    /// Session that spawned this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "parent-session-id"))]
    pub parent_session_id: Option<String>,
    /// Identity of a sub-agent inside its parent; not the agent program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "agent-id"))]
    pub agent_id: Option<String>,
    /// Points that files can be brought back to.
    #[serde(default)]
    pub checkpoints: Vec<CheckpointRef>,
    /// What has no field of its own; `warnings` lists what was passed over.
    #[serde(with = "json_text", default = "json_text::null")]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
    pub metadata: Json,
    /// Every message of every branch, in the order of the store.
    #[serde(default)]
    pub nodes: Vec<MessageNode>,
    /// What the person typed.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "prompt-history"))]
    pub prompt_history: Vec<PromptHistoryEntry>,
}

/// Something that the person typed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PromptHistoryEntry {
    /// The text.
    pub content: String,
    /// Epoch milliseconds.
    pub timestamp: f64,
    /// Whether it went to a shell instead of the model.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "is-shell"))]
    pub is_shell: bool,
}

fn default_backend() -> String {
    "windsurf".to_owned()
}

fn default_mode() -> String {
    "accept-edits".to_owned()
}

fn empty_list() -> String {
    "[]".to_owned()
}

impl Session {
    /// An empty session of a backend, with the defaults of the wire, for drivers to fill.
    pub fn new(id: impl Into<String>, backend_type: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: String::new(),
            working_directory: String::new(),
            backend_type: backend_type.into(),
            agent_mode: default_mode(),
            model: String::new(),
            created_at: 0.0,
            last_activity_at: 0.0,
            main_chain_id: 0,
            shell_last_seen_index: 0,
            cogs_json: empty_list(),
            workspace_dirs: empty_list(),
            hidden: 0,
            parent_session_id: None,
            agent_id: None,
            checkpoints: Vec::new(),
            metadata: json_text::null(),
            nodes: Vec::new(),
            prompt_history: Vec::new(),
        }
    }
}
