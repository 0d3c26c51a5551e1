//! Why an agent could not do what it was asked.

use std::fmt;

/// Why an agent could not do what it was asked.
#[derive(Debug, Clone)]
pub(crate) struct AgentError {
    /// One sentence, about the agent.
    pub(crate) message: String,
    /// What it said itself, and its last lines on stderr.
    pub(crate) cause: Option<String>,
    /// Its own answer was an error with this code.
    pub(crate) code: Option<i64>,
    /// It says itself that it can't do that.
    pub(crate) beyond: bool,
}

impl AgentError {
    /// An error with nothing underneath.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), cause: None, code: None, beyond: false }
    }

    /// With what lies underneath.
    #[must_use]
    pub(crate) fn because(mut self, cause: Option<String>) -> Self {
        self.cause = cause;
        self
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AgentError {}
