//! Why the plane could not do what was asked.

use crate::loader::{Fault, FaultKind};
use sepia_ir::ErrorCode;
use std::fmt;

/// Why the plane could not do what was asked: one sentence for people, a stable kind for
/// programs, and what lies underneath.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaneError {
    /// Stable kind.
    pub kind: ErrorKind,
    /// One sentence.
    pub message: String,
    /// What a driver or the system said.
    pub cause: Option<String>,
}

/// Stable kinds of [`PlaneError`]; the closed list of the wire document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// No such session, checkpoint, project, permission request.
    NotFound,
    /// The session is at work.
    Busy,
    /// Another process holds it.
    Locked,
    /// No driver can do that.
    Unsupported,
    /// A store, a driver or an agent failed.
    Internal,
    /// An argument is wrong.
    Invalid,
    /// Something forbids it in the present state.
    Conflict,
    /// No such agent, or it lacks the capability.
    UnknownAgent,
}

impl ErrorKind {
    /// Name on every wire, as `data.code`.
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Busy => "busy",
            Self::Locked => "locked",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
            Self::Invalid => "invalid",
            Self::Conflict => "conflict",
            Self::UnknownAgent => "unknown_agent",
        }
    }
}

impl PlaneError {
    /// An error with nothing underneath.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// With what lies underneath.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// No session of that id. Says nothing of what else may exist, whatever the id looks like.
    pub fn unknown_session(id: &str) -> Self {
        let shown = crate::text::clean_line(id, 80);
        Self::new(
            ErrorKind::NotFound,
            format!("there is no session `{shown}`; `sepia list` shows those that there are"),
        )
    }

    /// No driver for that agent.
    pub fn unknown_agent(agent: &str, known: &[&str]) -> Self {
        let shown = crate::text::clean_line(agent, 80);
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Self::new(ErrorKind::UnknownAgent, format!("no driver reads sessions of agent `{shown}`; known: {known}"))
    }
}

impl From<Fault> for PlaneError {
    fn from(fault: Fault) -> Self {
        let kind = match fault.kind {
            FaultKind::Said(ErrorCode::NotFound) => ErrorKind::NotFound,
            FaultKind::Said(ErrorCode::Busy) => ErrorKind::Busy,
            FaultKind::Said(ErrorCode::Locked) => ErrorKind::Locked,
            FaultKind::Said(ErrorCode::Unsupported) => ErrorKind::Unsupported,
            FaultKind::Said(ErrorCode::Invalid) => ErrorKind::Invalid,
            FaultKind::Said(ErrorCode::Conflict) => ErrorKind::Conflict,
            _ => ErrorKind::Internal,
        };
        let mut cause = match fault.kind {
            FaultKind::Said(_) => format!("driver {}", fault.driver),
            kind => format!("driver {}, {}, {}", fault.driver, fault.call, kind.name()),
        };
        if !fault.stderr.is_empty() {
            cause.push_str("; it wrote: ");
            cause.push_str(&fault.stderr);
        }
        Self { kind, message: fault.to_string(), cause: Some(cause) }
    }
}

impl fmt::Display for PlaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PlaneError {}
