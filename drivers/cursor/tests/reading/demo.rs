//! Stores built for one test, and what a test asks of the driver.

use sepia_conformance::{InProcess, copy_tree};
use sepia_driver_cursor::Cursor;
use sepia_ir::{DriverError, MessageNode, Role, ScanReport, Session, SessionRef, SummaryDetail, Warning};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Driver, Host, SessionRead};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Epoch seconds of 2026-10-12T09:00:00Z, the start of the samples.
pub const T0: f64 = 1_791_795_600.0;
/// Epoch seconds that the files of a store are dated to: 2026-11-28.
pub const FILES: u64 = 1_795_824_000;

/// A home directory with the stores of Cursor.
pub struct Demo {
    folder: tempfile::TempDir,
}

impl Demo {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// The sample stores, copied, with files that are newer than their records.
    pub fn samples() -> Self {
        let demo = Self::new();
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cursor/home"), demo.home())
            .expect("a copy");
        for path in demo.files() {
            date(&path, FILES);
        }
        demo
    }

    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.home().join(path)
    }

    /// A file below the home directory.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let place = self.path(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders are made");
        fs::write(&place, content).expect("a file is written");
        date(&place, FILES);
        place
    }

    pub fn host(&self) -> Host {
        let places = [
            ("cursor", self.path(".cursor")),
            ("config", self.path(".config/cursor")),
            ("ide", self.path(".config/Cursor/User")),
        ];
        let places: Vec<(&str, &Path)> = places.iter().map(|(name, path)| (*name, path.as_path())).collect();
        Host::new(Native::at(&Cursor::manifest(), &places).expect("the stores open"))
    }

    pub fn scan(&self) -> ScanReport {
        Cursor::scan(&self.host()).expect("a scan")
    }

    /// All rows, and all warnings that are of no session.
    pub fn listed(&self, detail: SummaryDetail) -> (Vec<Session>, Vec<Warning>) {
        let host = self.host();
        let scan = Cursor::scan(&host).expect("a scan");
        let keys: Vec<String> = scan.entries.into_iter().map(|entry| entry.key).collect();
        let summaries = Cursor::summaries(&host, &keys, detail).expect("summaries");
        assert_eq!(summaries.iter().map(|s| &s.key).collect::<Vec<_>>(), keys.iter().collect::<Vec<_>>());
        let mut warnings = scan.warnings;
        let mut rows = Vec::new();
        for summary in summaries {
            rows.extend(summary.sessions);
            warnings.extend(summary.warnings);
        }
        (rows, warnings)
    }

    pub fn rows(&self, detail: SummaryDetail) -> Vec<Session> {
        let (rows, warnings) = self.listed(detail);
        assert_eq!(warnings, []);
        rows
    }

    /// Ids in the list, sorted.
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.rows(SummaryDetail::Row).into_iter().map(|row| row.id).collect();
        ids.sort();
        ids
    }

    pub fn row(&self, id: &str) -> Session {
        let rows = self.listed(SummaryDetail::Row).0;
        rows.into_iter().find(|row| row.id == id).expect("the session is listed")
    }

    pub fn read(&self, id: &str) -> Session {
        self.try_read(&of(id)).expect("the session is read")
    }

    pub fn try_read(&self, session: &SessionRef) -> Result<Session, DriverError> {
        InProcess::<Cursor>::on(self.host()).read(session, 3)
    }

    /// Digest of everything in the stores.
    pub fn hash(&self) -> String {
        sepia_conformance::tree_hash(self.home()).expect("the stores are read")
    }

    pub fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut todo) = (Vec::new(), vec![self.home().to_owned()]);
        while let Some(folder) = todo.pop() {
            for entry in fs::read_dir(folder).expect("a folder is read") {
                let path = entry.expect("an entry").path();
                if path.is_dir() { todo.push(path) } else { files.push(path) }
            }
        }
        files
    }
}

/// Sets a file's time, epoch seconds.
pub fn date(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).expect("a file opens");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time is set");
}

pub fn of(id: &str) -> SessionRef {
    SessionRef { id: id.to_owned(), agent_id: None }
}

pub fn meta(json: &str) -> Value {
    serde_json::from_str(json).expect("metadata is JSON")
}

/// Codes of the warnings in a session's metadata.
pub fn warnings(session: &Session) -> Vec<String> {
    let metadata = meta(&session.metadata);
    let list = metadata["warnings"].as_array().cloned().unwrap_or_default();
    list.iter().map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect()
}

pub fn contents(session: &Session) -> Vec<&str> {
    session.nodes.iter().map(|node| node.content.as_str()).collect()
}

/// Nodes that a person sees: no system message, no context, no summary.
pub fn shown(session: &Session) -> Vec<&MessageNode> {
    let kind = |node: &MessageNode| meta(&node.metadata)["kind"].is_string();
    session.nodes.iter().filter(|node| node.role != Role::System && !kind(node)).collect()
}
