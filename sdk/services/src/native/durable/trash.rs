//! Where what is taken away, or written over, can be brought back from.
//!
//! An entry is a folder: `items.jsonl` says, one JSON object a line, what came from where, written
//! before the thing is moved; each thing has its number as name.

use super::super::error::ServiceError;
use super::super::path::shown;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A thing in the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its name in the entry.
    pub number: u64,
    /// Name of the store that it came from.
    pub store: String,
    /// Its path in that store.
    pub path: String,
    /// Where it was.
    pub place: PathBuf,
    /// Bytes of its files together.
    pub bytes: u64,
    /// Whether it was taken away; otherwise it is what a file was before it was written over.
    pub taken: bool,
}

/// An entry of the trash, for the things of one call. Its folder is made with the first.
#[derive(Debug)]
pub struct TrashEntry {
    folder: PathBuf,
    items: Mutex<Vec<Item>>,
}

impl TrashEntry {
    /// Name of the list in an entry.
    pub const LIST: &str = "items.jsonl";

    /// An entry in this folder, whose parent is there or can be made.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, items: Mutex::default() }
    }

    /// An entry that was made before.
    pub fn read(folder: PathBuf) -> io::Result<Self> {
        let list = match fs::read_to_string(folder.join(Self::LIST)) {
            Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
            list => list?,
        };
        // A line that is half there belongs to a thing that was not moved.
        let items = list.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Ok(Self { folder, items: Mutex::new(items) })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is in it, in the order in which it came.
    pub fn items(&self) -> Vec<Item> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves a file or folder into the entry; its bytes.
    pub(super) fn take(&self, store: &str, path: &str, place: &Path) -> Result<u64, ServiceError> {
        let failed = |source: io::Error| match source.kind() {
            ErrorKind::NotFound => ServiceError::NotFound(shown(path)),
            _ => ServiceError::Write { path: shown(path), source },
        };
        let bytes = size(place).map_err(failed)?;
        let number = self.note(store, path, place, bytes, true).map_err(failed)?;
        moved(place, &self.folder.join(number.to_string())).map_err(failed)?;
        Ok(bytes)
    }

    /// Keeps what a file is before it is written over.
    pub(super) fn keep(&self, store: &str, path: &str, place: &Path) -> Result<(), ServiceError> {
        let failed = |source: io::Error| ServiceError::Write { path: shown(path), source };
        let bytes = size(place).map_err(failed)?;
        let number = self.note(store, path, place, bytes, false).map_err(failed)?;
        let kept = self.folder.join(number.to_string());
        match fs::hard_link(place, &kept) {
            Ok(()) => {}
            // Another file system, or one that has no second names.
            Err(_) => copied(place, &kept).map_err(failed)?,
        }
        synced(&self.folder).map_err(failed)
    }

    /// Puts a thing back where it was. `AlreadyExists` when something is there; what was written
    /// over is put over what is there now.
    pub fn put_back(&self, item: &Item) -> io::Result<()> {
        let kept = self.folder.join(item.number.to_string());
        if item.taken && fs::symlink_metadata(&item.place).is_ok() {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "something else is at its place now"));
        }
        if let Some(parent) = item.place.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        moved(&kept, &item.place)
    }

    /// Writes down what is about to be moved.
    fn note(&self, store: &str, path: &str, place: &Path, bytes: u64, taken: bool) -> io::Result<u64> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let number = items.last().map_or(0, |last| last.number + 1);
        let (store, path, place) = (store.to_owned(), path.to_owned(), place.to_owned());
        let item = Item { number, store, path, place, bytes, taken };
        let mut line = serde_json::to_vec(&item)?;
        line.push(b'\n');
        let mut list = OpenOptions::new().append(true).create(true).mode(0o600).open(self.folder.join(Self::LIST))?;
        list.write_all(&line)?;
        list.sync_all()?;
        synced(&self.folder)?;
        items.push(item);
        Ok(number)
    }
}

/// Bytes of the files of a thing.
fn size(place: &Path) -> io::Result<u64> {
    let about = fs::symlink_metadata(place)?;
    if !about.is_dir() {
        return Ok(about.len());
    }
    fs::read_dir(place)?.map(|entry| size(&entry?.path())).sum()
}

/// Moves a thing, also to another file system, and sees to it that it stays moved.
fn moved(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(e) if e.kind() == ErrorKind::CrossesDevices => {
            if let Err(e) = copied(from, to) {
                // What was copied so far is no use; the original is still there.
                let _ = removed(to);
                return Err(e);
            }
            if let Err(e) = removed(from) {
                // Part of it may be gone and part of it not: what is gone comes back, so that it is all there still, and
                // then the copy is no use. When it can't come back, the copy is all that there is of it.
                if filled(to, from).is_ok() {
                    let _ = removed(to);
                }
                return Err(e);
            }
        }
        outcome => outcome?,
    }
    for side in [from, to] {
        if let Some(parent) = side.parent() {
            synced(parent)?;
        }
    }
    Ok(())
}

fn removed(place: &Path) -> io::Result<()> {
    if fs::symlink_metadata(place)?.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) }
}

/// Copies what of a thing is missing at another place.
fn filled(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_err() {
        return copied(from, to);
    }
    if !fs::symlink_metadata(from)?.is_dir() {
        return Ok(());
    }
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        filled(&entry.path(), &to.join(entry.file_name()))
    })
}

/// Copies a thing, links as links.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let about = fs::symlink_metadata(from)?;
    if about.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if about.is_dir() {
        fs::DirBuilder::new().mode(0o700).create(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copied(&entry.path(), &to.join(entry.file_name()))?;
        }
        fs::set_permissions(to, about.permissions())?;
        return synced(to);
    }
    if !about.is_file() {
        return Err(io::Error::new(ErrorKind::Unsupported, "it is neither a file nor a folder"));
    }
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}

fn synced(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems have nothing to write down for a directory.
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) => Ok(()),
        outcome => outcome,
    }
}
