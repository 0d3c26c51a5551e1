//! Everything that may hold sessions, from the names and times of files and from the short
//! columns of the index.

use crate::database::Index;
use crate::place::{self, Folder, Kept, SESSIONS, STORE, agent_of, agent_session, is_id};
use crate::session::database_time;
use crate::task;
use crate::time;
use sepia_ir::{DriverError, FileEntry, ScanEntry, ScanReport, WalkReport, Warning};
use sepia_sdk::Host;
use std::collections::{BTreeMap, HashMap, HashSet};

/// See the module.
pub(crate) fn scan(host: &Host) -> Result<ScanReport, DriverError> {
    let mut found = Scan::default();
    if place::is_there(host, STORE) {
        found.sessions(host)?;
    }
    for store in [STORE, place::EXTENSION] {
        task::scan(host, store, &mut found)?;
    }
    found.entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    Ok(ScanReport { entries: found.entries, warnings: found.warnings })
}
/// The session folders among the files that were met.
fn folders(files: Vec<FileEntry>) -> impl Iterator<Item = Folder> {
    let mut folders: BTreeMap<String, Vec<FileEntry>> = BTreeMap::new();
    for file in files {
        let mut parts = file.path.split('/').skip(1);
        if let (Some(name), Some(_), None) = (parts.next(), parts.next(), parts.next()) {
            folders.entry(name.to_owned()).or_default().push(file);
        }
    }
    folders.into_iter().map(|(name, files)| Folder { name, files })
}

/// A scan that goes on.
#[derive(Default)]
pub(crate) struct Scan {
    entries: Vec<ScanEntry>,
    pub(crate) warnings: Vec<Warning>,
    /// Ids met.
    ids: HashSet<String>,
}

impl Scan {
    /// Adds session folders, transcripts in them, and what only the index knows.
    fn sessions(&mut self, host: &Host) -> Result<(), DriverError> {
        let walked = host.walk(STORE, SESSIONS, 1, &[".json".to_owned()])?;
        self.failures(&walked);
        let index = Index::new(host, Vec::new());
        let outlines = index.outlines().unwrap_or_else(|error| {
            self.warnings.push(Index::warning(&error));
            Vec::new()
        });
        let rows: HashMap<&str, &str> = outlines.iter().map(|row| (row.id.as_str(), row.stamp.as_str())).collect();
        for folder in folders(walked.files) {
            self.folder(&folder, &rows);
        }
        let rest: Vec<_> = outlines.iter().filter(|row| !self.ids.contains(&row.id)).collect();
        if !rest.is_empty() {
            let changed_at = time::bound(database_time(host)?);
            for row in rest {
                if !is_id(&row.id) {
                    let shown: String = row.id.chars().filter(|c| !c.is_control()).take(80).collect();
                    let message = format!("the index has a session `{shown}`, whose id can be none; it is not listed");
                    self.warnings.push(Warning::new("odd-id", message).in_file(crate::database::INDEX));
                    continue;
                }
                let kept = Kept::Row(row.id.clone());
                self.entry(&kept, row.stamp.clone(), 0, changed_at);
            }
        }
        Ok(())
    }

    pub(crate) fn failures(&mut self, walked: &WalkReport) {
        self.warnings.extend(walked.failures.iter().map(|(path, reason)| {
            let message = format!("`{path}` could not be looked into, so its sessions are missing: {reason}");
            Warning::new("unreadable-place", message).in_file(path)
        }));
    }

    /// Adds an entry; of two places with sessions of one id the first counts.
    pub(crate) fn entry(&mut self, kept: &Kept, stamp: String, bytes: u64, changed_at: f64) -> bool {
        let id = kept.id();
        if !self.ids.insert(id.clone()) {
            return false;
        }
        // A stamp is never empty: what has no file of its own may have no columns either.
        let stamp = if stamp.is_empty() { "-".to_owned() } else { stamp };
        let sub_agent = matches!(kept, Kept::Agent { .. });
        self.entries.push(ScanEntry { key: kept.key(), stamp, bytes, changed_at, session_id: Some(id), sub_agent });
        true
    }

    fn folder(&mut self, folder: &Folder, rows: &HashMap<&str, &str>) {
        if !is_id(&folder.name) {
            return;
        }
        let row = |id: &str| rows.get(id).copied().unwrap_or_default();
        if folder.is_session() {
            let mut stamp: String = folder.own().map(|file| place::stamp(file) + "+").collect();
            stamp.push_str(row(&folder.name));
            let bytes = folder.own().map(|file| file.bytes).sum();
            self.entry(&Kept::Folder(folder.name.clone()), stamp, bytes, time::bound(folder.time()));
        }
        for (stem, file) in folder.agents() {
            let of_agent = folder.agents().filter(|(other, _)| agent_of(other) == agent_of(stem)).count();
            let parent = folder.manifest().map(place::stamp);
            let stamp = format!(
                "{}+{}+{of_agent}+{}",
                place::stamp(file),
                parent.as_deref().unwrap_or_else(|| row(&folder.name)),
                row(&agent_session(&folder.name, stem)),
            );
            let kept = Kept::Agent { root: folder.name.clone(), stem: stem.to_owned() };
            self.entry(&kept, stamp, file.bytes, time::bound(time::of_file(file.modified_ns)));
        }
    }
}
