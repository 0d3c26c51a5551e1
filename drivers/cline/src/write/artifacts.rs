//! What belongs to a session: files, rows, entries of a list.

use super::placed::locate_known;
use super::rows::{self, Held};
use super::task_list;
use crate::place::{Kept, SESSIONS, STORE, TASKS};
use sepia_ir::{Artifact, DriverError, ErrorCode, SessionRef};
use sepia_sdk::Host;

/// Folders of a session that are looked into.
const DEPTH: u32 = 8;

/// What belongs to a session.
#[derive(Debug, Default)]
pub(super) struct Artifacts {
    /// Store and path of the folder or the file that goes as a whole.
    pub(super) place: Option<(&'static str, String)>,
    /// Its files.
    pub(super) files: Vec<Artifact>,
    /// Id of the rows that go, and what they are.
    pub(super) rows: Option<(String, Held)>,
    /// Entries of lists.
    pub(super) entries: Vec<task_list::Entry>,
}

impl Artifacts {
    /// Of a session that is there.
    pub(super) fn of(host: &Host, kept: &Kept) -> Result<Self, DriverError> {
        let mut all = Self::default();
        match kept {
            Kept::Folder(id) | Kept::Row(id) => {
                all.folder(host, STORE, format!("{SESSIONS}/{id}"))?;
                all.rows = Some((id.clone(), rows::held(host, id)?));
            }
            Kept::Agent { root, stem } => {
                let path = format!("{SESSIONS}/{root}/{stem}{}", crate::place::MESSAGES);
                let files =
                    host.walk(STORE, &format!("{SESSIONS}/{root}"), 0, &[crate::place::MESSAGES.to_owned()])?.files;
                let file = files.into_iter().find(|file| file.path == path);
                let file = file.ok_or_else(|| DriverError::unknown_session(&kept.id()))?;
                all.files.push(Artifact { place: path.clone(), store: STORE.to_owned(), bytes: file.bytes });
                all.place = Some((STORE, path));
                all.rows = Some((kept.id(), rows::held(host, &kept.id())?));
            }
            Kept::Task { store, id } => {
                all.folder(host, store, format!("{TASKS}/{id}"))?;
                all.entries = task_list::entries(host, store, id)?;
            }
        }
        Ok(all)
    }

    fn folder(&mut self, host: &Host, store: &'static str, path: String) -> Result<(), DriverError> {
        let walked = host.walk(store, &path, DEPTH, &[String::new()])?;
        if let Some((place, reason)) = walked.failures.first() {
            let message = format!("`{place}` can't be looked into, so not all of the session is known: {reason}");
            return Err(DriverError::new(ErrorCode::Store, message));
        }
        self.files.extend(walked.files.into_iter().map(|file| Artifact {
            place: file.path,
            store: store.to_owned(),
            bytes: file.bytes,
        }));
        if !self.files.is_empty() {
            self.place = Some((store, path));
        }
        Ok(())
    }

    /// Everything, as it is told.
    pub(super) fn all(&self) -> Vec<Artifact> {
        self.files.iter().cloned().chain(self.of_rows()).chain(self.of_entries()).collect()
    }

    pub(super) fn of_rows(&self) -> Vec<Artifact> {
        let rows = self.rows.iter().flat_map(|(_, held)| &held.rows);
        rows.map(|row| Artifact { place: row.place(), store: STORE.to_owned(), bytes: row.bytes() }).collect()
    }

    pub(super) fn of_entries(&self) -> Vec<Artifact> {
        let told = |entry: &task_list::Entry| Artifact {
            place: format!("{}:{}", entry.list, entry.id),
            store: entry.store.clone(),
            bytes: entry.json.len() as u64,
        };
        self.entries.iter().map(told).collect()
    }
}

/// All that belongs to a session.
pub(crate) fn plan(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
    let kept = locate_known(host, session)?;
    Ok(Artifacts::of(host, &kept)?.all())
}
