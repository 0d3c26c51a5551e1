//! What an entry of the trash says of itself: `entry.json`, beside the list of its things.

use crate::home::replace_file;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use sepia_services::{TrashEntry, is_unseen};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "entry.json";

/// Why something is in the trash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// A session was deleted.
    Deleted,
    /// A session was cut back, and this is what it was.
    Rewound,
    /// A session was written over, and this is what it was.
    Replaced,
}

/// `entry.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::plane) struct EntryFile {
    pub(in crate::plane) agent: String,
    pub(in crate::plane) session_id: String,
    pub(in crate::plane) title: String,
    pub(in crate::plane) why: Why,
    /// ISO 8601.
    pub(in crate::plane) at: String,
    /// What the driver brings rows back from, base64.
    #[serde(default)]
    pub(in crate::plane) undo: String,
}

/// Something in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trashed {
    /// Name of the entry.
    pub entry: String,
    /// Agent of the session; empty when the entry does not tell.
    pub agent: String,
    /// The session.
    pub session_id: String,
    /// Its title.
    pub title: String,
    /// Why it is here; absent when the entry does not tell.
    pub why: Option<Why>,
    /// When it came here, ISO 8601.
    pub at: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// Files and folders.
    pub items: usize,
}

impl EntryFile {
    pub(in crate::plane) fn new(agent: &str, session_id: &str, title: &str, why: Why) -> Self {
        Self {
            agent: agent.to_owned(),
            session_id: session_id.to_owned(),
            title: title.to_owned(),
            why,
            at: jiff::Timestamp::now().to_string(),
            undo: String::new(),
        }
    }

    /// With what the driver brings rows back from.
    pub(in crate::plane) fn with_undo(mut self, undo: &[u8]) -> Self {
        self.undo = BASE64.encode(undo);
        self
    }

    /// What the driver brings rows back from; none when that can't be read.
    pub(in crate::plane) fn undo(&self) -> Option<Vec<u8>> {
        BASE64.decode(&self.undo).ok()
    }
}

/// The folder of an entry.
#[derive(Debug, Clone)]
pub(in crate::plane) struct EntryFolder(PathBuf);

impl EntryFolder {
    pub(in crate::plane) fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub(in crate::plane) fn path(&self) -> &Path {
        &self.0
    }

    pub(in crate::plane) fn name(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(in crate::plane) fn write(&self, file: &EntryFile) -> io::Result<()> {
        replace_file(&self.0.join(FILE), &serde_json::to_vec(file)?)
    }

    pub(in crate::plane) fn read(&self) -> io::Result<EntryFile> {
        Ok(serde_json::from_slice(&std::fs::read(self.0.join(FILE))?)?)
    }

    /// Throws it away: what it says of itself goes last, so that what can't go is still told.
    pub(in crate::plane) fn remove(&self) -> io::Result<()> {
        for item in std::fs::read_dir(&self.0)? {
            let item = item?;
            if item.file_type()?.is_dir() {
                std::fs::remove_dir_all(item.path())?;
            } else if item.file_name() != FILE && item.file_name() != TrashEntry::LIST {
                std::fs::remove_file(item.path())?;
            }
        }
        std::fs::remove_dir_all(&self.0)
    }

    /// Whether its maker was killed before anything came into it. What can't be looked into is not
    /// passed over.
    pub(in crate::plane) fn is_only_begun(&self) -> bool {
        let Ok(mut things) = std::fs::read_dir(&self.0) else { return false };
        things.all(|thing| {
            thing.is_ok_and(|thing| {
                let name = thing.file_name();
                name == TrashEntry::LIST || name.to_str().is_some_and(is_unseen)
            })
        })
    }

    /// What is known of it, which is never nothing.
    pub(in crate::plane) fn told(&self) -> Trashed {
        let items = TrashEntry::read(self.0.clone()).map(|entry| entry.items()).unwrap_or_default();
        let file = self.read().ok();
        let text = |of: fn(&EntryFile) -> &str| file.as_ref().map_or_else(String::new, |file| of(file).to_owned());
        Trashed {
            entry: self.name(),
            agent: text(|file| &file.agent),
            session_id: text(|file| &file.session_id),
            title: text(|file| &file.title),
            why: file.as_ref().map(|file| file.why),
            at: text(|file| &file.at),
            bytes: items.iter().map(|item| item.bytes).sum(),
            items: items.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs;

    #[test]
    fn only_what_holds_nothing_is_only_begun() {
        let folder = tempfile::tempdir().unwrap();
        let begun = || EntryFolder::at(folder.path().to_owned()).is_only_begun();
        assert!(begun());
        fs::write(folder.path().join(TrashEntry::LIST), "{\"store\":\"ho").unwrap();
        fs::write(folder.path().join(".sepia-1-2-3.tmp"), "{").unwrap();
        assert!(begun());
        for thing in ["0", FILE] {
            fs::write(folder.path().join(thing), "").unwrap();
            assert!(!begun(), "{thing}");
            fs::remove_file(folder.path().join(thing)).unwrap();
        }
        assert!(!EntryFolder::at(folder.path().join("gone")).is_only_begun());
    }
}
