//! Rows kept on disk between listings: by the driver's build, the key and the stamp.
//!
//! Always rebuildable and never trusted over the store: a row is used only while the store's
//! own scan gives the stamp under which it was made, or all that the scan rests on is as it
//! was. A file that can't be understood counts as absent. Several processes may read and
//! replace it at once; the last one to write wins, and what it did not know is made again.

use crate::home::{Home, unseen_in};
use crate::loader::{About, ScanBasis};
use crate::plane::row::SessionFacts;
use crate::text::hex;
use sepia_ir::ScanEntry;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tokio::task::JoinHandle;

/// Changes with the layout of the file.
const MAGIC: &[u8; 8] = b"sepia\0r\x02";
/// A larger file is neither read nor written: rows of a hundred thousand sessions fit.
const MOST_BYTES: usize = 64 << 20;
/// Files kept: one for each agent, place and detail, and those of older builds.
const MOST_FILES: usize = 16;
/// A thing that changed so short a time ago may change again without its stamp telling,
/// seconds: the clock of file systems is coarse.
const SETTLED: f64 = 1.0;
const SUFFIX: &str = ".rows";

/// Where the rows of one driver over its stores are kept.
#[derive(Debug, Clone)]
pub(in crate::plane) struct RowCache {
    file: PathBuf,
}

/// What is kept.
#[derive(Debug, Default, Deserialize)]
pub(in crate::plane) struct Kept {
    /// What the scan that found the entries rests on.
    basis: Option<ScanBasis>,
    entries: Vec<KeptEntry>,
}

/// An entry of a scan, and its rows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(in crate::plane) struct KeptEntry {
    pub(super) key: String,
    stamp: String,
    bytes: u64,
    /// Epoch seconds.
    pub(super) changed_at: f64,
    pub(super) sub_agent: bool,
    /// None when they are not known.
    rows: Option<Vec<SessionFacts>>,
    /// The rows are right now, and may not be the next time.
    #[serde(skip)]
    passing: bool,
}

impl KeptEntry {
    /// A row of it, leaving an empty one.
    pub(super) fn take_row(&mut self, at: usize) -> SessionFacts {
        let row = self.rows.as_mut().and_then(|rows| rows.get_mut(at));
        row.map(std::mem::take).unwrap_or_default()
    }

    /// Its rows, as far as they are known.
    pub(in crate::plane) fn rows(&self) -> &[SessionFacts] {
        self.rows.as_deref().unwrap_or_default()
    }

    /// Whether its rows are known.
    pub(in crate::plane) fn is_known(&self) -> bool {
        self.rows.is_some()
    }

    /// The driver made these rows; they are kept if they are lasting.
    pub(super) fn learn(&mut self, rows: Vec<SessionFacts>, lasting: bool) {
        self.rows = Some(rows);
        self.passing = !lasting;
    }

    /// As the driver knows it.
    pub(in crate::plane) fn as_scanned(&self) -> ScanEntry {
        ScanEntry {
            key: self.key.clone(),
            stamp: self.stamp.clone(),
            bytes: self.bytes,
            changed_at: self.changed_at,
            session_id: None,
            sub_agent: self.sub_agent,
        }
    }

    /// Whether what is made of it now may be kept: it is not changing any more. `now` is when
    /// the scan began, epoch seconds.
    pub(super) fn is_settled(&self, now: f64) -> bool {
        self.changed_at + SETTLED < now
    }
}

impl Kept {
    /// What the scan that found this rests on; taken out.
    pub(super) fn take_basis(&mut self) -> Option<ScanBasis> {
        self.basis.take()
    }

    /// The entries, when the store did not change.
    pub(super) fn entries(self) -> Vec<KeptEntry> {
        self.entries
    }

    /// The entries of a new scan, with the rows of those that did not change. Says also
    /// whether there is anything to write down for that alone.
    pub(in crate::plane) fn entries_of(self, scanned: Vec<ScanEntry>) -> (Vec<KeptEntry>, bool) {
        let before = self.entries.len();
        let mut kept = Known::of(self.entries);
        let entry = |scanned: ScanEntry| {
            let same = kept.take(&scanned.key).filter(|kept| kept.stamp == scanned.stamp);
            let ScanEntry { key, stamp, bytes, changed_at, sub_agent, .. } = scanned;
            let rows = same.and_then(|same| same.rows);
            KeptEntry { key, stamp, bytes, changed_at, sub_agent, rows, passing: false }
        };
        let entries: Vec<KeptEntry> = scanned.into_iter().map(entry).collect();
        let changed = before != entries.len();
        (entries, changed)
    }
}

/// Entries of an earlier scan, to be asked for by their keys.
enum Known {
    /// In the order of their keys, as most drivers give them: what is asked for next is mostly the next one.
    InOrder(std::iter::Peekable<std::vec::IntoIter<KeptEntry>>),
    Mixed(HashMap<String, KeptEntry>),
}

impl Known {
    fn of(entries: Vec<KeptEntry>) -> Self {
        if entries.is_sorted_by(|a, b| a.key < b.key) {
            return Self::InOrder(entries.into_iter().peekable());
        }
        Self::Mixed(entries.into_iter().map(|entry| (entry.key.clone(), entry)).collect())
    }

    /// The entry of this key. Of entries in order, those before it are gone then: when keys are asked for in another
    /// order, rows are made again that need not be.
    fn take(&mut self, key: &str) -> Option<KeptEntry> {
        match self {
            Self::InOrder(entries) => {
                while entries.next_if(|entry| entry.key.as_str() < key).is_some() {}
                entries.next_if(|entry| entry.key == key)
            }
            Self::Mixed(entries) => entries.remove(key),
        }
    }
}

impl RowCache {
    /// The cache of this driver over stores at these places.
    pub(in crate::plane) fn of<'a>(
        home: &Home,
        about: &About,
        places: impl Iterator<Item = &'a Path>,
        stats: bool,
    ) -> Self {
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(bytes.len().to_le_bytes());
            hasher.update(bytes);
        };
        part(env!("CARGO_PKG_VERSION").as_bytes());
        part(about.build.as_bytes());
        part(&[u8::from(stats)]);
        for place in places {
            part(place.as_os_str().as_encoded_bytes());
        }
        let name = hex(&hasher.finalize()[..12]);
        Self { file: home.row_cache().join(format!("{}-{name}{SUFFIX}", about.manifest.id)) }
    }

    /// What is kept.
    pub(in crate::plane) async fn read(&self) -> Kept {
        let file = self.file.clone();
        let read = tokio::task::spawn_blocking(move || match read(&file) {
            Ok(kept) => kept,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::debug!("the kept rows {} are made again: {error}", file.display());
                }
                Kept::default()
            }
        });
        read.await.unwrap_or_default()
    }

    /// Begins to keep entries, with what the scan that found them rests on; what is kept is as they are now.
    /// Failing costs the next listing some work, nothing else.
    pub(super) fn write(&self, basis: Option<&ScanBasis>, entries: &[KeptEntry]) -> JoinHandle<()> {
        let file = self.file.clone();
        let content = encoded(basis, entries);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = content.and_then(|content| write(&file, &content)) {
                tracing::debug!("the rows can't be kept as {}: {error}", file.display());
            }
        })
    }
}

fn read(file: &Path) -> io::Result<Kept> {
    if fs::metadata(file)?.len() > MOST_BYTES as u64 {
        return Err(io::Error::other("it is larger than it can be"));
    }
    let damaged = || io::Error::other("it is damaged or of another version");
    let bytes = fs::read(file)?;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let (sum, content) = rest.split_first_chunk().ok_or_else(damaged)?;
    if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    postcard::from_bytes(content).map_err(|_| damaged())
}

/// [`Kept`] and [`KeptEntry`] as they are written, without what is right only now.
#[derive(Serialize)]
struct Keep<'a> {
    basis: Option<&'a ScanBasis>,
    entries: Vec<KeepEntry<'a>>,
}

#[derive(Serialize)]
struct KeepEntry<'a> {
    key: &'a str,
    stamp: &'a str,
    bytes: u64,
    changed_at: f64,
    sub_agent: bool,
    rows: Option<&'a [SessionFacts]>,
}

fn encoded(basis: Option<&ScanBasis>, entries: &[KeptEntry]) -> io::Result<Vec<u8>> {
    fn entry(entry: &KeptEntry) -> KeepEntry<'_> {
        KeepEntry {
            key: &entry.key,
            stamp: &entry.stamp,
            bytes: entry.bytes,
            changed_at: entry.changed_at,
            sub_agent: entry.sub_agent,
            rows: entry.rows.as_deref().filter(|_| !entry.passing),
        }
    }
    postcard::to_allocvec(&Keep { basis, entries: entries.iter().map(entry).collect() }).map_err(io::Error::other)
}

fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    if content.len() > MOST_BYTES {
        return Err(io::Error::other("there are more rows than are kept"));
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    private_folder(folder)?;
    // Whole or not at all; that it survives a loss of power is not worth waiting for.
    let mut beside = unseen_in(folder)?;
    beside.write_all(MAGIC)?;
    beside.write_all(&crc32fast::hash(content).to_le_bytes())?;
    beside.write_all(content)?;
    beside.persist(file).map_err(|e| e.error)?;
    prune(folder)
}

/// Titles and directories of sessions are nobody else's business.
fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Drops the files that were written longest ago.
fn prune(folder: &Path) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(SUFFIX) {
            files.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    files.sort_unstable();
    for (_, file) in files.iter().take(files.len().saturating_sub(MOST_FILES)) {
        fs::remove_file(file)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn entry(key: &str, stamp: &str) -> ScanEntry {
        ScanEntry {
            key: key.into(),
            stamp: stamp.into(),
            bytes: 1,
            changed_at: 98.0,
            session_id: None,
            sub_agent: false,
        }
    }

    fn kept() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows/a.rows");
        let row = SessionFacts { id: "a".into(), title: "t".into(), ..SessionFacts::default() };
        let (mut entries, _) = Kept::default().entries_of(vec![entry("k", "1")]);
        entries[0].learn(vec![row], true);
        write(&file, &encoded(None, &entries).unwrap()).unwrap();
        (folder, file)
    }

    #[test]
    fn a_row_is_used_only_under_its_own_stamp() {
        let (_folder, file) = kept();
        let of = |scanned| read(&file).unwrap().entries_of(scanned);
        let (same, changed) = of(vec![entry("k", "1")]);
        assert_eq!(same[0].rows()[0].title, "t");
        assert!(!changed);
        let (other, changed) = of(vec![entry("k", "2"), entry("l", "1")]);
        assert!(other.iter().all(|entry| !entry.is_known()));
        assert!(changed);
        assert!(of(Vec::new()).1, "what is gone is forgotten");
    }

    #[test]
    fn rows_are_found_again_in_any_order() {
        let keyed = |keys: &[&str]| keys.iter().map(|key| entry(key, "1")).collect::<Vec<_>>();
        let known = |keys: &[&str]| {
            let (mut entries, _) = Kept::default().entries_of(keyed(keys));
            for entry in &mut entries {
                entry.learn(vec![SessionFacts { id: entry.key.clone(), ..SessionFacts::default() }], true);
            }
            Kept { basis: None, entries }
        };
        let again = |before: &[&str], now: &[&str]| {
            let (entries, _) = known(before).entries_of(keyed(now));
            entries
                .iter()
                .filter(|entry| entry.rows().iter().all(|row| row.id == entry.key) && entry.is_known())
                .count()
        };
        assert_eq!(again(&["a", "b", "d"], &["a", "c", "d", "e"]), 2);
        assert_eq!(again(&["d", "a", "b"], &["a", "d", "b"]), 3);
        // Both ways are right, and one of them keeps less.
        assert_eq!(again(&["a", "b", "d"], &["d", "a"]), 1);
    }

    #[test]
    fn what_is_right_only_now_is_not_kept() {
        let (mut entries, _) = Kept::default().entries_of(vec![entry("k", "1"), entry("l", "1")]);
        for (entry, lasting) in entries.iter_mut().zip([true, false]) {
            entry.learn(vec![SessionFacts { id: "a".into(), ..SessionFacts::default() }], lasting);
        }
        let kept: Kept = postcard::from_bytes(&encoded(None, &entries).unwrap()).unwrap();
        let known: Vec<bool> = kept.entries().iter().map(KeptEntry::is_known).collect();
        assert_eq!(known, [true, false]);
        assert!(entries[1].is_known());
    }

    #[test]
    fn what_may_still_be_changing_is_not_settled() {
        let (entries, _) = Kept::default().entries_of(vec![entry("k", "1")]);
        assert!(entries[0].is_settled(99.5));
        assert!(!entries[0].is_settled(98.9));
    }

    #[test]
    fn a_damaged_file_counts_as_absent() {
        let (_folder, file) = kept();
        let good = fs::read(&file).unwrap();
        for at in 0..good.len() {
            let mut bent = good.clone();
            bent[at] ^= 0x10;
            fs::write(&file, bent).unwrap();
            assert!(read(&file).is_err(), "byte {at}");
            fs::write(&file, &good[..at]).unwrap();
            assert!(read(&file).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn old_files_go() {
        let (folder, file) = kept();
        for n in 0..40 {
            fs::write(file.with_file_name(format!("{n}.rows")), b"").unwrap();
        }
        write(&file, &encoded(None, &[]).unwrap()).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("rows")).unwrap().count(), MOST_FILES);
        assert!(file.exists());
    }
}
