//! All that belongs to a session: its chat, wherever there is one of its id, its transcripts, and the
//! same of its sub-agents. Only whole files and folders go.

use crate::chat;
use crate::key::Kind;
use crate::locate::locate;
use crate::places::{CURSOR, Kept, Places};
use crate::sources::Stores;
use sepia_ir::{Artifact, DeleteOutcome, DriverError, ErrorCode, SessionRef};
use sepia_sdk::Host;
use std::collections::{BTreeMap, BTreeSet};

/// What a session is made of.
#[derive(Debug, Default)]
struct Parts {
    /// Files and folders, by store and path.
    places: BTreeSet<(&'static str, String)>,
    /// Rows that the IDE keeps, which are only read.
    rows: Vec<String>,
}

/// The folders of chats of SDK agents are listed in a database of that SDK, and stay.
const SDK: &str = "a program that uses the agent's SDK keeps its own list of it";

fn parts(host: &Host, session: &SessionRef) -> Result<Parts, DriverError> {
    let record = locate(host, session)?;
    let id = record.session.id.as_str();
    let refused = |why: &str| DriverError::new(ErrorCode::Unsupported, format!("session `{id}` {why}"));
    match record.about.space {
        "ide" | "ide-workspace" => {
            return Err(refused("is kept in the database of the IDE, which is only read; delete it in the IDE itself"));
        }
        "sdk-agent-store" => return Err(refused(&format!("can't be deleted here: {SDK}"))),
        _ => {}
    }
    let stores = Stores::of(host);
    let places = stores.places()?;
    let mut parts = Parts::default();
    let children = children(host, places, id);
    parts.add(places, &children, id, &mut BTreeSet::new());
    if parts.places.is_empty() {
        return Err(refused("is a sub-agent inside the session that started it; delete that session to delete it"));
    }
    if let Ok(Some(ide)) = stores.ide()
        && (ide.header(id)?.is_some() || ide.document(id)?.is_some())
    {
        parts.rows.push(format!("cursorDiskKV:composerData:{id}"));
    }
    Ok(parts)
}

/// Sub-agents by the session that started them.
type Children = BTreeMap<String, BTreeSet<String>>;

/// The sub-agents that transcripts tell of, and those that have a chat of their own beside that of the
/// session, which only the chat itself tells.
fn children(host: &Host, places: &Places, id: &str) -> Children {
    let mut children = Children::new();
    let mut add = |parent: String, child: &String| {
        children.entry(parent).or_default().insert(child.clone());
    };
    let beside = |kept: &Kept| -> BTreeSet<(&'static str, String)> {
        let chats = kept.sources.iter().map(|found| &found.source).filter(|source| source.kind.rank() == 0);
        chats.filter_map(|source| Some((source.kind.store(), source.path.rsplitn(3, '/').nth(2)?.to_owned()))).collect()
    };
    let own = places.kept.get(id).map(beside).unwrap_or_default();
    for (child, kept) in &places.kept {
        if let Some(parent) = &kept.parent {
            add(parent.clone(), child);
        } else if !own.is_disjoint(&beside(kept)) {
            for source in kept.sources.iter().map(|found| &found.source).filter(|source| source.kind.rank() == 0) {
                // A chat that can't be read tells nothing, and stays.
                let chat = chat::open(host, source).ok().flatten();
                let records = chat.and_then(|chat| chat.records(host, child, 0.0).ok()).unwrap_or_default();
                let parent = records.into_iter().next().and_then(|record| record.session.parent_session_id);
                if let Some(parent) = parent {
                    add(parent, child);
                }
            }
        }
    }
    children
}

impl Parts {
    fn add(&mut self, places: &Places, children: &Children, id: &str, met: &mut BTreeSet<String>) {
        if !met.insert(id.to_owned()) {
            return;
        }
        // Sub-agents that have only a transcript are in the folder of the session's own.
        for child in children.get(id).into_iter().flatten() {
            self.add(places, children, child, met);
        }
        let Some(kept) = places.kept.get(id) else { return };
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        for source in kept.sources.iter().map(|found| &found.source) {
            let place = match source.kind {
                Kind::Chat | Kind::ConfigChat | Kind::Acp | Kind::Transcript => folder(&source.path),
                Kind::FlatLines | Kind::FlatJson | Kind::FlatText => Some(source.path.clone()),
                Kind::Sdk | Kind::Composer | Kind::Workspace => None,
            };
            self.places.extend(place.map(|place| (source.kind.store(), place)));
        }
        for file in &kept.subagents {
            // `…/<id>/subagents/<sub-agent>.jsonl`
            self.places
                .extend(folder(&file.path).and_then(|folder_of| folder(&folder_of)).map(|place| (CURSOR, place)));
        }
    }

    fn artifacts(&self, host: &Host) -> Result<Vec<Artifact>, DriverError> {
        let mut artifacts = Vec::new();
        for (store, place) in &self.places {
            let (under, name) = place.rsplit_once('/').unwrap_or(("", place));
            let inside = host.walk(store, place, 8, &[String::new()])?.files;
            let bytes = if inside.is_empty() {
                let beside = host.walk(store, under, 0, &[name.to_owned()])?.files;
                beside.iter().filter(|file| file.path == *place).map(|file| file.bytes).sum()
            } else {
                inside.iter().map(|file| file.bytes).sum()
            };
            artifacts.push(Artifact { place: place.clone(), store: (*store).to_owned(), bytes });
        }
        let row = |row: &String| Artifact { place: row.clone(), store: crate::places::IDE.to_owned(), bytes: 0 };
        artifacts.extend(self.rows.iter().map(row));
        Ok(artifacts)
    }
}

/// See `SessionWrite::plan_delete`.
pub(crate) fn plan(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
    parts(host, session)?.artifacts(host)
}

/// See `SessionWrite::delete`.
pub(crate) fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
    let parts = parts(host, session)?;
    let mut outcome = DeleteOutcome { removed: Vec::new(), failed: Vec::new(), undo: Vec::new() };
    for artifact in parts.artifacts(host)? {
        if parts.rows.contains(&artifact.place) {
            outcome
                .failed
                .push((artifact, "the database of the IDE is only read; delete it in the IDE itself".to_owned()));
            continue;
        }
        match host.discard(&artifact.store, &artifact.place) {
            Ok(_) => outcome.removed.push(artifact),
            Err(error) => outcome.failed.push((artifact, error.message)),
        }
    }
    Ok(outcome)
}
