//! Which file a session is written to: ids are made here or looked up, and checked before they are a name.

use super::folder;
use crate::place::{self, PROJECTS, STORE, Transcript};
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::{Host, NewFile};

/// Bytes that are copied at once.
const PIECE: u32 = 1 << 20;
/// Only the person may read transcripts.
pub(crate) const MODE: u32 = 0o600;

/// See the module.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) id: String,
    pub(crate) path: String,
    /// What is to be replaced: its path and its bytes.
    pub(crate) old: Option<(String, u64)>,
}

impl Target {
    /// The file for a session of this id, or of a fresh one.
    pub(crate) fn of(host: &Host, id: &str, directory: &str, replace: bool) -> Result<Self, DriverError> {
        if !directory.starts_with('/') || directory.chars().any(char::is_control) {
            let message = "a working directory is needed, as an absolute path: this agent finds a session only in the \
                           folder of the directory it works in";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        let path = |id: &str| Self::path(directory, id);
        if id.is_empty() {
            let id = uuid::Uuid::new_v4().to_string();
            return Ok(Self { path: path(&id), id, old: None });
        }
        if !is_native(id) {
            let shown: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
            let message = format!("`{shown}` is no id of this agent, which are UUIDs in lower case; leave it out");
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        let there = place::locate(host, &SessionRef { id: id.to_owned(), agent_id: None });
        let old = match there {
            Ok(located) => Some((located.file.path, located.file.bytes)),
            Err(e) if e.code == ErrorCode::NotFound => None,
            Err(e) => return Err(e),
        };
        if let (Some((path, _)), false) = (&old, replace) {
            let message =
                format!("there is a session `{id}` already, in `{path}`; ask for it to be replaced, or for a new id");
            return Err(DriverError::new(ErrorCode::Conflict, message));
        }
        Ok(Self { path: path(id), id: id.to_owned(), old })
    }

    /// Where the agent looks for a session of this directory.
    pub(crate) fn path(directory: &str, id: &str) -> String {
        format!("{PROJECTS}/{}/{id}.jsonl", folder::name(directory))
    }

    /// Bytes of what has to be in its place when the new file gets there; 0 for nothing.
    pub(crate) fn expected(&self) -> u64 {
        self.old.as_ref().filter(|(path, _)| *path == self.path).map_or(0, |(_, bytes)| *bytes)
    }

    /// An unseen copy of what is replaced, to be put back when the new file turns out wrong.
    pub(crate) fn copy(&self, host: &Host) -> Result<Option<Box<dyn NewFile>>, DriverError> {
        let Some((path, bytes)) = &self.old else { return Ok(None) };
        let mut copy = host.create(STORE, path, MODE)?;
        let mut offset = 0;
        while offset < *bytes {
            let piece = host.read(STORE, path, offset, PIECE)?;
            if piece.is_empty() {
                let message = format!("`{path}` became shorter while it was read; try again");
                return Err(DriverError::new(ErrorCode::Conflict, message));
            }
            offset += piece.len() as u64;
            copy.write(&piece)?;
        }
        Ok(Some(copy))
    }
}

/// Whether an id has the form that the agent gives to sessions.
pub(crate) fn is_native(id: &str) -> bool {
    is_uuid(id) && Transcript::of(&format!("{PROJECTS}/-/{id}.jsonl")).is_some()
}

/// A UUID as the agent writes it.
pub(crate) fn is_uuid(text: &str) -> bool {
    uuid_of(text).is_some()
}

/// The number that a UUID as the agent writes it stands for.
pub(crate) fn uuid_of(text: &str) -> Option<u128> {
    let uuid = uuid::Uuid::try_parse(text).ok()?;
    (uuid.as_hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()) == text).then_some(uuid.as_u128())
}
