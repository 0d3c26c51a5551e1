//! What a driver lists: cheap facts first, rows for what changed.

use crate::session::Session;
use crate::warning::Warning;
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// One thing that sessions are read from: a file, a folder, a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct ScanEntry {
    /// Private to the driver, stable as long as the thing exists; given back to
    /// `summaries`. At most 4 KiB.
    pub key: String,
    /// Changes whenever the rows of this key may have changed: size and mtime, a row
    /// counter. Equal stamps of one driver build mean equal rows.
    pub stamp: String,
    /// Work to expect, bytes; used to spread the keys.
    pub bytes: u64,
    /// When the thing last changed, epoch seconds, as far as that is known without
    /// opening it; used to read the newest first.
    #[cfg_attr(feature = "component", component(name = "changed-at"))]
    pub changed_at: f64,
    /// The session's id when the key alone tells it.
    #[cfg_attr(feature = "component", component(name = "session-id"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Every row of the key has a parent; true only when the key alone tells it. Who lists only
    /// sessions that people began does not ask for its rows.
    #[cfg_attr(feature = "component", component(name = "sub-agent"))]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sub_agent: bool,
}

/// Scan report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct ScanReport {
    /// Entries.
    pub entries: Vec<ScanEntry>,
    /// Folders that could not be read, and the like.
    pub warnings: Vec<Warning>,
}

/// How much a summary has to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum SummaryDetail {
    /// Title, directory, model, times: what a list shows.
    #[cfg_attr(feature = "component", component(name = "row"))]
    Row,
    /// Also `metadata.stats`: messages, tool calls, results, errors, tokens.
    #[cfg_attr(feature = "component", component(name = "stats"))]
    Stats,
}

/// The sessions of one key: none (not a session after all), one, or several (sub-agents
/// kept in the same file).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Key.
    pub key: String,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// Lock state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct LockState {
    /// Id.
    pub id: String,
    /// Process that holds the session, where the agent tells.
    #[cfg_attr(feature = "component", component(name = "holder-pid"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_pid: Option<u32>,
}
