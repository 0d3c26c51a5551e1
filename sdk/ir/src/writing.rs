//! Saving, deleting and rewinding: options, plans and reports.

use crate::json_text::{self, Json};
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Save options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SaveOptions {
    /// Replace the session of that id; without it an id that exists is `conflict`.
    pub replace: bool,
    /// Do all but the write: the report tells what would happen.
    #[cfg_attr(feature = "component", component(name = "dry-run"))]
    pub dry_run: bool,
    /// Ids of the nodes, rising, that are not on the live branch.
    #[cfg_attr(feature = "component", component(name = "off-branch"))]
    #[serde(default)]
    pub off_branch: Vec<i64>,
}

impl SaveOptions {
    /// Whether a node is on a branch that was left.
    pub fn is_off_branch(&self, node: i64) -> bool {
        self.off_branch.binary_search(&node).is_ok()
    }
}

/// Something of the source that the target can't hold as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// Kind.
    pub kind: LossKind,
    /// Which node, when it is one.
    #[cfg_attr(feature = "component", component(name = "node-id"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<i64>,
    /// One sentence.
    pub message: String,
}

/// Loss kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// Became something else of the same meaning.
    #[cfg_attr(feature = "component", component(name = "mapped"))]
    Mapped,
    /// Is kept in metadata only: the agent does not see it, the way back restores it.
    #[cfg_attr(feature = "component", component(name = "metadata-only"))]
    MetadataOnly,
    /// Is gone.
    #[cfg_attr(feature = "component", component(name = "dropped"))]
    Dropped,
}

/// Save report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SaveReport {
    /// Id in the form that the agent uses.
    pub id: String,
    /// Losses.
    pub losses: Vec<Loss>,
    /// Program and arguments that resume it, to be run in `working-directory`; never a
    /// shell line.
    #[cfg_attr(feature = "component", component(name = "resume-command"))]
    pub resume_command: Vec<String>,
    /// Working directory.
    #[cfg_attr(feature = "component", component(name = "working-directory"))]
    pub working_directory: String,
}

/// One file, folder or row that belongs to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Path relative to the store, or `table:key` of a row.
    pub place: String,
    /// Store.
    pub store: String,
    /// Bytes.
    pub bytes: u64,
}

/// Delete outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct DeleteOutcome {
    /// Removed.
    pub removed: Vec<Artifact>,
    /// What is still there, each with the reason.
    pub failed: Vec<(Artifact, String)>,
    /// What brings back rows, given to `undelete`; files are brought back by the host.
    pub undo: Vec<u8>,
}

/// A tool and what it is called with, in an agent's own vocabulary or in the common one of
/// `wit/tool-vocabulary.wit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct ToolUse {
    /// Name of the tool.
    pub name: String,
    /// A JSON object.
    #[serde(with = "json_text", default = "json_text::null")]
    pub arguments: Json,
}

/// Rewind plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct RewindPlan {
    /// Nodes that stay, in the order of the store.
    pub kept: Vec<i64>,
    /// Nodes that go.
    pub removed: Vec<i64>,
    /// Calls made or answered in removed nodes and not declared in kept ones.
    #[cfg_attr(feature = "component", component(name = "removed-tool-call-ids"))]
    pub removed_tool_call_ids: Vec<String>,
}

/// A file as a checkpoint has it; no content: the file did not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct FileVersion {
    /// Relative to the session's working directory.
    pub path: String,
    /// Content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<u8>>,
}
