//! Bringing something back from the trash: its files to where they were, then its rows.

use super::entry::{EntryFolder, Why};
use super::{named, no_trash};
use crate::plane::{ErrorKind, Plane, PlaneError};
use schemars::JsonSchema;
use sepia_services::TrashEntry;
use serde::Serialize;

/// What was brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// Agent of the session.
    pub agent: String,
    /// The session.
    pub session_id: String,
    /// Files and folders that are back.
    pub items: usize,
}

impl Plane {
    /// Brings an entry back, by its name or the beginning of it, or of its session's id. What is at one of its places
    /// now makes it fail before anything is moved.
    pub async fn restore_from_trash(&self, given: &str) -> Result<Restored, PlaneError> {
        let entries = self.trashed()?;
        let trashed = named(&entries, given)?;
        let folder = EntryFolder::at(self.home.trash().join(&trashed.entry));
        let file = folder.read().map_err(|e| no_trash(&e))?;
        let entry = TrashEntry::read(folder.path().to_owned()).map_err(|e| no_trash(&e))?;
        let taken = matches!(file.why, Why::Deleted);
        // Of a deleted session comes back what was taken away; what was merely changed on the way,
        // the driver changes back. Of one that was written over comes back what it was.
        let items: Vec<_> = entry.items().into_iter().filter(|item| item.taken == taken).collect();
        let moved = |item: &&sepia_services::TrashItem| folder.path().join(item.number.to_string()).exists();
        let items: Vec<_> = items.iter().filter(moved).collect();
        if let Some(item) = items.iter().find(|item| taken && item.place.exists()) {
            let message =
                format!("{} is there again, and is not written over; move it away first", item.place.display());
            return Err(PlaneError::new(ErrorKind::Conflict, message));
        }
        let _held = self.claim(&file.agent, &file.session_id, taken).await?;
        for item in &items {
            entry.put_back(item).map_err(|e| {
                let message =
                    format!("{} can't be brought back; the rest of it is still in the trash", item.place.display());
                PlaneError::new(ErrorKind::Internal, message).because(e.to_string())
            })?;
        }
        let undo = file.undo().ok_or_else(|| {
            PlaneError::new(
                ErrorKind::Internal,
                "the files are back, and the rows of the session can't be read from the trash",
            )
        })?;
        if !undo.is_empty() {
            let (_, writer) = self.writer_of(&file.agent).await?;
            writer.undelete(undo).await?;
        }
        std::fs::remove_dir_all(folder.path()).map_err(|e| no_trash(&e))?;
        Ok(Restored { agent: file.agent, session_id: file.session_id, items: items.len() })
    }
}
