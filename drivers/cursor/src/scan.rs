//! What may hold sessions, and what tells that it changed.

use crate::key::{Key, Kind, Source};
use crate::places::{Found, Kept, own_stores};
use crate::sources::Stores;
use crate::{ide, time, workspaces};
use sepia_ir::{DriverError, FileEntry, ScanEntry, ScanReport, Warning};
use sepia_sdk::Host;
use std::collections::BTreeMap;

/// Everything that may hold sessions.
pub(crate) fn scan(host: &Host) -> Result<ScanReport, DriverError> {
    let stores = Stores::of(host);
    let places = stores.places()?;
    let mut warnings = places.warnings.clone();
    let mut composers = composers(&stores, &mut warnings);
    let mut entries = Vec::with_capacity(places.kept.len() + composers.len());
    for (id, kept) in &places.kept {
        let own = own_stores(places, id).into_iter().collect::<Vec<_>>().join(",");
        entries.push(entry(id, kept, composers.remove(id), &own));
    }
    for (id, composer) in composers {
        entries.push(entry(&id, &Kept::default(), Some(composer), ""));
    }
    for found in &places.nameless {
        let kept = Kept { sources: vec![found.clone()], ..Kept::default() };
        entries.push(entry("", &kept, None, ""));
    }
    entries.extend(old_chats(host)?);
    Ok(ScanReport { entries, warnings })
}

/// What the IDE's database has, as a source.
struct Composer {
    stamp: String,
    bytes: u64,
    /// Epoch seconds that no row of it lies after.
    changed_at: f64,
}

fn composers(stores: &Stores, warnings: &mut Vec<Warning>) -> BTreeMap<String, Composer> {
    let found = stores.ide().and_then(|ide| match ide {
        None => Ok(BTreeMap::new()),
        Some(ide) => {
            warnings.extend(ide.unknown_layout());
            let file = time::of_file(ide.modified_ns) + time::SLACK;
            let heads = ide.composers()?;
            let composer = |head: ide::Head| {
                let changed_at = time::of_number(head.updated_ms).map_or(file, |updated| updated.min(file));
                Composer { stamp: head.stamp, bytes: head.bytes, changed_at }
            };
            Ok(heads.into_iter().map(|(id, head)| (id, composer(head))).collect())
        }
    });
    found.unwrap_or_else(|error| {
        let message = format!("the composers in `{}` are not listed: {error}", ide::GLOBAL);
        warnings.push(Warning::new("unreadable-database", message).in_file(ide::GLOBAL));
        BTreeMap::new()
    })
}

fn entry(id: &str, kept: &Kept, composer: Option<Composer>, own: &str) -> ScanEntry {
    let mut sources: Vec<&Found> = kept.sources.iter().collect();
    let composer_source;
    let file_bound = if kept.modified_ns() > 0 { time::of_file(kept.modified_ns()) + time::SLACK } else { 0.0 };
    let mut changed_at = file_bound;
    if let Some(composer) = composer {
        changed_at = changed_at.max(composer.changed_at);
        let source = Source { kind: Kind::Composer, path: String::new() };
        composer_source = Found { source, bytes: composer.bytes, modified_ns: 0, stamp: composer.stamp };
        let at = sources.iter().take_while(|found| found.source.kind.rank() <= Kind::Composer.rank()).count();
        sources.insert(at, &composer_source);
    }
    let mut folders: Vec<String> =
        kept.subagents.iter().filter_map(|file| Some(file.path.rsplit_once('/')?.0.to_owned())).collect();
    folders.dedup();
    let key = Key {
        id: id.to_owned(),
        sources: sources.iter().map(|found| found.source.clone()).collect(),
        subagents: folders,
        parent: kept.parent.clone(),
    };
    let mut stamps: Vec<&str> = sources.iter().map(|found| found.stamp.as_str()).collect();
    let subagents: Vec<String> =
        kept.subagents.iter().map(|file| format!("{}:{}:{}", file.bytes, file.modified_ns, file.inode)).collect();
    stamps.extend(subagents.iter().map(String::as_str));
    if !own.is_empty() {
        stamps.push(own);
    }
    ScanEntry {
        key: key.encode(),
        stamp: stamps.join("|"),
        bytes: sources.first().map_or(0, |found| found.bytes),
        changed_at,
        session_id: Some(id.to_owned()).filter(|id| !id.is_empty() && !sources.is_empty()),
        sub_agent: kept.parent.is_some(),
    }
}

/// Databases in which old versions of the IDE kept chats.
fn old_chats(host: &Host) -> Result<Vec<ScanEntry>, DriverError> {
    let mut databases: BTreeMap<String, Vec<FileEntry>> = BTreeMap::new();
    for file in workspaces::files(host)?.into_iter().chain(ide::files(host)?) {
        let database = match file.path.strip_suffix("-wal") {
            Some(database) => database.to_owned(),
            None => match file.path.rsplit_once('/') {
                Some((folder, _)) => format!("{folder}/state.vscdb"),
                None => continue,
            },
        };
        databases.entry(database).or_default().push(file);
    }
    let entry = |(path, files): (String, Vec<FileEntry>)| {
        if !files.iter().any(|file| file.path == path) {
            return None;
        }
        let key = Key { sources: vec![Source { kind: Kind::Workspace, path }], ..Key::default() };
        let stamps = files.iter().map(|file| format!("{}:{}:{}", file.bytes, file.modified_ns, file.inode));
        let newest = files.iter().map(|file| file.modified_ns).max().unwrap_or_default();
        Some(ScanEntry {
            key: key.encode(),
            stamp: stamps.collect::<Vec<_>>().join("+"),
            bytes: 64 << 10,
            changed_at: time::of_file(newest) + time::SLACK,
            session_id: None,
            sub_agent: false,
        })
    };
    Ok(databases.into_iter().filter_map(entry).collect())
}
