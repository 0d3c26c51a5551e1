//! Why a service could not be done.

use crate::members::BadMember;
use sepia_ir::{DriverError, ErrorCode};

/// Why a service could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The driver did not declare such a store, or it was not granted.
    #[error("store `{0}` was not granted to this driver")]
    NotGranted(String),
    /// The path is absolute, has `..` in it, or leads out of the store.
    #[error("path `{0}` leads out of its store")]
    Outside(String),
    /// No such file.
    #[error("there is no file `{0}`")]
    NotFound(String),
    /// A directory, pipe, socket or device.
    #[error("`{0}` is no regular file")]
    NotRegular(String),
    /// The store itself is a link to a place that is never shown.
    #[error("store `{0}` is a link to a place that is never granted; make it a directory of its own")]
    Refused(String),
    /// The call ran out of its time.
    #[error("`{0}` could not be read to its end in the time of this call; raise the limit or ask for less")]
    Time(String),
    /// The query breaks a documented bound.
    #[error("{0}")]
    Query(String),
    /// The database says no: it is damaged, or the statement is wrong.
    #[error("database `{path}` can't be read: {source}")]
    Database {
        /// Relative to the store.
        path: String,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is something else.
    #[error("`{0}` is no SQLite database")]
    NotDatabase(String),
    /// Another process keeps the database, or changes it faster than it can be read.
    #[error("database `{0}` is being changed by another process; try again")]
    Busy(String),
    /// The call may not write: it reads, or the store was granted for reading alone.
    #[error("store `{0}` may not be written in this call")]
    ReadOnly(String),
    /// Something is there that should not be, or is not as it was when it was read.
    #[error("{0}")]
    Changed(String),
    /// The system refused to write.
    #[error("`{path}` can't be written: {source}")]
    Write {
        /// Relative to the store.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system refused.
    #[error("`{path}` can't be read: {source}")]
    Io {
        /// Relative to the store.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl From<BadMember> for ServiceError {
    fn from(bad: BadMember) -> Self {
        Self::Query(bad.to_string())
    }
}

impl From<ServiceError> for DriverError {
    fn from(error: ServiceError) -> Self {
        let code = match &error {
            ServiceError::NotGranted(_)
            | ServiceError::Outside(_)
            | ServiceError::Refused(_)
            | ServiceError::Query(_) => ErrorCode::Invalid,
            ServiceError::ReadOnly(_) => ErrorCode::Unsupported,
            ServiceError::Changed(_) => ErrorCode::Conflict,
            ServiceError::NotFound(_) => ErrorCode::NotFound,
            ServiceError::Busy(_) => ErrorCode::Busy,
            ServiceError::NotRegular(_)
            | ServiceError::NotDatabase(_)
            | ServiceError::Time(_)
            | ServiceError::Database { .. }
            | ServiceError::Write { .. }
            | ServiceError::Io { .. } => ErrorCode::Store,
        };
        Self::new(code, error.to_string())
    }
}
