//! The error that an answer may hold instead of a result.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Codes that JSON-RPC itself defines.
pub mod code {
    /// Not JSON.
    pub const PARSE: i64 = -32700;
    /// Not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Unknown method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Wrong parameters.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A fault of the answering side.
    pub const INTERNAL: i64 = -32603;
}

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
