//! The wire that `sepia-driver-*` programs speak on stdio, version 1: what goes into its
//! frames. The framing itself is ndjson JSON-RPC 2.0; one request at a time, in order.

use crate::json_text::{self, Json};
use crate::listing::SummaryDetail;
use crate::manifest::StoreRequest;
use crate::node::MessageNode;
use crate::paging::Branch;
use crate::search::SearchQuery;
use crate::session::Session;
use crate::writing::{RewindPlan, SaveOptions, ToolUse};
use serde::{Deserialize, Serialize};

/// Version of this wire; a program that announces another is refused.
pub const PROTOCOL: u32 = 1;

/// JSON-RPC error codes of this wire.
pub mod code {
    pub use crate::json_rpc_code::*;

    /// No such session; the message says which.
    pub const NOT_FOUND: i64 = -32001;
    /// The session is at work.
    pub const BUSY: i64 = -32002;
    /// Another process holds the session.
    pub const LOCKED: i64 = -32003;
    /// The driver lacks the capability.
    pub const UNSUPPORTED: i64 = -32004;
    /// The store could not be read or written.
    pub const STORE: i64 = -32005;
    /// An argument is wrong.
    pub const INVALID: i64 = -32006;
    /// The store changed underneath.
    pub const CONFLICT: i64 = -32007;
}

/// Answer to `--manifest` and to `driver.manifest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WireManifest {
    /// Short stable name.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// Version of the driver.
    pub version: String,
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// `sessionStore`, `sessionWrite`, `checkpoints`, `restore`, `rewind`, `agentConfig`,
    /// `{"convert": …}`; unknown ones are passed over.
    #[serde(default)]
    pub capabilities: Vec<serde_json::Value>,
    /// Optional methods that the program also answers: `scan` stands for `session.scan` and
    /// `session.summaries`, `native`, `locks` and `search` for the methods of these names, `write` for those of
    /// `session-write` and `tool-vocabulary` that wire version 1 has not, and for `trash` in those that it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Command line of the agent for live sessions, split at white space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_command: Option<String>,
    /// JSON Schema, or `null`.
    #[serde(with = "json_text", default = "json_text::null")]
    pub config_schema: Json,
    /// `backendType` of its sessions.
    #[serde(default)]
    pub backend_type: Option<String>,
    /// Where the program looks: nothing is granted by it, since a program has the person's own
    /// rights, but whoever runs it can tell and can move its places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stores: Vec<StoreRequest>,
}

/// Parameters of `session.get`, `session.summary`, `session.checkpoints`, `session.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionParams {
    /// The session.
    pub id: String,
    /// Sub-agent inside it.
    #[serde(default)]
    pub agent_id: Option<String>,
}

/// Parameters of `session.list`; all optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListParams {
    /// How much a row has to say; absent: what a list shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<SummaryDetail>,
}

/// Parameters of the extension method `session.summaries`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummariesParams {
    /// Keys of `session.scan`.
    pub keys: Vec<String>,
    /// How much a row has to say.
    pub detail: SummaryDetail,
}

/// Parameters of the extension method `session.search`; its result is a list of reports, one a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchParams {
    /// Keys of `session.scan`.
    pub keys: Vec<String>,
    /// What is looked for.
    pub query: SearchQuery,
}

/// Parameters of `session.history`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryParams {
    /// The session.
    pub id: String,
    /// Nodes at most.
    #[serde(default)]
    pub limit: Option<u32>,
    /// Exclusive end of the page.
    #[serde(default)]
    pub before: Option<u64>,
    /// Sub-agent inside the session.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Absent: the program's own choice, for drivers older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
}

/// Parameters of the extension method `session.write`; its result is a save report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteParams {
    /// The session with its nodes; an empty id asks for a fresh one.
    pub session: Session,
    /// How.
    pub options: SaveOptions,
    /// Folder that what is written over is kept in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
}

/// Parameters of `session.rename`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RenameParams {
    /// The session.
    pub id: String,
    /// Sub-agent inside it.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// One line.
    pub title: String,
}

/// Parameters of `session.delete`. Version 1 of the wire has no `trash` and answers `null`; with the extension
/// `write` the answer is a delete outcome with `undo` in base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteParams {
    /// The session.
    pub id: String,
    /// Sub-agent inside it.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Folder that what is taken away goes into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
}

/// Parameters of the extension method `session.undelete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndeleteParams {
    /// Of the delete outcome, base64.
    pub undo: String,
}

/// Parameters of `session.rewind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewindParams {
    /// Which session.
    pub session: SessionParams,
    /// What stays and what goes.
    pub plan: RewindPlan,
    /// The session as it shall be afterwards.
    pub truncated: Session,
    /// Folder that what is written over is kept in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
}

/// Parameters of the extension method `session.checkpointFiles`; its result is a list of `{path, content}`
/// with contents in base64, `null` for a file that did not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointParams {
    /// The session.
    pub id: String,
    /// Sub-agent inside it.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// `ref` of the checkpoint.
    pub checkpoint: String,
}

/// Parameters of the extension methods `tools.common` and `tools.own`; the result is a list with a call or
/// `null` for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsParams {
    /// The calls.
    pub calls: Vec<ToolUse>,
}

/// Result of `session.history`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryResult {
    /// Oldest first.
    pub nodes: Vec<MessageNode>,
    /// Nodes outside the page whose calls are answered in it.
    #[serde(default)]
    pub tool_call_nodes: Vec<MessageNode>,
    /// Nodes of the branch.
    pub total: u64,
    /// Position of the first node of the page.
    pub start: u64,
    /// `backendType` of the session.
    #[serde(default)]
    pub backend_type: Option<String>,
}
