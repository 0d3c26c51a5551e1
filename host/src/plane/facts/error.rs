//! Why the log could not do what was asked.

use rusqlite::ErrorCode;
use std::io;
use std::path::Path;

/// Why the log could not do what was asked: one sentence for people, a stable kind for programs,
/// and what lies underneath.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(in crate::plane) struct LogError {
    /// Stable kind.
    pub kind: LogErrorKind,
    /// One sentence.
    pub message: String,
    /// What the database or the system said.
    pub cause: Option<String>,
}

/// Stable kinds of [`LogError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::plane) enum LogErrorKind {
    /// Another process wrote for longer than may be waited.
    Busy,
    /// The disk is full.
    Full,
    /// The file or its folder can't be opened or written.
    Denied,
    /// A newer version of sepia has made the file.
    Newer,
    /// A fact can't be stored as it is.
    Invalid,
    /// The log was closed.
    Closed,
    /// Anything else: the disk failed, say.
    Failed,
}

impl LogError {
    pub(super) fn new(kind: LogErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    #[must_use]
    pub(super) fn because(mut self, cause: impl ToString) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    pub(super) fn closed(path: &Path) -> Self {
        Self::new(LogErrorKind::Closed, format!("{} was closed; start sepia anew", path.display()))
    }

    pub(super) fn newer(path: &Path, version: i64, known: i64) -> Self {
        let message = format!(
            "{} has the schema {version}, and this sepia knows {known}; use the newer sepia that made it, or move the file away",
            path.display()
        );
        Self::new(LogErrorKind::Newer, message)
    }

    pub(super) fn busy(path: &Path, wait: std::time::Duration) -> Self {
        let message = format!(
            "another process has held {} for {} ms; try again, and look which sepia process does not go on",
            path.display(),
            wait.as_millis()
        );
        Self::new(LogErrorKind::Busy, message)
    }

    pub(super) fn of_system(path: &Path, what: &str, error: io::Error) -> Self {
        let (kind, advice) = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                (LogErrorKind::Full, "make room on the disk it is on")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::NotADirectory => {
                (LogErrorKind::Denied, "look at the permissions of it and its folder")
            }
            _ => (LogErrorKind::Failed, "look at its permissions and at the disk it is on"),
        };
        Self::new(kind, format!("{} {what}; {advice}", path.display())).because(error)
    }

    pub(super) fn of_database(path: &Path, what: &str, error: &rusqlite::Error) -> Self {
        let (kind, advice) = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (LogErrorKind::Busy, "another process holds it, try again")
            }
            Some(ErrorCode::DiskFull) => (LogErrorKind::Full, "make room on the disk it is on"),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                (LogErrorKind::Denied, "look at the permissions of it and its folder")
            }
            Some(ErrorCode::TooBig | ErrorCode::ConstraintViolation) => {
                (LogErrorKind::Invalid, "a fact has to be smaller than 1 GB, and its numbers have to fit")
            }
            _ => (LogErrorKind::Failed, "look at the disk it is on"),
        };
        Self::new(kind, format!("{} {what}; {advice}", path.display())).because(error)
    }
}

/// Whether the file holds no database, or one that is broken.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Whether another process is at it.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
