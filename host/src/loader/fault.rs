//! What can go wrong with a driver: when it is brought in, and when it is called.

use sepia_ir::{DriverError, ErrorCode};
use std::fmt;

/// A call of a driver that did not give a result. It concerns that call alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Id of the driver.
    pub driver: String,
    /// Function of the contract, e.g. `session-read.scan`.
    pub call: &'static str,
    /// What kind of fault.
    pub kind: FaultKind,
    /// One sentence for people: what is wrong, and what to do where that is known.
    pub message: String,
    /// What the driver wrote to its stderr, cleaned and cut; empty when it wrote nothing.
    pub stderr: String,
}

/// Kinds of [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The driver's own answer.
    Said(ErrorCode),
    /// It crashed: panic, unreachable code, stack overflow, a memory fault.
    Trap,
    /// It took longer than it may.
    Time,
    /// It wanted more memory than it may.
    Memory,
    /// It holds more handles than it may.
    Handles,
    /// It handed over more than it may, in one call.
    Transfer,
    /// It ended itself.
    Exit,
    /// It broke the contract: ids, counts, JSON, order.
    Contract,
    /// The connection to it broke: it died, or closed its stdout.
    Lost,
    /// It could not be started.
    Start,
}

impl FaultKind {
    /// Stable name, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Said(code) => match code {
                ErrorCode::NotFound => "not_found",
                ErrorCode::Busy => "busy",
                ErrorCode::Locked => "locked",
                ErrorCode::Unsupported => "unsupported",
                ErrorCode::Store => "store",
                ErrorCode::Invalid => "invalid",
                ErrorCode::Conflict => "conflict",
            },
            Self::Trap => "trap",
            Self::Time => "limit_time",
            Self::Memory => "limit_memory",
            Self::Handles => "limit_handles",
            Self::Transfer => "limit_transfer",
            Self::Exit => "exit",
            Self::Contract => "contract",
            Self::Lost => "lost",
            Self::Start => "start",
        }
    }
}

impl Fault {
    /// A fault with nothing on stderr.
    pub fn new(driver: &str, call: &'static str, kind: FaultKind, message: impl Into<String>) -> Self {
        Self { driver: driver.to_owned(), call, kind, message: message.into(), stderr: String::new() }
    }

    /// The driver's own answer as a fault.
    pub fn said(driver: &str, call: &'static str, error: DriverError) -> Self {
        Self::new(driver, call, FaultKind::Said(error.code), error.message)
    }

    /// With what the driver wrote to its stderr.
    #[must_use]
    pub fn with_stderr(mut self, stderr: impl Into<String>) -> Self {
        self.stderr = stderr.into();
        self
    }

    /// Whether the driver says that there is no such thing.
    pub fn is_not_found(&self) -> bool {
        self.kind == FaultKind::Said(ErrorCode::NotFound)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            FaultKind::Said(_) => f.write_str(&self.message),
            _ => write!(f, "driver {} in {}: {}", self.driver, self.call, self.message),
        }
    }
}

impl std::error::Error for Fault {}

/// Why something that looks like a driver can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// What kind.
    pub kind: LoadErrorKind,
    /// One sentence: what is wrong, and what to do.
    pub message: String,
}

/// Kinds of [`LoadError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The file can't be read, or is larger than a driver may be.
    File,
    /// It is not a component: a core module, text, something else, or cut short.
    NotComponent,
    /// It imports what this host does not offer.
    Import,
    /// It is built for a contract that this host does not speak, or exports no capability.
    Contract,
    /// Its manifest is missing or wrong.
    Manifest,
    /// It could not be compiled or started.
    Start,
    /// Nobody has allowed it yet, or it changed since.
    Blocked,
}

impl LoadErrorKind {
    /// Stable name, for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::NotComponent => "not_component",
            Self::Import => "import",
            Self::Contract => "contract",
            Self::Manifest => "manifest",
            Self::Start => "start",
            Self::Blocked => "blocked",
        }
    }
}

impl LoadError {
    /// An error of this kind.
    pub fn new(kind: LoadErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}
