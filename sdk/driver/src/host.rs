//! What a driver reaches: its stores, and the work that the host does for it.

use sepia_ir::{
    CandidateLines, DriverError, ErrorCode, LogLevel, Projection, SearchQuery, SqlColumn, SqlValue, SurveyQuery,
    SurveyReport, TextSpan, WalkReport,
};
use sepia_services::packed::Rows;
use std::path::PathBuf;
use std::rc::Rc;

/// The host's side of `wit/host.wit`, the same in a component, in a subprocess and in tests.
///
/// Paths are relative to a store, with `/` between their parts; anything that leads out is
/// `invalid`.
pub trait Services {
    /// Where `std::fs` sees the store, when it is a directory that exists.
    fn directory(&self, store: &str) -> Option<PathBuf>;
    /// Where the store is, for messages; opens nothing.
    fn location(&self, store: &str) -> Option<String>;
    /// Regular files below a directory of the store; see `bulk-files.walk`.
    fn walk(&self, store: &str, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, DriverError>;
    /// Bytes of a file, at most 8 MiB; fewer at its end.
    fn read(&self, store: &str, path: &str, offset: u64, bytes: u32) -> Result<Vec<u8>, DriverError>;
    /// Start, end and interesting lines of a file, in one pass.
    fn survey(&self, store: &str, path: &str, query: &SurveyQuery) -> Result<SurveyReport, DriverError>;
    /// Members of all lines of a file of JSON lines.
    fn project(&self, store: &str, path: &str, query: &Projection) -> Result<Rows, DriverError>;
    /// Where a query matches in each of these texts, the first `max` matches of each; see
    /// `text-search.find`.
    fn find(&self, query: &SearchQuery, texts: &[&str], max: u32) -> Result<Vec<Vec<TextSpan>>, DriverError>;
    /// For each of these files whether a text that matches may be in it, plain or inside JSON
    /// strings; none where it can't be read. `false` is certain.
    fn may_hold(&self, query: &SearchQuery, store: &str, paths: &[String]) -> Result<Vec<Option<bool>>, DriverError>;
    /// The lines of a file, from the one that begins at `offset`, in which a text that matches may
    /// be: at most `max`, inside the members `within` when there are some.
    fn lines(
        &self,
        query: &SearchQuery,
        store: &str,
        path: &str,
        within: &[String],
        offset: u64,
        max: u32,
    ) -> Result<CandidateLines, DriverError>;
    /// SHA-256 of these bytes, at native speed.
    fn sha256(&self, content: &[u8]) -> [u8; 32];
    /// Opens a database of a store for reading; `path` is empty when the store itself is one.
    /// Sees what is only in the write-ahead log, and changes nothing. `not-found` when there is
    /// no file.
    fn database(&self, store: &str, path: &str) -> Result<Box<dyn Database>, DriverError>;
    /// Start time of a running process, clock ticks since boot.
    fn start_ticks(&self, pid: u32) -> Option<u64>;
    /// Program and arguments of a running process of this person.
    fn command_line(&self, pid: u32) -> Option<String>;
    /// For each of these files of a store, a process that holds an advisory lock on it.
    fn lock_holders(&self, store: &str, paths: &[String]) -> Vec<Option<u32>>;
    /// A line for the log.
    fn log(&self, level: LogLevel, message: &str);
}

/// The host's side of what writes, in a call that may: see `durable-files`, and `sqlite` for databases.
pub trait WritingServices {
    /// Writes a whole file, atomically and durably; see `durable-files.replace`.
    fn replace(
        &self,
        store: &str,
        path: &str,
        content: &[u8],
        mode: u32,
        expect: Option<u64>,
    ) -> Result<(), DriverError>;
    /// Appends to a file that is `expect` bytes long and ends in a line feed.
    fn append(&self, store: &str, path: &str, content: &[u8], expect: u64) -> Result<(), DriverError>;
    /// A file written piece by piece, seen when it is committed.
    fn create(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn NewFile>, DriverError>;
    /// Moves a file or folder into the trash; the bytes that went.
    fn discard(&self, store: &str, path: &str) -> Result<u64, DriverError>;
    /// Opens a database of a store for writing; `not-found` when there is no file.
    fn writable_database(&self, store: &str, path: &str) -> Result<Box<dyn WritableDatabase>, DriverError>;
    /// A new database, which is in its place, and closed, when its transaction is committed.
    fn new_database(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn WritableDatabase>, DriverError>;
}

/// A database open for reading; see the resource `connection`.
pub trait Database {
    /// Starts a query, its parameters bound in the order of their `?`.
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Box<dyn Query>, DriverError>;
}

/// A query that is running; see the resource `rows`. Dropping it stops it.
pub trait Query {
    /// The columns of its rows.
    fn columns(&self) -> Vec<SqlColumn>;
    /// The next rows, at most `max`; none at the end.
    fn next(&mut self, max: usize) -> Result<Vec<Vec<SqlValue>>, DriverError>;
}

/// A database open for writing; see the resource `connection`. What is not committed when it is
/// dropped did not happen.
pub trait WritableDatabase: Database {
    /// One statement, its parameters bound in the order of their `?`; rows changed.
    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, DriverError>;
    /// Starts the transaction; waits at most 5 s for another writer, then `busy`.
    fn begin(&self) -> Result<(), DriverError>;
    /// Ends it: its changes are on disk.
    fn commit(&self) -> Result<(), DriverError>;
    /// Forgets its changes.
    fn rollback(&self) -> Result<(), DriverError>;
}

/// A file being written; see the resource `new-file`. Dropped before it is committed, it was never there.
pub trait NewFile {
    /// The next bytes, at most 64 MiB.
    fn write(&mut self, content: &[u8]) -> Result<(), DriverError>;
    /// Puts it in its place; `conflict` unless what is there is `expect` bytes long (0: there is
    /// nothing).
    fn commit(self: Box<Self>, expect: Option<u64>) -> Result<(), DriverError>;
}

impl dyn Database + '_ {
    /// All rows of a query that has few.
    pub fn rows(&self, sql: &str, parameters: &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, DriverError> {
        let mut query = self.query(sql, parameters)?;
        let mut rows = Vec::new();
        loop {
            let batch = query.next(1024)?;
            if batch.is_empty() {
                return Ok(rows);
            }
            rows.extend(batch);
        }
    }
}

/// A handle on the [`Services`] of this call, cheap to clone. In a call that writes it has the
/// [`WritingServices`] too; in any other these are `unsupported`.
#[derive(Clone)]
pub struct Host {
    services: Rc<dyn Services>,
    writing: Option<Rc<dyn WritingServices>>,
}

impl Host {
    /// A handle on these services, for a call that reads.
    pub fn new(services: impl Services + 'static) -> Self {
        Self { services: Rc::new(services), writing: None }
    }

    /// The same for a call that writes.
    #[must_use]
    pub fn and_writing(self, writing: impl WritingServices + 'static) -> Self {
        Self { writing: Some(Rc::new(writing)), ..self }
    }

    /// What writes.
    pub fn writing(&self) -> Result<&dyn WritingServices, DriverError> {
        self.writing
            .as_deref()
            .ok_or_else(|| DriverError::new(ErrorCode::Unsupported, "this call reads; it may not write to any store"))
    }

    /// See [`WritingServices::replace`].
    pub fn replace(
        &self,
        store: &str,
        path: &str,
        content: &[u8],
        mode: u32,
        expect: Option<u64>,
    ) -> Result<(), DriverError> {
        self.writing()?.replace(store, path, content, mode, expect)
    }

    /// See [`WritingServices::append`].
    pub fn append(&self, store: &str, path: &str, content: &[u8], expect: u64) -> Result<(), DriverError> {
        self.writing()?.append(store, path, content, expect)
    }

    /// See [`WritingServices::create`].
    pub fn create(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn NewFile>, DriverError> {
        self.writing()?.create(store, path, mode)
    }

    /// See [`WritingServices::discard`].
    pub fn discard(&self, store: &str, path: &str) -> Result<u64, DriverError> {
        self.writing()?.discard(store, path)
    }

    /// See [`WritingServices::writable_database`].
    pub fn writable_database(&self, store: &str, path: &str) -> Result<Box<dyn WritableDatabase>, DriverError> {
        self.writing()?.writable_database(store, path)
    }

    /// See [`WritingServices::new_database`].
    pub fn new_database(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn WritableDatabase>, DriverError> {
        self.writing()?.new_database(store, path, mode)
    }
}

impl std::ops::Deref for Host {
    type Target = dyn Services;

    fn deref(&self) -> &Self::Target {
        &*self.services
    }
}
