//! References to points that files can be brought back to.

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// A point that files can be brought back to: a reference, never the payload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRef {
    /// Name of the checkpoint within its agent or in version control.
    #[serde(rename = "ref")]
    #[cfg_attr(feature = "component", component(name = "ref"))]
    pub ref_: String,
    /// Epoch milliseconds.
    #[cfg_attr(feature = "component", component(name = "created-at"))]
    pub created_at: f64,
    /// Which run of the session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "component", component(name = "run-count"))]
    pub run_count: Option<i64>,
    /// `stash`, `commit`, `file-history-snapshot`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}
