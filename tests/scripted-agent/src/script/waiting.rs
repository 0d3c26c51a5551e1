//! Steps about when: pauses, events, files as gates.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sleep {
    /// Its length, milliseconds.
    pub sleep_ms: u64,
}

/// Waits for an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitFor {
    /// Which one.
    pub wait_for: Awaited,
}

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Awaited {
    /// A `session/cancel` of the running prompt.
    Cancel,
}

/// Waits until a file is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WaitForFile {
    /// The file.
    pub wait_for_file: PathBuf,
}

/// Makes an empty file, unless it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Touch {
    /// The file.
    pub touch: PathBuf,
}
