//! Where sessions are kept: the spaces of the stores, and which files belong to which session.
//!
//! Spaces: chats of the command line (in two places), sessions of the agent protocol, agents of
//! the SDK, composers of the IDE, transcripts. One session can stand in several; it is one row,
//! read from the source with the most complete record:
//!
//! 1. a `store.db`: it alone has system messages, sealed reasoning and whole tool results. Of
//!    several the one with the most bytes, log included: nothing is ever deleted from them, so
//!    more bytes are more history, and what `--resume` from another directory makes is small;
//! 2. the IDE's bubbles, which have results and times;
//! 3. a transcript: JSON lines, then the older flat files.
//!
//! A source that turns out to hold nothing gives way to the next.

use crate::key::{Kind, Source};
use sepia_ir::{DriverError, FileEntry, Warning};
use sepia_sdk::Host;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The agent's own directory.
pub(crate) const CURSOR: &str = "cursor";
/// Where some installations keep chats.
pub(crate) const CONFIG: &str = "config";
/// The IDE's `User` folder.
pub(crate) const IDE: &str = "ide";
/// Ids longer than this are of no session.
const LONGEST_ID: usize = 256;

/// A source, and what tells that it changed.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) source: Source,
    pub(crate) bytes: u64,
    pub(crate) modified_ns: u64,
    pub(crate) stamp: String,
}

/// What is kept under one id.
#[derive(Debug, Default, Clone)]
pub(crate) struct Kept {
    /// Best first, once [`Places::find`] is done.
    pub(crate) sources: Vec<Found>,
    /// Transcripts of sub-agents.
    pub(crate) subagents: Vec<FileEntry>,
    /// A transcript says that it is a sub-agent of this session.
    pub(crate) parent: Option<String>,
}

impl Kept {
    /// When the newest of its files changed.
    pub(crate) fn modified_ns(&self) -> u64 {
        let files = self.subagents.iter().map(|file| file.modified_ns);
        self.sources.iter().map(|found| found.modified_ns).chain(files).max().unwrap_or_default()
    }
}

/// All files that sessions are kept in, by id.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) kept: BTreeMap<String, Kept>,
    /// Stores of SDK agents whose id only they tell themselves.
    pub(crate) nameless: Vec<Found>,
    pub(crate) warnings: Vec<Warning>,
}

/// Whether a text can be the id of a session; of others there is none.
pub(crate) fn plausible(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.contains('/') && !id.chars().any(char::is_control)
}

/// Whether an id is one that the command line gives: a UUID in lower case.
pub(crate) fn is_own_id(id: &str) -> bool {
    id.len() == 36 && uuid::Uuid::try_parse(id).is_ok_and(|parsed| parsed.to_string() == id)
}

fn stamp(file: &FileEntry) -> String {
    format!("{}:{}:{}", file.bytes, file.modified_ns, file.inode)
}

/// Files of one folder that holds a `store.db`.
#[derive(Debug, Default)]
struct Folder<'a> {
    database: Option<&'a FileEntry>,
    log: Option<&'a FileEntry>,
    note: Option<&'a FileEntry>,
}

impl Folder<'_> {
    fn found(&self, kind: Kind) -> Option<Found> {
        let database = self.database?;
        let files = [self.database, self.log, self.note];
        let bytes = database.bytes + self.log.map_or(0, |log| log.bytes);
        let modified_ns = files.iter().flatten().map(|file| file.modified_ns).max().unwrap_or_default();
        let stamp = files.map(|file| file.map(stamp).unwrap_or_default()).join("+");
        Some(Found { source: Source { kind, path: database.path.clone() }, bytes, modified_ns, stamp })
    }
}

impl Places {
    /// Walks through all spaces but the IDE's database. No file is opened.
    pub(crate) fn find(host: &Host) -> Result<Self, DriverError> {
        let mut places = Self::default();
        for (kind, under, depth) in
            [(Kind::Chat, "chats", 2), (Kind::ConfigChat, "chats", 2), (Kind::Acp, "acp-sessions", 1)]
        {
            places.stores(host, kind, under, depth)?;
        }
        places.settled(host)
    }

    /// The same, but of chats only those of these ids: looking for a few costs no walk through
    /// thousands of others. Only ids of the agent's own form, which lead nowhere else, are looked for by name.
    pub(crate) fn of(host: &Host, ids: &[&str]) -> Result<Self, DriverError> {
        if !ids.iter().all(|id| is_own_id(id)) {
            return Self::find(host);
        }
        let mut places = Self::default();
        for id in ids {
            for kind in [Kind::Chat, Kind::ConfigChat] {
                for folder in directories(host, kind.store(), "chats") {
                    places.stores(host, kind, &format!("chats/{folder}/{id}"), 0)?;
                }
            }
            places.stores(host, Kind::Acp, &format!("acp-sessions/{id}"), 0)?;
        }
        places.settled(host)
    }

    /// With the projects, and the best source of each session first.
    fn settled(mut self, host: &Host) -> Result<Self, DriverError> {
        let places = &mut self;
        places.projects(host)?;
        for kept in places.kept.values_mut() {
            kept.sources.sort_by(|a, b| {
                let rank = |found: &Found| (found.source.kind.rank(), std::cmp::Reverse(found.bytes));
                rank(a).cmp(&rank(b)).then_with(|| a.source.path.cmp(&b.source.path))
            });
            kept.sources.dedup_by(|a, b| a.source == b.source);
        }
        Ok(self)
    }

    fn walk(
        &mut self,
        host: &Host,
        store: &str,
        under: &str,
        depth: u32,
        endings: &[&str],
    ) -> Result<Vec<FileEntry>, DriverError> {
        let endings: Vec<String> = endings.iter().map(ToString::to_string).collect();
        let report = host.walk(store, under, depth, &endings)?;
        self.warnings.extend(report.failures.into_iter().map(|(path, reason)| {
            let message = format!("`{path}` could not be looked into, so its sessions are missing: {reason}");
            Warning::new("unreadable-place", message).in_file(path)
        }));
        Ok(report.files)
    }

    fn stores(&mut self, host: &Host, kind: Kind, under: &str, depth: u32) -> Result<(), DriverError> {
        let files = self.walk(host, kind.store(), under, depth, &["store.db", "store.db-wal", "meta.json"])?;
        for (folder, held) in folders(&files) {
            let parts = folder.split('/').count();
            let id = folder.rsplit('/').next().unwrap_or_default();
            let below = usize::try_from(depth).unwrap_or_default();
            if parts != under.split('/').count() + below || !plausible(id) {
                continue;
            }
            // A folder with only its note was opened and never prompted.
            if let Some(found) = held.found(kind) {
                self.kept.entry(id.to_owned()).or_default().sources.push(found);
            }
        }
        Ok(())
    }

    fn projects(&mut self, host: &Host) -> Result<(), DriverError> {
        let endings = [".jsonl", ".txt", ".json", "store.db", "store.db-wal"];
        let files = self.walk(host, CURSOR, "projects", 5, &endings)?;
        for file in &files {
            let parts: Vec<&str> = file.path.split('/').collect();
            match parts[..] {
                [_, _, "agent-transcripts", folder, name] => self.transcript(file, Some(folder), name),
                [_, _, "agent-transcripts", name] => self.transcript(file, None, name),
                [_, _, "agent-transcripts", parent, "subagents", name] => {
                    let Some(id) = name.strip_suffix(".jsonl").filter(|id| plausible(id)) else { continue };
                    if plausible(parent) {
                        self.kept.entry(id.to_owned()).or_default().parent = Some(parent.to_owned());
                        self.kept.entry(parent.to_owned()).or_default().subagents.push(file.clone());
                    }
                }
                _ => {}
            }
        }
        let sdk: Vec<FileEntry> =
            files.iter().filter(|file| file.path.contains("/sdk-agent-store/")).cloned().collect();
        self.sdk(host, &sdk);
        // Ids that were only named as sub-agents of others are kept by those.
        self.kept.retain(|_, kept| !kept.sources.is_empty() || !kept.subagents.is_empty());
        Ok(())
    }

    fn transcript(&mut self, file: &FileEntry, folder: Option<&str>, name: &str) {
        let Some((id, ending)) = name.rsplit_once('.') else { return };
        let kind = match (ending, folder) {
            ("jsonl", Some(_)) => Kind::Transcript,
            ("jsonl", None) => Kind::FlatLines,
            ("json", None) => Kind::FlatJson,
            ("txt", None) => Kind::FlatText,
            _ => return,
        };
        if plausible(id) {
            let source = Source { kind, path: file.path.clone() };
            let found = Found { source, bytes: file.bytes, modified_ns: file.modified_ns, stamp: stamp(file) };
            self.kept.entry(id.to_owned()).or_default().sources.push(found);
        }
    }

    /// Stores of SDK agents are in folders named by a digest of their id.
    fn sdk(&mut self, host: &Host, files: &[FileEntry]) {
        if files.is_empty() {
            return;
        }
        let digests: HashMap<String, String> =
            self.kept.keys().map(|id| (crate::blobs::hex(&host.sha256(id.as_bytes())), id.clone())).collect();
        for (folder, held) in folders(files) {
            let parts: Vec<&str> = folder.split('/').collect();
            let [_, _, "sdk-agent-store", _, "agents", agent] = parts[..] else { continue };
            let (Some(digest), Some(found)) = (agent.strip_prefix("agent-"), held.found(Kind::Sdk)) else { continue };
            match digests.get(digest) {
                Some(id) => self.kept.entry(id.clone()).or_default().sources.push(found),
                None => self.nameless.push(found),
            }
        }
    }
}

/// Names of what a directory of a store holds, without what no path may have in it.
fn directories(host: &Host, store: &str, path: &str) -> Vec<String> {
    let Some(root) = host.directory(store) else { return Vec::new() };
    // A directory that is not there, or can't be read, holds nothing that could be looked up.
    let Ok(entries) = std::fs::read_dir(root.join(path)) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| plausible(name)).collect()
}

fn folders(files: &[FileEntry]) -> BTreeMap<&str, Folder<'_>> {
    let mut folders: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
    for file in files {
        let Some((folder, name)) = file.path.rsplit_once('/') else { continue };
        let held = folders.entry(folder).or_default();
        match name {
            "store.db" => held.database = Some(file),
            "store.db-wal" => held.log = Some(file),
            "meta.json" => held.note = Some(file),
            _ => {}
        }
    }
    folders
}

/// The ids that have a store of their own, of those that transcripts call sub-agents.
pub(crate) fn own_stores<'a>(places: &'a Places, parent: &str) -> BTreeSet<&'a str> {
    let of_parent = |kept: &&Kept| kept.parent.as_deref() == Some(parent) && !kept.sources.is_empty();
    places.kept.iter().filter(|(_, kept)| of_parent(kept)).map(|(id, _)| id.as_str()).collect()
}
