//! The database that sessions are saved to. Only the agent makes one: what else is in it no one
//! but the agent knows.

use super::shape::Shape;
use super::target::{Target, place_of};
use crate::place::{self, FOLDER, Source, TRANSCRIPTS};
use crate::value::text;
use sepia_ir::{DriverError, ErrorCode};
use sepia_sdk::{Database, Host};

/// A database to save to.
pub(crate) struct Destination {
    pub(crate) source: Source,
    pub(crate) shape: Shape,
    access: Access,
}

/// What may be done with it.
enum Access {
    /// A dry run.
    Looking(Box<dyn Database>),
    /// A transaction is open. Dropped before it is committed, it did not happen.
    Writing(Target),
}

impl Destination {
    /// Opens it, and its transaction: from then on nobody else changes it.
    pub(crate) fn open(host: &Host, dry_run: bool) -> Result<Self, DriverError> {
        for source in Source::DATABASES {
            if source == Source::Legacy && place::is_legacy(host) {
                continue;
            }
            match Self::of(host, source, dry_run) {
                Err(error) if error.code == ErrorCode::NotFound => {}
                // A folder that is not granted holds nothing.
                Err(error) if error.code == ErrorCode::Invalid && source == Source::Legacy => {}
                opened => return opened,
            }
        }
        let message = "there is no database of the agent to write to, which only the agent itself makes; start it once \
                       and try again";
        Err(DriverError::new(ErrorCode::Unsupported, message))
    }

    fn of(host: &Host, source: Source, dry_run: bool) -> Result<Self, DriverError> {
        let (store, path) = place_of(source);
        let (shape, access) = if dry_run {
            let looking = host.database(store, path)?;
            (Shape::probe(&*looking)?, Access::Looking(looking))
        } else {
            let target = Target::open(host, source)?;
            target.database.begin()?;
            (target.shape.clone(), Access::Writing(target))
        };
        let fits =
            shape.has("sessions", &["id"]) && shape.has("message_nodes", &["session_id", "node_id", "chat_message"]);
        if !fits {
            let message = format!(
                "`{}` has no tables of sessions that this driver knows; start the agent once and try again",
                source.file()
            );
            return Err(DriverError::new(ErrorCode::Unsupported, message));
        }
        Ok(Self { source, shape, access })
    }

    /// What can be asked.
    pub(crate) fn database(&self) -> &dyn Database {
        match &self.access {
            Access::Looking(looking) => &**looking,
            Access::Writing(target) => &*target.database,
        }
    }

    /// What is written to; none in a dry run.
    pub(crate) fn target(&self) -> Option<&Target> {
        match &self.access {
            Access::Looking(_) => None,
            Access::Writing(target) => Some(target),
        }
    }

    /// Whether a session is called so already: here, in the other database, or as a transcript.
    pub(crate) fn is_taken(&self, host: &Host, id: &str) -> Result<bool, DriverError> {
        let is_in = |database: &dyn Database| -> Result<bool, DriverError> {
            Ok(!database.rows("SELECT 1 FROM sessions WHERE id = ? LIMIT 1", &[text(id)])?.is_empty())
        };
        if is_in(self.database())? {
            return Ok(true);
        }
        for source in Source::DATABASES.into_iter().filter(|source| *source != self.source) {
            if let Some(opened) = place::open(host, source)?
                && opened.schema.has_sessions()
                && is_in(&*opened.database)?
            {
                return Ok(true);
            }
        }
        // The id has the form of one: it leads nowhere else.
        match host.read(FOLDER, &format!("{TRANSCRIPTS}/{id}.json"), 0, 1) {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
