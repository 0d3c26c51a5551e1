//! Log levels of a driver.

use serde::{Deserialize, Serialize};
#[cfg(feature = "component")]
use wasmtime::component::{ComponentType, Lift, Lower};

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component", derive(ComponentType, Lift, Lower), component(enum))]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum LogLevel {
    /// Debug.
    #[cfg_attr(feature = "component", component(name = "debug"))]
    Debug,
    /// Info.
    #[cfg_attr(feature = "component", component(name = "info"))]
    Info,
    /// Warn.
    #[cfg_attr(feature = "component", component(name = "warn"))]
    Warn,
    /// Error.
    #[cfg_attr(feature = "component", component(name = "error"))]
    Error,
}
