//! The error that an answer may hold instead of a result.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Codes that JSON-RPC itself defines.
pub use sepia_ir::json_rpc_code as code;

/// Why a request gave no result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// Kind; see [`code`] and the peer's own table.
    pub code: i64,
    /// One sentence for people.
    #[serde(default)]
    pub message: String,
    /// Anything more, for machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// With data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for ErrorObject {}
