//! Bulk reading that the host lends.

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// A regular file met by `walk`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// Relative to the store.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
    /// Epoch nanoseconds.
    #[cfg_attr(feature = "component", component(name = "modified-ns"))]
    pub modified_ns: u64,
    /// Inode.
    pub inode: u64,
}

/// Walk report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct WalkReport {
    /// Sorted by path.
    pub files: Vec<FileEntry>,
    /// Path and reason of each place that could not be read.
    pub failures: Vec<(String, String)>,
}

/// What `survey` looks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SurveyQuery {
    /// A line is returned when it contains one of these byte strings; at most 16.
    pub needles: Vec<Vec<u8>>,
    /// Bytes of the start of the file to return besides.
    pub head: u32,
    /// Bytes of its end to return besides; head and tail may overlap.
    pub tail: u32,
    /// Lines longer than this are returned cut to it.
    #[cfg_attr(feature = "component", component(name = "max-line"))]
    pub max_line: u32,
    /// Lines at most; more sets `truncated`.
    #[cfg_attr(feature = "component", component(name = "max-lines"))]
    pub max_lines: u32,
}

/// Found line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct FoundLine {
    /// Offset.
    pub offset: u64,
    /// Of the whole line, without its line feed.
    pub bytes: u64,
    /// Which needle was found first in it.
    pub needle: u32,
    /// Text.
    pub text: Vec<u8>,
}

/// Survey report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct SurveyReport {
    /// File.
    pub file: FileEntry,
    /// Head.
    pub head: Vec<u8>,
    /// Tail.
    pub tail: Vec<u8>,
    /// Lines.
    pub lines: Vec<FoundLine>,
    /// Truncated.
    pub truncated: bool,
}

/// Which members of each JSON line to return, e.g. `type`, `message.id`,
/// `message.content[].type`: object members by name, `[]` for every element. At most 32.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
#[serde(rename_all = "camelCase")]
pub struct Projection {
    /// Members.
    pub members: Vec<String>,
    /// First byte to look at; must be the start of a line.
    pub offset: u64,
    /// Values longer than this many bytes of JSON are left out and marked so.
    #[cfg_attr(feature = "component", component(name = "max-value"))]
    pub max_value: u32,
}
