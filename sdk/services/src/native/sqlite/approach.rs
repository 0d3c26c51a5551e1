//! How a database can be opened without leaving a trace.
//!
//! SQLite makes a `-shm` file beside a database in WAL mode, and a `-wal` file, even for a
//! connection that only reads. So it is given the files as they are only where it need not:
//!
//! | beside the database | way |
//! |---|---|
//! | `-wal` and `-shm` | shared, with `readonly_shm` unless the call may write: takes part in the owner's locking, or reads the log itself when there is no owner |
//! | a `-wal` that its writer did not get further than the header of | as a file that does not change |
//! | no `-wal`, or an empty one without `-shm` | as a file that does not change; that it did not is checked |
//! | a `-wal` without `-shm` (the owner was killed, or the files were copied) | a private copy, in which SQLite recovers the log |
//! | journal mode, no `-journal` | shared: takes part in the locking by the file itself |
//! | a `-journal` of a writer that died | a private copy, in which SQLite rolls it back |

use super::super::error::ServiceError;
use super::{descriptors, log};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// How long a read waits for a writer.
const BUSY: Duration = Duration::from_secs(5);
/// Copies made of a database that changes meanwhile, before giving up.
const COPIES: usize = 3;

/// A way to open one database, chosen by what lies beside it.
#[derive(Debug)]
pub(super) enum Approach {
    /// Together with the owner. SQLite has one index of the log for all connections of a process: where it is open for
    /// reading alone, no other connection of the call could write.
    Shared { writes: bool },
    /// As a file that does not change, as long as it looks like this.
    Still(Look),
    /// A copy of our own, gone with this value.
    Copy(TempDir),
}

/// What tells that a database or its log changed.
#[derive(Debug, PartialEq, Eq, Clone)]
pub(super) struct Look([Option<FileLook>; 2]);

#[derive(Debug, PartialEq, Eq, Clone)]
struct FileLook {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Look {
    pub(super) fn at(file: &Path) -> Self {
        Self([look(file), look(&beside(file, "-wal"))])
    }
}

fn look(file: &Path) -> Option<FileLook> {
    let about = fs::metadata(file).ok()?;
    Some(FileLook { inode: about.ino(), bytes: about.size(), modified: (about.mtime(), about.mtime_nsec()) })
}

/// The file that SQLite keeps beside a database.
pub(in crate::native) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Chooses the way and opens a first connection by it.
pub(super) fn open(file: &Path, shown: &str, writes: bool) -> Result<(Approach, Connection), ServiceError> {
    let filled = |suffix: &str| look(&beside(file, suffix)).is_some_and(|look| look.bytes > 0);
    let approach = if is_wal(file, shown)? {
        match (filled("-wal"), look(&beside(file, "-wal")).is_some() && filled("-shm")) {
            // With such a log and nobody who has it open SQLite looks again and again for ten seconds.
            (true, true) if !writes && !log::has_frames(&beside(file, "-wal")) => Approach::Still(Look::at(file)),
            (_, true) => Approach::Shared { writes },
            (false, false) => Approach::Still(Look::at(file)),
            (true, false) => return copied(file, shown),
        }
    } else {
        Approach::Shared { writes }
    };
    match connect(&approach, file) {
        Ok(connection) => Ok((approach, connection)),
        // No owner keeps the index of the log, or a journal waits to be rolled back: neither
        // can be had without writing.
        Err(e) if needs_writing(&e) => copied(file, shown),
        Err(e) => Err(failed(shown, e)),
    }
}

/// Another connection by a way that was chosen.
pub(super) fn connect(approach: &Approach, file: &Path) -> rusqlite::Result<Connection> {
    let (uri, flags) = match approach {
        Approach::Shared { writes: false } => (uri(file, "mode=ro&readonly_shm=1"), OpenFlags::SQLITE_OPEN_READ_ONLY),
        Approach::Shared { writes: true } => (uri(file, "mode=ro"), OpenFlags::SQLITE_OPEN_READ_ONLY),
        Approach::Still(_) => (uri(file, "mode=ro&immutable=1"), OpenFlags::SQLITE_OPEN_READ_ONLY),
        Approach::Copy(dir) => (uri(&copy_in(dir), "mode=rw"), OpenFlags::SQLITE_OPEN_READ_WRITE),
    };
    let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(BUSY)?;
    // The first read: whether it can be opened this way shows only now.
    looks_sane(&connection)?;
    Ok(connection)
}

/// Reads the schema. It has to be text: names and types of columns are handed on as such, and
/// a damaged one would not be.
fn looks_sane(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..2 {
            row.get_ref(column)?.as_str_or_null()?;
        }
    }
    Ok(())
}

/// A failed read of SQLite, as our own error.
pub(super) fn failed(shown: &str, source: rusqlite::Error) -> ServiceError {
    let path = shown.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ServiceError::Busy(path),
        Some(ErrorCode::NotADatabase) => ServiceError::NotDatabase(path),
        Some(ErrorCode::AuthorizationForStatementDenied) => {
            ServiceError::Query(format!("the statement on `{path}` does more than read; only reading is granted"))
        }
        _ => ServiceError::Database { path, source },
    }
}

fn needs_writing(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// Whether the header says WAL. An empty file is an empty database.
fn is_wal(file: &Path, shown: &str) -> Result<bool, ServiceError> {
    let failed = |source| ServiceError::Io { path: shown.to_owned(), source };
    let mut header = Vec::new();
    descriptors::with(file, |file| file.take(20).read_to_end(&mut header)).map_err(failed)?;
    match header.as_slice() {
        [] => Ok(false),
        [start @ .., _, read_version] if start.starts_with(b"SQLite format 3\0") => Ok(*read_version == 2),
        _ => Err(ServiceError::NotDatabase(shown.to_owned())),
    }
}

/// Copies database, log and journal, all of one moment.
fn copied(file: &Path, shown: &str) -> Result<(Approach, Connection), ServiceError> {
    let io = |source| ServiceError::Io { path: shown.to_owned(), source };
    for _ in 0..COPIES {
        let before = Look::at(file);
        let dir = tempfile::Builder::new().prefix("sepia-").tempdir().map_err(io)?;
        let copy = copy_in(&dir);
        for suffix in ["", "-wal", "-journal"] {
            let to = beside(&copy, suffix);
            match descriptors::with(&beside(file, suffix), |from| io::copy(from, &mut File::create(to)?)) {
                Err(e) if e.kind() == ErrorKind::NotFound && !suffix.is_empty() => {}
                copied => drop(copied.map_err(io)?),
            }
        }
        if Look::at(file) == before {
            let approach = Approach::Copy(dir);
            let connection = connect(&approach, file).map_err(|e| failed(shown, e))?;
            return Ok((approach, connection));
        }
    }
    Err(ServiceError::Busy(shown.to_owned()))
}

fn copy_in(dir: &TempDir) -> PathBuf {
    dir.path().join("database")
}

/// A path as SQLite takes it in a URI: everything but the plainest characters escaped.
fn uri(file: &Path, query: &str) -> String {
    let mut uri = String::from("file:");
    for byte in file.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            uri.extend(['%', char::from(HEX[usize::from(byte >> 4)]), char::from(HEX[usize::from(byte & 15)])]);
        }
    }
    uri + "?" + query
}
