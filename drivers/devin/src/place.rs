//! Where sessions are: the database, the database of older versions beside it, and the
//! transcripts of sessions that neither has.

use crate::schema::Schema;
use sepia_ir::{DriverError, ErrorCode, Warning};
use sepia_sdk::{Database, Host};

/// Store that is the database.
pub(crate) const DATABASE: &str = "database";
/// Store that is the folder which the database lies in.
pub(crate) const FOLDER: &str = "cli";
/// Name of the database in older versions.
const LEGACY: &str = "cli_sessions.db";
/// Folder of the transcripts.
pub(crate) const TRANSCRIPTS: &str = "transcripts";

/// Longest id that can be listed, bytes.
const LONGEST_ID: usize = 512;

/// Where a session is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Current,
    Legacy,
    Transcript,
}

impl Source {
    /// Databases, the one that counts first.
    pub(crate) const DATABASES: [Self; 2] = [Self::Current, Self::Legacy];

    fn prefix(self) -> &'static str {
        match self {
            Self::Current => "session:",
            Self::Legacy => "legacy:",
            Self::Transcript => "transcript:",
        }
    }

    /// Key of a session in a scan.
    pub(crate) fn key(self, id: &str) -> String {
        format!("{}{id}", self.prefix())
    }

    /// What a key stands for.
    pub(crate) fn of_key(key: &str) -> Option<(Self, &str)> {
        [Self::Current, Self::Legacy, Self::Transcript]
            .into_iter()
            .find_map(|source| Some((source, key.strip_prefix(source.prefix())?)))
            .filter(|(_, id)| is_id(id))
    }

    /// How messages name it.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Current => "sessions.db",
            Self::Legacy => LEGACY,
            Self::Transcript => TRANSCRIPTS,
        }
    }
}

/// Whether this can be the id of a listed session.
pub(crate) fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.chars().any(char::is_control)
}

/// A database that is open, and what it has.
pub(crate) struct Opened {
    pub(crate) source: Source,
    pub(crate) database: Box<dyn Database>,
    pub(crate) schema: Schema,
}

/// Opens a database and probes what it has; none when there is no such file.
pub(crate) fn open(host: &Host, source: Source) -> Result<Option<Opened>, DriverError> {
    let Some(database) = connect(host, source)? else { return Ok(None) };
    let schema = Schema::probe(&*database)?;
    Ok(Some(Opened { source, database, schema }))
}

/// Opens a database as if it had what the current version has. What it has not is an error of
/// the statement that asks for it.
pub(crate) fn assume(host: &Host, source: Source) -> Result<Option<Opened>, DriverError> {
    let opened = |database| Opened { source, database, schema: Schema::current() };
    Ok(connect(host, source)?.map(opened))
}

fn connect(host: &Host, source: Source) -> Result<Option<Box<dyn Database>>, DriverError> {
    let found = match source {
        Source::Current => host.database(DATABASE, ""),
        Source::Legacy if is_legacy(host) => return Ok(None),
        Source::Legacy => host.database(FOLDER, LEGACY),
        Source::Transcript => return Ok(None),
    };
    let database = match found {
        Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
        // A folder that is not granted holds nothing.
        Err(error) if error.code == ErrorCode::Invalid && source == Source::Legacy => return Ok(None),
        found => found?,
    };
    Ok(Some(database))
}

/// Whether the current database is the one of older versions, by its name.
pub(crate) fn is_legacy(host: &Host) -> bool {
    host.location(DATABASE).is_some_and(|place| place.rsplit('/').next() == Some(LEGACY))
}

impl Opened {
    /// What is wrong with a layout that has no sessions.
    pub(crate) fn unknown_layout(&self) -> Option<Warning> {
        if self.schema.has_sessions() {
            return None;
        }
        let message = format!(
            "`{}` has no table of sessions that this driver knows; nothing of it is listed",
            self.source.file()
        );
        Some(Warning::new("unknown-layout", message).in_file(self.source.file()))
    }
}

/// A database that could not be read, or not to its end.
pub(crate) fn unreadable(source: Source, error: &DriverError) -> Warning {
    let message = format!("the sessions of `{}` are not all listed: {error}", source.file());
    Warning::new("unreadable-database", message).in_file(source.file())
}
