//! Why a driver's call failed.

use serde::{Deserialize, Serialize};
use std::fmt;
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// A failure that a driver reports. The message is one sentence: what is wrong, where, and
/// what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(record))]
pub struct DriverError {
    /// Stable kind.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
}

/// Stable kind of a [`DriverError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No such session, checkpoint or file.
    #[cfg_attr(feature = "component", component(name = "not-found"))]
    NotFound,
    /// The session is at work.
    #[cfg_attr(feature = "component", component(name = "busy"))]
    Busy,
    /// Another process holds the session.
    #[cfg_attr(feature = "component", component(name = "locked"))]
    Locked,
    /// This driver, or this version of the store, can't do that.
    #[cfg_attr(feature = "component", component(name = "unsupported"))]
    Unsupported,
    /// The store could not be read or written.
    #[cfg_attr(feature = "component", component(name = "store"))]
    Store,
    /// An argument is wrong.
    #[cfg_attr(feature = "component", component(name = "invalid"))]
    Invalid,
    /// The store changed underneath.
    #[cfg_attr(feature = "component", component(name = "conflict"))]
    Conflict,
}

impl DriverError {
    /// An error of this kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// `not_found` for a session id; says nothing of what else may exist.
    pub fn unknown_session(id: &str) -> Self {
        let shown: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
        Self::new(ErrorCode::NotFound, format!("there is no session `{shown}`"))
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DriverError {}
