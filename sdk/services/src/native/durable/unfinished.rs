//! Notes of files that are being written, kept beside the trash and not in a store: what a process that died left in a
//! folder into which nobody writes again is found by them.

use super::super::sqlite::beside;
use super::strays::is_stray;
use super::trash::TrashEntry;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Folder of the notes, beside that of the trash.
const FOLDER: &str = "unfinished";

/// What a note says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unfinished {
    /// The unseen file.
    file: PathBuf,
    /// Folders that were made for it, the innermost first.
    folders: Vec<PathBuf>,
}

/// A note that is there as long as the file is not finished.
#[derive(Debug)]
pub(super) struct Note {
    place: PathBuf,
    unfinished: Unfinished,
}

fn folder(trash: &TrashEntry) -> Option<PathBuf> {
    Some(trash.folder().parent()?.parent()?.join(FOLDER))
}

impl Note {
    /// Notes a file that is going to be written, for which these folders were made.
    pub(super) fn of(trash: &TrashEntry, file: PathBuf, folders: Vec<PathBuf>) -> io::Result<Self> {
        let name = file.file_name().unwrap_or_default().to_owned();
        let folder = folder(trash).ok_or(io::ErrorKind::NotFound)?;
        let unfinished = Unfinished { file, folders };
        let text = serde_json::to_vec(&unfinished)?;
        let place = folder.join(name);
        // Nothing is written down for good: after a loss of power the folder of the file is looked at, as ever.
        match fs::write(&place, &text) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
                fs::write(&place, &text)?;
            }
            written => written?,
        }
        Ok(Self { place, unfinished })
    }

    /// The file did not get to its place, and what was made for it goes again.
    pub(super) fn forget_folders(&self) {
        remove_empty(&self.unfinished.folders);
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // A note that stays speaks of a file that is gone.
        let _ = fs::remove_file(&self.place);
    }
}

fn remove_empty(folders: &[PathBuf]) {
    for folder in folders {
        // One that others use meanwhile is not empty, and those above it neither.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Takes away what dead processes noted and did not finish.
pub(super) fn sweep(trash: &TrashEntry) {
    // Litter that can't be seen or taken away is in nobody's way.
    let Some(entries) = folder(trash).and_then(|folder| fs::read_dir(folder).ok()) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(is_stray) {
            take_away(&entry.path());
        }
    }
}

fn take_away(note: &Path) {
    let unfinished = fs::read(note).ok().and_then(|text| serde_json::from_slice::<Unfinished>(&text).ok());
    if let Some(Unfinished { file, folders }) = unfinished
        && file.file_name().and_then(|name| name.to_str()).is_some_and(is_stray)
    {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(beside(&file, suffix));
        }
        remove_empty(&folders);
    }
    let _ = fs::remove_file(note);
}
