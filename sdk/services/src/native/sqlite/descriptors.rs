//! Database files that are opened beside SQLite.
//!
//! The system keeps locks by process and file: closing any descriptor of a file drops every lock that this process
//! has on it, also those under which a connection writes at that moment. SQLite minds that for the descriptors that
//! it opens itself. What is opened beside it stays open here until no connection has the database.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Databases that connections have, by device and inode.
static IN_USE: Mutex<BTreeMap<Key, InUse>> = Mutex::new(BTreeMap::new());

type Key = (u64, u64);

#[derive(Debug, Default)]
struct InUse {
    connections: usize,
    /// To be closed when there are none.
    open: Vec<File>,
}

fn in_use() -> MutexGuard<'static, BTreeMap<Key, InUse>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(about: &Metadata) -> Key {
    (about.dev(), about.ino())
}

/// A connection has the database, or is about to; to be dropped after it.
#[derive(Debug)]
pub(super) struct Claim(Option<Key>);

impl Claim {
    /// On the file at this path; on nothing when there is none.
    pub(super) fn on(file: &Path) -> Self {
        let key = std::fs::metadata(file).ok().map(|about| key(&about));
        if let Some(key) = key {
            in_use().entry(key).or_default().connections += 1;
        }
        Self(key)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let Some(key) = self.0 else { return };
        let mut all = in_use();
        let Some(claimed) = all.get_mut(&key) else { return };
        claimed.connections -= 1;
        if claimed.connections == 0 {
            // Closed while nobody can claim it again.
            all.remove(&key);
        }
    }
}

/// A file that may be a database, and is closed when that drops no lock.
#[derive(Debug)]
pub(in crate::native) struct Opened(Option<File>);

impl Opened {
    pub(in crate::native) fn new(file: File) -> Self {
        Self(Some(file))
    }

    /// It is there until this is dropped.
    pub(in crate::native) fn get(&self) -> io::Result<&File> {
        self.0.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let_go(file);
        }
    }
}

/// Opens a database file beside SQLite for as long as this takes.
pub(super) fn with<T>(file: &Path, look: impl FnOnce(&mut &File) -> io::Result<T>) -> io::Result<T> {
    let opened = Opened::new(File::open(file)?);
    look(&mut opened.get()?)
}

/// Closes a file, when that drops no lock.
fn let_go(file: File) {
    let mut all = in_use();
    if all.is_empty() {
        drop(file);
        return;
    }
    match file.metadata().ok().and_then(|about| all.get_mut(&key(&about))) {
        Some(claimed) => claimed.open.push(file),
        None => drop(file),
    }
}
