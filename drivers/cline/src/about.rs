//! `metadata` of a session: what the store tells and the IR has no field for.

use crate::carried_header::CarriedHeader;
use crate::compaction::Compaction;
use crate::json_value::JsonValue;
use sepia_ir::{Json, Session, Warning};
use sepia_sdk::metadata::capped;
use sepia_sdk::stats::Stats;
use serde::Serialize;
use std::collections::BTreeMap;

/// What of a session is asked for, beside its row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) checkpoints: bool,
    pub(crate) prompts: bool,
}

/// See the module.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct About {
    /// `completed`, `failed`, `cancelled`, `idle`, `running` or `pending`, as the agent has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit_code: Option<i64>,
    /// Why the agent wrote the session off, after its process was gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) terminal_marker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// How it was started, e.g. `cli`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
    /// When it is not the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) workspace_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) team: Option<String>,
    /// `subagent` or `teammate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation_id: Option<String>,
    /// `custom`, `stored`, `first-prompt` or `id`.
    pub(crate) title_source: &'static str,
    /// `file` when nothing in the store has a time, `clamped` when one lay after the files' own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_source: Option<&'static str>,
    /// Tasks: the file that the messages are read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read_from: Option<String>,
    /// Tasks: `complete`, or which part is missing: `unlisted`, `no-files`, `shown-only`,
    /// `api-only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) favorite: bool,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_cost: Option<f64>,
    /// The agent's own totals with those of teammates, when they are others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aggregate_usage: Option<JsonValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compaction: Option<Compaction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stats: Option<Stats>,
    /// What is carried without being understood, by type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) opaque: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<Warning>,
    /// What a session that came from elsewhere carries beside its manifest.
    #[serde(skip)]
    pub(crate) carried: Option<CarriedHeader>,
}

impl About {
    /// Puts it into the session, and what is carried as well, as far as these parts are asked for.
    pub(crate) fn put_into(mut self, session: &mut Session, parts: Parts) {
        let carried = self.carried.take();
        session.metadata = self.json();
        if let Some(carried) = carried {
            carried.put_on(session, parts);
        }
    }

    /// As JSON text.
    fn json(mut self) -> Json {
        self.warnings = capped(self.warnings);
        // A struct of plain members always has a JSON form.
        serde_json::to_string(&self).unwrap_or_else(|_| sepia_ir::json_text::null())
    }
}
