//! A database open for writing: one that exists, beside its owner's programs and by their locks,
//! or a new one, which nobody sees before it is whole.

use super::super::durable::NewPlace;
use super::super::error::ServiceError;
use super::super::store::Deadline;
use super::approach::{beside, failed};
use super::descriptors::Claim;
use super::guard;
use super::rows::{Bound, Rows};
use rusqlite::{Connection, OpenFlags, ffi};
use sepia_ir::SqlValue;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a write waits for another.
const BUSY: Duration = Duration::from_secs(5);

/// Bytes of pages that are held: the pages of an index are met in no order, and are read again and again when they
/// don't all fit.
const CACHE: i64 = 8 << 20;

/// A database open for writing. What is not committed when it is dropped did not happen.
#[derive(Debug)]
pub struct WriteConnection {
    shown: String,
    deadline: Deadline,
    open: Mutex<Option<Open>>,
}

/// An open database.
#[derive(Debug)]
struct Open {
    connection: Connection,
    /// A statement of ours runs, which may begin and end transactions.
    own: Arc<AtomicBool>,
    new: Option<Unseen>,
    /// Given back after the connection.
    _claim: Claim,
}

/// A new database beside its place.
#[derive(Debug)]
struct Unseen {
    place: Option<NewPlace>,
    file: PathBuf,
    /// The journal that it is to have in its place. Until then it needs none: when it is not finished, it goes.
    journal: Option<&'static str>,
}

impl Drop for Unseen {
    fn drop(&mut self) {
        // The file itself is taken away by its place, if it has not got there.
        for suffix in ["-wal", "-shm", "-journal"] {
            // Mostly there is none.
            let _ = std::fs::remove_file(beside(&self.file, suffix));
        }
    }
}

impl WriteConnection {
    /// Opens a file, whose path is resolved and allowed. `shown` is how messages name it.
    pub(in crate::native) fn open(file: &Path, shown: String, deadline: Deadline) -> Result<Self, ServiceError> {
        Self::on(file, None, shown, deadline)
    }

    /// Starts a new database, which gets to its place when its transaction is committed.
    pub(in crate::native) fn create(place: NewPlace, shown: String, deadline: Deadline) -> Result<Self, ServiceError> {
        let file = place.beside();
        let unseen = Unseen { place: Some(place), file: file.clone(), journal: None };
        Self::on(&file, Some(unseen), shown, deadline)
    }

    fn on(file: &Path, new: Option<Unseen>, shown: String, deadline: Deadline) -> Result<Self, ServiceError> {
        let own = Arc::new(AtomicBool::new(false));
        let claim = Claim::on(file);
        let open = || {
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let mut connection = Connection::open_with_flags(file, flags)?;
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "synchronous", if new.is_some() { "off" } else { "full" })?;
            // In KiB when it is negative.
            connection.pragma_update(None, "cache_size", -(CACHE >> 10))?;
            if new.is_some() {
                connection.pragma_update(None, "journal_mode", "memory")?;
            }
            guard::confine_writing(&mut connection, new.is_some(), Arc::clone(&own))?;
            Ok(connection)
        };
        let connection = open().map_err(|e| failed_write(&shown, e))?;
        let open = Mutex::new(Some(Open { connection, own, new, _claim: claim }));
        Ok(Self { shown, deadline, open })
    }

    /// The rows of a query, which sees what this connection has written. At most 65,536 rows.
    pub fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Rows, ServiceError> {
        self.with(|open| Rows::few(&open.connection, &self.shown, sql, parameters, self.deadline))
    }

    /// One statement of a write, its parameters bound in the order of their `?`; rows changed.
    pub fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, ServiceError> {
        self.with(|open| {
            if let (Some(unseen), Some(mode)) = (&mut open.new, journal_of(sql)) {
                unseen.journal = Some(mode);
                return Ok(0);
            }
            let run = || -> rusqlite::Result<u64> {
                let mut statement = open.connection.prepare_cached(sql)?;
                let bound = rusqlite::params_from_iter(parameters.iter().map(Bound));
                if statement.column_count() == 0 {
                    return Ok(statement.execute(bound)? as u64);
                }
                // A pragma, or `returning`: what it gives is passed over.
                let mut rows = statement.query(bound)?;
                while rows.next()?.is_some() {}
                Ok(open.connection.changes())
            };
            run().map_err(|e| failed_write(&self.shown, e))
        })
    }

    /// Starts the transaction; waits at most 5 s for another writer.
    pub fn begin(&self) -> Result<(), ServiceError> {
        self.transaction("BEGIN IMMEDIATE")
    }

    /// Ends it; its changes are on disk when this returns. A new database is in its place and the
    /// connection is closed.
    pub fn commit(&self) -> Result<(), ServiceError> {
        self.transaction("COMMIT")?;
        let mut open = self.lock();
        if open.as_ref().is_none_or(|open| open.new.is_none()) {
            return Ok(());
        }
        let Some(Open { connection, new: Some(mut unseen), .. }) = open.take() else { return Ok(()) };
        if let Some(mode) = unseen.journal {
            connection.pragma_update(None, "journal_mode", mode).map_err(|e| failed_write(&self.shown, e))?;
        }
        // Closing writes what is in the log into the file and takes the log away.
        connection.close().map_err(|(_, e)| failed_write(&self.shown, e))?;
        unseen.place.take().map_or(Ok(()), |place| place.put(Some(0)))
    }

    /// Whether a transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        self.lock().as_ref().is_some_and(|open| !open.connection.is_autocommit())
    }

    /// Forgets its changes.
    pub fn rollback(&self) -> Result<(), ServiceError> {
        self.transaction("ROLLBACK")
    }

    fn transaction(&self, statement: &str) -> Result<(), ServiceError> {
        self.with(|open| {
            // Transactions are not for statements of drivers: these are the host's own.
            open.own.store(true, Ordering::Relaxed);
            let done = open.connection.execute_batch(statement);
            open.own.store(false, Ordering::Relaxed);
            done.map_err(|e| failed_write(&self.shown, e))
        })
    }

    fn with<R>(&self, work: impl FnOnce(&mut Open) -> Result<R, ServiceError>) -> Result<R, ServiceError> {
        self.deadline.check(&self.shown)?;
        match self.lock().as_mut() {
            Some(open) => work(open),
            None => Err(ServiceError::Query(format!("database `{}` is in its place; open it anew", self.shown))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The journal that a statement asks for, when it is one that lasts.
fn journal_of(sql: &str) -> Option<&'static str> {
    let lower = sql.trim().trim_end_matches(';').to_ascii_lowercase();
    let mode = lower.strip_prefix("pragma")?.trim_start().strip_prefix("journal_mode")?.trim_start();
    let mode = mode.strip_prefix('=')?.trim();
    ["wal", "delete", "truncate", "persist"].into_iter().find(|known| *known == mode)
}

/// A failed write of SQLite, as our own error.
fn failed_write(shown: &str, source: rusqlite::Error) -> ServiceError {
    let code = source.sqlite_error().map(|e| e.extended_code & 0xff);
    match code {
        Some(ffi::SQLITE_READONLY | ffi::SQLITE_FULL | ffi::SQLITE_IOERR) => {
            ServiceError::Write { path: shown.to_owned(), source: std::io::Error::other(source) }
        }
        Some(ffi::SQLITE_CONSTRAINT) => ServiceError::Changed(format!("database `{shown}` refuses the row: {source}")),
        Some(ffi::SQLITE_AUTH) => ServiceError::Query(format!(
            "the statement on `{shown}` does more than reading and changing rows: {source}"
        )),
        _ => failed(shown, source),
    }
}
