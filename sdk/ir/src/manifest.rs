//! What a driver says of itself.

use crate::json_text::{self, Json};
use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// What a driver says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Short stable name, `[a-z][a-z0-9-]{0,31}`.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// Version of the driver, semver.
    pub version: String,
    /// `backendType` that its sessions carry.
    #[cfg_attr(feature = "component", component(name = "backend-type"))]
    pub backend_type: String,
    /// The places that it wants to reach.
    #[serde(default)]
    pub stores: Vec<StoreRequest>,
    /// Program and arguments of the agent for live sessions; empty when there is none.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "agent-command"))]
    pub agent_command: Vec<String>,
    /// JSON Schema of what the environment can set, or `null`.
    #[serde(with = "json_text", default = "json_text::null")]
    #[cfg_attr(feature = "component", component(name = "config-schema"))]
    pub config_schema: Json,
}

/// A place on disk that a driver asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct StoreRequest {
    /// Name within the driver, `[a-z][a-z0-9-]{0,31}`.
    pub name: String,
    /// Environment variables that move the place; the first that is set and not empty wins.
    /// `NAME/below` is a folder below what the variable names, `NAME/..` the directory that the
    /// place in it is in.
    #[serde(default)]
    pub env: Vec<String>,
    /// Place when none is set; `~/` and `$XDG_*` are replaced.
    #[cfg_attr(feature = "component", component(name = "default-path"))]
    pub default_path: String,
    /// Directory or database.
    pub kind: StoreKind,
    /// Read, or read and write.
    pub access: StoreAccess,
    /// Directories inside the store whose entries may be links to directories elsewhere.
    #[serde(default)]
    #[cfg_attr(feature = "component", component(name = "follow-links-in"))]
    pub follow_links_in: Vec<String>,
}

/// What a store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum StoreKind {
    /// A directory.
    #[cfg_attr(feature = "component", component(name = "directory"))]
    Directory,
    /// A single SQLite database.
    #[cfg_attr(feature = "component", component(name = "database"))]
    Database,
}

/// What a driver may do in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum StoreAccess {
    /// Reading only.
    #[cfg_attr(feature = "component", component(name = "read"))]
    Read,
    /// Writing too, in calls that write.
    #[cfg_attr(feature = "component", component(name = "read-write"))]
    ReadWrite,
}
