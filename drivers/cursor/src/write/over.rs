//! A chat that is saved over. Nothing is taken out of its database: what the chat was stays behind its
//! earlier root, as the agent itself leaves it, so that saving over can be taken back.

use super::ending::Ending;
use super::home::{self, Home};
use super::wire::{Field, Wire, fields};
use super::{note, settings};
use crate::blobs::bytes_of;
use crate::saved::Saved;
use sepia_ir::{DriverError, ErrorCode, Session, SessionRef, SqlValue};
use sepia_sdk::{Database, Host, WritableDatabase, carried};

/// Fields of a root in which sub-agents are: their states, their threads, their runs.
const SUBAGENTS: [u32; 3] = [16, 24, 30];

/// The root that the settings name.
const ROOT: &str = "WITH kept AS (SELECT CAST(COALESCE(unhex(value), value) AS TEXT) AS doc FROM meta WHERE key = '0') \
     SELECT b.data FROM kept JOIN blobs AS b ON b.id = CASE WHEN json_valid(doc) THEN json_extract(doc, '$.latestRootBlobId') END";

/// See the module.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) home: Home,
    /// `meta.json` as it stands, and its bytes.
    pub(crate) note: Option<(String, u64)>,
    root: Vec<u8>,
}

/// The root of a chat as it is now.
pub(crate) fn root(database: &dyn Database) -> Result<Vec<u8>, DriverError> {
    let row = database.rows(ROOT, &[])?.into_iter().next();
    Ok(row.and_then(|row| row.into_iter().next()).map(bytes_of).unwrap_or_default())
}

impl Over {
    /// The chat of this id, which is to become the session of this header.
    pub(crate) fn find(host: &Host, session: &SessionRef, header: &Session) -> Result<Self, DriverError> {
        let (home, record) = home::writable(host, session)?;
        if record.session.working_directory != header.working_directory {
            let message = format!(
                "session `{}` belongs to `{}`, by which the agent finds it; delete it first, or save under a fresh id for another directory",
                session.id, record.session.working_directory
            );
            return Err(DriverError::new(ErrorCode::Conflict, message));
        }
        let note = note::read(host, &home)?;
        let bytes = match &note {
            Some(_) => {
                host.walk(home.store, &home.folder, 0, &["meta.json".to_owned()])?.files.first().map(|file| file.bytes)
            }
            None => None,
        };
        let root = root(&*host.database(home.store, &home.database())?)?;
        let note = note.map(|text| {
            let length = text.len() as u64;
            (text, bytes.unwrap_or(length))
        });
        Ok(Self { home, note, root })
    }

    /// Its database, in a transaction. The rows of the generation before the last go.
    pub(crate) fn open(&self, host: &Host, generation: &str) -> Result<Box<dyn WritableDatabase>, DriverError> {
        let database = host.writable_database(self.home.store, &self.home.database())?;
        database.begin()?;
        let rows = format!("{}:", carried::KEY);
        let last =
            (&*database as &dyn Database).rows("SELECT CAST(value AS TEXT) FROM meta WHERE key = 'sepia'", &[])?;
        let last = last.into_iter().flatten().next().map(bytes_of).unwrap_or_default();
        let last = Saved::parse(&String::from_utf8_lossy(&last)).map(|saved| saved.rows()).unwrap_or_default();
        database.execute(
            "DELETE FROM meta WHERE key > ? AND key < 'sepia;' AND substr(key, 1, length(?)) <> ?",
            &[
                SqlValue::Text(rows.clone()),
                SqlValue::Text(last.clone()),
                SqlValue::Text(if last.is_empty() { "-".to_owned() } else { last }),
            ],
        )?;
        // What has to be put back when this is taken back.
        for (row, name) in [("0", "settings"), (carried::KEY, "before")] {
            database.execute(
                "INSERT INTO meta (key, value) SELECT ?, value FROM meta WHERE key = ?",
                &[SqlValue::Text(format!("{rows}{generation}:{name}")), SqlValue::Text(row.to_owned())],
            )?;
        }
        Ok(database)
    }

    /// The fields with the sub-agents, after those of a root that come before them.
    pub(crate) fn subagents(&self, root: Wire) -> Result<Wire, DriverError> {
        let kept = fields(&self.root)?;
        Ok(kept.iter().filter(|field| is_of_subagents(field)).fold(root, |root, field| root.whole(field)))
    }

    /// Puts back what the chat was.
    pub(crate) fn undo(&self, host: &Host, generation: &str) -> Result<(), DriverError> {
        let database = host.writable_database(self.home.store, &self.home.database())?;
        let rows = format!("{}:{generation}:", carried::KEY);
        let row = |name: &str| SqlValue::Text(format!("{rows}{name}"));
        database.begin()?;
        database.execute(
            "UPDATE meta SET value = (SELECT value FROM meta WHERE key = ?) WHERE key = '0'",
            &[row("settings")],
        )?;
        database.execute("DELETE FROM meta WHERE key = 'sepia'", &[])?;
        database
            .execute("INSERT INTO meta (key, value) SELECT 'sepia', value FROM meta WHERE key = ?", &[row("before")])?;
        let rows = SqlValue::Text(rows.clone());
        database.execute("DELETE FROM meta WHERE substr(key, 1, length(?)) = ?", &[rows.clone(), rows])?;
        database.commit()?;
        match &self.note {
            Some((text, _)) => host.replace(self.home.store, &self.home.note(), text.as_bytes(), note::MODE, None),
            None => match host.discard(self.home.store, &self.home.note()) {
                Err(error) if error.code != ErrorCode::NotFound => Err(error),
                _ => Ok(()),
            },
        }
    }
}

/// Points the chat to what was written.
pub(crate) fn point(database: &dyn WritableDatabase, ending: &Ending) -> Result<(), DriverError> {
    let text = |text: &str| SqlValue::Text(text.to_owned());
    let mut members =
        vec![("latestRootBlobId", text(&ending.root)), ("name", text(&ending.name)), ("mode", text(ending.mode))];
    members.extend(ending.model.as_ref().map(|model| ("lastUsedModel", text(model))));
    settings::set(database, &members)
}

fn is_of_subagents(field: &Field<'_>) -> bool {
    SUBAGENTS.contains(&field.number)
}
