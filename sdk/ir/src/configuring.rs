//! Writing configuration: options and what was done.

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Config options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct ConfigOptions {
    /// Tell what would be done and do nothing.
    #[cfg_attr(feature = "component", component(name = "dry-run"))]
    pub dry_run: bool,
}

/// Config verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigVerb {
    /// Wrote.
    #[cfg_attr(feature = "component", component(name = "wrote"))]
    Wrote,
    /// Updated.
    #[cfg_attr(feature = "component", component(name = "updated"))]
    Updated,
    /// Unchanged.
    #[cfg_attr(feature = "component", component(name = "unchanged"))]
    Unchanged,
    /// Merged.
    #[cfg_attr(feature = "component", component(name = "merged"))]
    Merged,
    /// Skipped.
    #[cfg_attr(feature = "component", component(name = "skipped"))]
    Skipped,
}

/// Config action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct ConfigAction {
    /// Path.
    pub path: String,
    /// Action.
    pub action: ConfigVerb,
    /// Detail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
