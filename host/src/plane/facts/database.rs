//! The database opened: made when there is none, refused when it is newer, moved aside when it
//! is unreadable.

use super::error::{LogError, LogErrorKind, is_busy, is_damage};
use super::place::{BETWEEN_LOOKS, FileId, Gate, Passing, Place};
use super::schema::{self, Beginning, Content};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::time::{Duration, Instant};

/// The database, and which file it was when it was opened.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) file: FileId,
}

/// What lies in the place.
enum Found {
    Nothing,
    /// An empty file, or an empty database.
    Empty(Database),
    Log(Database),
    /// Why it is no log.
    Unreadable(String),
}

/// What there is to read.
pub(super) enum Readable {
    /// Nothing was stored yet.
    Nothing,
    Log(Database),
    /// Only the writer moves it aside.
    Damaged(Damage),
}

/// A file that turned out damaged.
#[derive(Debug)]
pub(super) struct Damage {
    pub(super) file: FileId,
    pub(super) reason: String,
}

/// Opens the log to read it.
pub(super) fn open_to_read(place: &Place, wait: Duration) -> Result<Readable, LogError> {
    // Where there is no file there may be no folder either, and passing the gate would make one.
    let Some(file) = place.file()? else { return Ok(Readable::Nothing) };
    let _gate = place.pass(Passing::Shared, wait)?;
    match look(place, wait)? {
        Found::Nothing | Found::Empty(_) => Ok(Readable::Nothing),
        Found::Log(database) => {
            database
                .connection
                .pragma_update(None, "query_only", true)
                .map_err(|error| LogError::of_database(place.path(), "could not be opened to read", &error))?;
            Ok(Readable::Log(database))
        }
        Found::Unreadable(reason) => Ok(Readable::Damaged(Damage { file, reason })),
    }
}

/// Opens the log to write it.
pub(super) fn open_to_write(place: &Place, wait: Duration) -> Result<Database, LogError> {
    let gate = place.pass(Passing::Shared, wait)?;
    if let Found::Log(database) = look(place, wait)? {
        return for_writing(place, database);
    }
    drop(gate);
    // Something has to be made: alone, and looked at anew, for another may have made it.
    let gate = place.pass(Passing::Alone, wait)?;
    match look(place, wait)? {
        Found::Log(database) => for_writing(place, database),
        Found::Empty(database) => make(place, database, Beginning::FIRST),
        Found::Nothing => {
            place.make_file()?;
            make_anew(place, wait, Beginning::FIRST)
        }
        Found::Unreadable(reason) => replace(place, wait, &reason, &gate),
    }
}

/// Moves a damaged file aside and begins a new one, unless another process has done so.
pub(super) fn set_aside(place: &Place, wait: Duration, damage: &Damage) -> Result<(), LogError> {
    let gate = place.pass(Passing::Alone, wait)?;
    if place.file()? == Some(damage.file) {
        replace(place, wait, &damage.reason, &gate)?;
    }
    Ok(())
}

fn replace(place: &Place, wait: Duration, reason: &str, _alone: &Gate) -> Result<Database, LogError> {
    let now = jiff::Timestamp::now().as_millisecond();
    let aside = place.move_aside(now)?;
    tracing::warn!(
        "{} (what happened in live sessions) is unreadable ({reason}); it was kept as {}, and a new one is begun",
        place.path().display(),
        aside.display()
    );
    place.make_file()?;
    make_anew(place, wait, Beginning::after_a_loss(now))
}

fn make_anew(place: &Place, wait: Duration, beginning: Beginning) -> Result<Database, LogError> {
    if let Found::Empty(database) = look(place, wait)? {
        return make(place, database, beginning);
    }
    let message = format!("{} was changed while it was made; keep other programs away from it", place.path().display());
    Err(LogError::new(LogErrorKind::Failed, message))
}

fn make(place: &Place, mut database: Database, beginning: Beginning) -> Result<Database, LogError> {
    schema::create(&mut database.connection, beginning)
        .map_err(|error| LogError::of_database(place.path(), "could not be made", &error))?;
    for_writing(place, database)
}

/// What is there. Changes nothing.
fn look(place: &Place, wait: Duration) -> Result<Found, LogError> {
    let Some(file) = place.file()? else { return Ok(Found::Nothing) };
    let looked = connect(place, wait).and_then(|connection| Ok((schema::content(&connection)?, connection)));
    match looked {
        Ok((Content::Log, connection)) => Ok(Found::Log(Database { connection, file })),
        Ok((Content::Nothing, connection)) => Ok(Found::Empty(Database { connection, file })),
        Ok((Content::OtherVersion(version), _)) => Err(LogError::newer(place.path(), version, schema::VERSION)),
        Ok((Content::Foreign, _)) => Ok(Found::Unreadable("it is a database, and no log of facts".to_owned())),
        Err(error) if is_damage(&error) => Ok(Found::Unreadable(error.to_string())),
        Err(error) => Err(LogError::of_database(place.path(), "could not be opened", &error)),
    }
}

fn connect(place: &Place, wait: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place.path(), flags)?;
    // SQLite takes away what lies beside a database when the last one closes it, by name: beside
    // a file that was moved aside in the meantime lies what belongs to the new one.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(wait)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

fn for_writing(place: &Place, database: Database) -> Result<Database, LogError> {
    let set = |connection: &Connection| {
        schema::write_ahead(connection)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", MOST_PAGES_BESIDE)?;
        connection.pragma_update(None, "journal_size_limit", MOST_PAGES_BESIDE * 4_096)?;
        // `begin` waits in its own way.
        connection.busy_timeout(Duration::ZERO)
    };
    place.make_private()?;
    set(&database.connection)
        .map_err(|error| LogError::of_database(place.path(), "could not be opened to write", &error))?;
    Ok(database)
}

/// Pages after which the write-ahead log is worked in, and which it is cut to. Some times what
/// SQLite does by itself: a small fact writes several pages, and who stores it waits for the
/// working in.
const MOST_PAGES_BESIDE: i64 = 4_000;

/// Begins to write, as long as it may be waited for another process.
pub(super) fn begin(connection: &Connection, wait: Duration) -> rusqlite::Result<Transaction<'_>> {
    let start = Instant::now();
    loop {
        match Transaction::new_unchecked(connection, TransactionBehavior::Immediate) {
            Err(error) if is_busy(&error) && start.elapsed() < wait => std::thread::sleep(BETWEEN_LOOKS),
            begun => return begun,
        }
    }
}
