//! A call that gave no result.

use thiserror::Error;

/// A call that gave no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code}: {message}")]
pub struct Failure {
    /// Stable name of the kind, e.g. `not_found`.
    pub code: String,
    /// One sentence.
    pub message: String,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }

    /// Whether there is no such thing.
    pub fn is_not_found(&self) -> bool {
        self.code == "not_found"
    }

    /// Whether the driver does not do that at all.
    pub fn is_unsupported(&self) -> bool {
        self.code == "unsupported"
    }
}
