//! The trash: what was deleted or written over, until it is brought back or thrown away.
//!
//! ```text
//! entry      what an entry says of itself, on disk
//! restoring  bringing one back
//! ```

mod entry;
mod restoring;

pub(super) use entry::{EntryFile, EntryFolder};
pub use entry::{Trashed, Why};
pub use restoring::Restored;

use super::{ErrorKind, Plane, PlaneError};
use sepia_services::TrashEntry;
use std::sync::Arc;

impl Plane {
    /// An entry for the things of one call; it takes no room on disk before something is put into it.
    pub(super) fn new_trash_entry(&self) -> Arc<TrashEntry> {
        let now = jiff::Timestamp::now().as_millisecond();
        let random = uuid::Uuid::new_v4().simple().to_string();
        Arc::new(TrashEntry::new(self.home.trash().join(format!("{now}-{}", &random[..8]))))
    }

    /// When a write had something in its way, says so in the entry that keeps it; a sentence for
    /// people.
    pub(super) fn note_overwritten(entry: &TrashEntry, agent: &str, id: &str) -> Result<Option<String>, PlaneError> {
        if entry.items().is_empty() {
            return Ok(None);
        }
        let folder = EntryFolder::at(entry.folder().to_owned());
        folder.write(&EntryFile::new(agent, id, "", Why::Replaced)).map_err(|e| no_trash(&e))?;
        Ok(Some(format!("what was there before is in the trash as {}", folder.name())))
    }

    /// What is in the trash, the newest first.
    pub fn trashed(&self) -> Result<Vec<Trashed>, PlaneError> {
        let mut entries: Vec<Trashed> =
            self.entries()?.iter().filter(|e| !e.is_only_begun()).map(EntryFolder::told).collect();
        entries.sort_by(|a, b| b.entry.cmp(&a.entry));
        Ok(entries)
    }

    /// All folders of the trash.
    fn entries(&self) -> Result<Vec<EntryFolder>, PlaneError> {
        let folders = match std::fs::read_dir(self.home.trash()) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            folders => folders.map_err(|e| no_trash(&e))?,
        };
        let folder = |found: std::io::Result<std::fs::DirEntry>| found.map(|found| EntryFolder::at(found.path()));
        folders.map(folder).collect::<Result<_, _>>().map_err(|e| no_trash(&e))
    }

    /// Throws entries away for good: the one of this name, or all; how many went.
    pub fn empty_trash(&self, entry: Option<&str>) -> Result<usize, PlaneError> {
        let told = self.trashed()?;
        let (going, count) = match entry {
            // What was only begun goes too, and nobody has heard of it.
            None => (self.entries()?, told.len()),
            Some(name) => (vec![EntryFolder::at(self.home.trash().join(&named(&told, name)?.entry))], 1),
        };
        for folder in going {
            folder.remove().map_err(|e| no_trash(&e))?;
        }
        Ok(count)
    }
}

/// The entry of this name, or the only one whose name or session begins so.
fn named<'a>(entries: &'a [Trashed], given: &str) -> Result<&'a Trashed, PlaneError> {
    let shown = || crate::text::clean_line(given, 80);
    let exact = entries.iter().find(|trashed| trashed.entry == given);
    let begins = |trashed: &&Trashed| trashed.entry.starts_with(given) || trashed.session_id.starts_with(given);
    let mut beginning = entries.iter().filter(begins).filter(|_| !given.is_empty());
    match (exact, beginning.next(), beginning.next()) {
        (Some(exact), ..) | (None, Some(exact), None) => Ok(exact),
        (None, Some(_), Some(_)) => Err(PlaneError::new(
            ErrorKind::Invalid,
            format!("several things in the trash begin with `{}`; write more of the name", shown()),
        )),
        (None, None, _) => Err(PlaneError::new(
            ErrorKind::NotFound,
            format!("there is nothing called `{}` in the trash; `sepia trash list` shows what there is", shown()),
        )),
    }
}

fn no_trash(error: &std::io::Error) -> PlaneError {
    let message = "the trash can't be read or written; is the folder of sepia's own files there, and is there room?";
    PlaneError::new(ErrorKind::Internal, message).because(error.to_string())
}
