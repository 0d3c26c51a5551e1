//! Steps that write bytes which need be no frame.

use serde::{Deserialize, Serialize};

/// Bytes on stdout, as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raw {
    /// The bytes.
    pub raw: Bytes,
    /// Whether `${id}` and `${sessionId}` in the text are replaced: by the id of the current
    /// request as JSON, and by the session's id. Not for a list of bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fill: bool,
}

/// Text, or a list of numbers for what is no UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Bytes {
    /// Written in UTF-8.
    Text(String),
    /// Written as they are.
    List(Vec<u8>),
}

/// The same text on stdout many times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RawRepeat {
    /// The text and how often.
    pub raw_repeat: Repeated,
}

/// A text and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeated {
    /// Written in UTF-8.
    pub text: String,
    /// How often.
    pub times: u64,
}

/// Text on stderr.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stderr {
    /// Written in UTF-8, without a line end of its own.
    pub stderr: String,
    /// How often; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
}
