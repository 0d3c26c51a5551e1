//! A folder to make stores in.

use sepia_ir::{StoreAccess, StoreKind, StoreRequest};
use sepia_services::{ServiceError, Store};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Everything of one test; gone with it.
pub(crate) struct Ground(TempDir);

impl Ground {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        // The folder itself may lie behind a link on some systems.
        self.0.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn folder(&self, path: &str) -> PathBuf {
        fs::create_dir_all(self.at(path)).unwrap();
        self.at(path)
    }

    pub(crate) fn file(&self, path: &str, content: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), content).unwrap();
    }

    /// A link at `path` with this very text in it.
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        symlink(target, self.at(path)).unwrap();
    }

    pub(crate) fn pipe(&self, path: &str) {
        let mode = rustix::fs::Mode::from_bits_truncate(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, self.at(path), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }

    /// The store in the folder `store`, following links in these directories of it.
    pub(crate) fn open(&self, follow_links_in: &[&str]) -> Store {
        self.try_open("store", follow_links_in, &|_| false).unwrap()
    }

    pub(crate) fn try_open(
        &self,
        place: &str,
        follow_links_in: &[&str],
        refuse: &dyn Fn(&Path) -> bool,
    ) -> Result<Store, ServiceError> {
        Store::open(&request(StoreKind::Directory, follow_links_in), &self.at(place), refuse)
    }
}

pub(crate) fn request(kind: StoreKind, follow_links_in: &[&str]) -> StoreRequest {
    StoreRequest {
        name: "sessions".into(),
        env: Vec::new(),
        default_path: String::new(),
        kind,
        access: StoreAccess::Read,
        follow_links_in: follow_links_in.iter().map(|&place| place.to_owned()).collect(),
    }
}

/// Paths of all files with this ending, at any depth; nothing may have failed.
pub(crate) fn paths(store: &Store, suffix: &str) -> Vec<String> {
    let report = store.walk("", 64, &[suffix.to_owned()]).unwrap();
    assert_eq!(report.failures, []);
    report.files.into_iter().map(|file| file.path).collect()
}

pub(crate) fn text(store: &Store, path: &str) -> Result<String, ServiceError> {
    Ok(String::from_utf8(store.read(path, 0, 1000)?).unwrap())
}
