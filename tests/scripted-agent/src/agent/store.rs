//! Sessions on disk: one file each.

use super::history::Turn;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Kept {
    pub(crate) id: String,
    pub(crate) cwd: String,
    /// Milliseconds since 1970 (UTC).
    pub(crate) updated_at_ms: u64,
    pub(crate) turns: Vec<Turn>,
}

/// A folder of sessions.
#[derive(Debug, Clone)]
pub(crate) struct Store(PathBuf);

impl Store {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub(crate) fn write(&self, session: &Kept) -> io::Result<()> {
        let path = self.path(&session.id);
        let unfinished = path.with_extension(format!("{}", std::process::id()));
        fs::create_dir_all(&self.0)?;
        fs::write(&unfinished, serde_json::to_vec(session)?)?;
        fs::rename(unfinished, path)
    }

    pub(crate) fn read(&self, id: &str) -> io::Result<Option<Kept>> {
        read(&self.path(id))
    }

    /// Removes a session; `false` when there is none.
    pub(crate) fn delete(&self, id: &str) -> io::Result<bool> {
        match fs::remove_file(self.path(id)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            deleted => deleted.map(|()| true),
        }
    }

    pub(crate) fn all(&self) -> io::Result<Vec<Kept>> {
        let files = match fs::read_dir(&self.0) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            files => files?,
        };
        let mut all = Vec::new();
        for file in files {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                // Another process may have deleted it by now.
                all.extend(read(&path)?);
            }
        }
        Ok(all)
    }

    /// Ids come from the client too, and need be no names of files.
    fn path(&self, id: &str) -> PathBuf {
        let mut name = String::new();
        for byte in id.bytes() {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
                name.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                let _ = write!(name, "%{byte:02x}");
            }
        }
        self.0.join(format!("{name}.json"))
    }
}

fn read(path: &Path) -> io::Result<Option<Kept>> {
    match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        text => Ok(Some(serde_json::from_slice(&text?)?)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Kept, Store};
    use crate::agent::history::Turn;

    #[test]
    fn what_is_kept_is_read_and_listed_until_it_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("store"));
        assert_eq!(store.all().unwrap(), []);
        let id = "../ä/x";
        let kept = Kept { id: id.into(), cwd: "/w".into(), updated_at_ms: 5, turns: vec![Turn::default()] };
        store.write(&kept).unwrap();
        assert_eq!(store.read(id).unwrap(), Some(kept.clone()));
        assert_eq!(store.all().unwrap(), [kept]);
        assert!(store.delete(id).unwrap());
        assert!(!store.delete(id).unwrap());
        assert_eq!(store.read(id).unwrap(), None);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x.json"), "{").unwrap();
        let store = Store::new(folder.path().to_owned());
        store.read("x").unwrap_err();
        store.all().unwrap_err();
    }
}
