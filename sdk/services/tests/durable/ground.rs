//! A store that may be written, and its trash.

use sepia_ir::{StoreAccess, StoreKind, StoreRequest};
use sepia_services::{Store, TrashEntry};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

pub(crate) struct Ground {
    folder: TempDir,
    pub(crate) trash: Arc<TrashEntry>,
}

impl Ground {
    /// An empty store, and a folder beside it that it may not reach.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("store")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        let trash = Arc::new(TrashEntry::new(folder.path().join("trash/1")));
        Self { folder, trash }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// The store, for a call that reads.
    pub(crate) fn reading(&self) -> Store {
        open(&self.path("store"))
    }

    /// The store, for a call that writes.
    pub(crate) fn writing(&self) -> Store {
        self.reading().for_writing(Some(Arc::clone(&self.trash)))
    }

    /// Everything below a folder: its path and what it is, sorted.
    pub(crate) fn tree(&self, path: &str) -> Vec<(String, String)> {
        let mut tree = Vec::new();
        for name in self.names(path) {
            let path = format!("{path}/{name}");
            let about = fs::symlink_metadata(self.path(&path)).unwrap();
            let mode = about.permissions().mode();
            let modified = about.modified().unwrap();
            let what = if about.is_dir() {
                tree.extend(self.tree(&path));
                format!("{mode:o}")
            } else if about.is_symlink() {
                fs::read_link(self.path(&path)).unwrap().display().to_string()
            } else {
                format!("{mode:o} {modified:?} {}", self.read(&path))
            };
            tree.push((path, what));
        }
        tree
    }

    /// Names in a folder, sorted.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn open(place: &Path) -> Store {
    let request = StoreRequest {
        name: "store".into(),
        env: vec![],
        default_path: String::new(),
        kind: StoreKind::Directory,
        access: StoreAccess::ReadWrite,
        follow_links_in: vec!["linked".into()],
    };
    Store::open(&request, place, &|_| false).unwrap()
}
