//! `metadata` of a session: what the store tells and the IR has no field for.

use crate::checkpoints::FileHistory;
use crate::draft::Opaque;
use sepia_ir::{Json, Warning};
use sepia_sdk::metadata::capped;
use sepia_sdk::stats::Stats;
use serde::Serialize;

/// See the module.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entrypoint: Option<String>,
    /// `custom`, `generated`, `summary`, `first-prompt`, `first-command`, `last-prompt`,
    /// `description` or `id`.
    pub(crate) title_source: &'static str,
    /// `file` when no record has a time, `clamped` when one lay after the file's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_source: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The call of the parent session that started this sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spawn_depth: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stats: Option<Stats>,
    /// Records that are not understood, by type.
    #[serde(skip_serializing_if = "Opaque::is_empty")]
    pub(crate) opaque: Opaque,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file_history: Option<FileHistory>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<Warning>,
    /// Of the small files beside the transcript; told last among the warnings.
    #[serde(skip)]
    pub(crate) warnings_beside: Vec<Warning>,
}

impl About {
    /// As JSON text.
    pub(crate) fn json(mut self) -> Json {
        self.warnings = capped(self.warnings);
        // A struct of plain members always has a JSON form.
        serde_json::to_string(&self).unwrap_or_else(|_| sepia_ir::json_text::null())
    }
}
