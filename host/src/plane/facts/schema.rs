//! The tables of the log, and which version of them a file has.

use rusqlite::{Connection, params};

/// The version that this code reads and writes, in the file's `user_version`.
pub(super) const VERSION: i64 = 1;

/// What is in a file.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing yet.
    Nothing,
    /// Our tables.
    Log,
    /// Tables of this other version.
    OtherVersion(i64),
    /// A database that is no log of facts.
    Foreign,
}

/// `log` has one row: the generation in which sessions of this file begin.
const TABLES: &str = "
CREATE TABLE log (
    generation INTEGER NOT NULL
) STRICT;
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    last INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    UNIQUE (agent, id)
) STRICT;
CREATE TABLE facts (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    turn TEXT,
    command TEXT,
    data TEXT NOT NULL,
    UNIQUE (session, sequence)
) STRICT;
CREATE TABLE open_turns (
    session INTEGER NOT NULL,
    turn TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
";

/// Every column that is used. A file that calls itself ours and lacks one is damaged.
const COLUMNS: &str = "
SELECT log.generation, sessions.number, sessions.agent, sessions.id, sessions.last, sessions.generation,
    facts.position, facts.session, facts.sequence, facts.generation, facts.id, facts.at, facts.kind, facts.turn,
    facts.command, facts.data, open_turns.session, open_turns.turn, open_turns.pid, open_turns.started
FROM log, sessions, facts, open_turns LIMIT 0
";

/// The version that the file says it has.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// What is in the file.
pub(super) fn content(connection: &Connection) -> rusqlite::Result<Content> {
    match version(connection)? {
        VERSION => {
            // Read, and not only named: a file may break off behind its first page.
            let rows: Result<i64, _> = connection.query_row("SELECT count(*) FROM log", [], |row| row.get(0));
            match rows.and_then(|rows| connection.prepare(COLUMNS).map(|_| rows)) {
                Ok(1) => Ok(Content::Log),
                Ok(_) => Ok(Content::Foreign),
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) => Ok(Content::Foreign),
                Err(error) => Err(error),
            }
        }
        0 => {
            let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            Ok(if tables == 0 { Content::Nothing } else { Content::Foreign })
        }
        other => Ok(Content::OtherVersion(other)),
    }
}

/// Where the numbers of a new file begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    /// Generation of each session.
    generation: i64,
    /// Position before the first.
    position: i64,
}

impl Beginning {
    /// Of the first file.
    pub(super) const FIRST: Self = Self { generation: 0, position: 0 };

    /// Of a file in place of one whose numbers can't be known any more: beyond whatever that one
    /// can have given, so that no cursor into it matches other facts here. Seconds count faster
    /// than generations, and 2^20 facts a second are more than can be stored. The positions stay
    /// below 2^53, up to which every JSON parser is exact.
    pub(super) fn after_a_loss(now: i64) -> Self {
        let seconds = now.div_euclid(1_000).clamp(1, i64::from(u32::MAX >> 1));
        Self { generation: seconds, position: seconds << 20 }
    }
}

/// Makes the tables in an empty file, all or none.
pub(super) fn create(connection: &mut Connection, beginning: Beginning) -> rusqlite::Result<()> {
    // Only before the first page is written can a file be made to shrink.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    write_ahead(connection)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute("INSERT INTO log (generation) VALUES (?1)", [beginning.generation])?;
    transaction.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('facts', ?1)", params![beginning.position])?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

/// Keeps the write-ahead log on: readers don't wait for writers, and a commit is one fsync.
pub(super) fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    let reason = format!("the journal mode stays `{mode}`, and the log needs `wal`");
    Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN), Some(reason)))
}
