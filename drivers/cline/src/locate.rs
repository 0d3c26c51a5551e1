//! Where the session of an id is. Ids are looked up among what is there and never become part
//! of a path.

use crate::database::Index;
use crate::place::{Folder, Kept, MESSAGES, SESSIONS, STORE, agent_of, is_id};
use crate::task;
use sepia_ir::{DriverError, ErrorCode, FileEntry, SessionRef};
use sepia_sdk::Host;

/// Looks a session up.
pub(crate) fn locate(host: &Host, session: &SessionRef, index: &Index) -> Result<Kept, DriverError> {
    let unknown = || DriverError::unknown_session(&session.id);
    if !is_id(&session.id) || session.agent_id.as_deref().is_some_and(|agent| !is_id(agent)) {
        return Err(unknown());
    }
    let found = match &session.agent_id {
        None => by_id(host, &session.id, index)?,
        Some(agent) => by_agent(host, &session.id, agent, index)?,
    };
    found.ok_or_else(unknown)
}

/// Looks a session up where it was before: cheaper than looking everywhere.
pub(crate) fn confirm(host: &Host, session: &SessionRef, kept: Kept) -> Result<Option<Kept>, DriverError> {
    if session.agent_id.is_some() || kept.id() != session.id {
        return Ok(None);
    }
    let there = match &kept {
        Kept::Folder(name) => Folder::look(host, name)?.is_session(),
        Kept::Agent { root, stem } => Folder::look(host, root)?.agents().any(|(known, _)| known == stem),
        Kept::Row(_) | Kept::Task { .. } => false,
    };
    Ok(there.then_some(kept))
}

fn by_id(host: &Host, id: &str, index: &Index) -> Result<Option<Kept>, DriverError> {
    // Mostly it is a folder's name, and the other folders need not be looked into.
    match Folder::look(host, id) {
        Ok(folder) if folder.is_session() => return Ok(Some(Kept::Folder(id.to_owned()))),
        Err(error) if error.code != ErrorCode::Invalid => return Err(error),
        _ => {}
    }
    // Of a sub-agent the file is named after what follows the session's id.
    let inner: Vec<(&str, &str)> = id
        .match_indices("__")
        .map(|(at, _)| (&id[..at], &id[at + 2..]))
        .map(|(root, rest)| (root, rest.strip_prefix("teamtask__").unwrap_or(rest)))
        .collect();
    let mut names = vec![format!("{id}.json"), format!("{id}{MESSAGES}")];
    names.extend(inner.iter().map(|(_, stem)| format!("{stem}{MESSAGES}")));
    let files = host.walk(STORE, SESSIONS, 1, &names)?.files;
    let found = files.iter().filter_map(kept).filter(|kept| kept.id() == id).min();
    if found.is_some() {
        return Ok(found);
    }
    if let Ok(Some(_)) = index.row(id) {
        return Ok(Some(Kept::Row(id.to_owned())));
    }
    task::locate(host, id)
}

/// The session that a file belongs to.
fn kept(file: &FileEntry) -> Option<Kept> {
    let mut parts = file.path.split('/').skip(1);
    let (folder, name) = (parts.next()?, parts.next()?);
    let stem = name.strip_suffix(MESSAGES).unwrap_or_else(|| name.strip_suffix(".json").unwrap_or(name));
    if parts.next().is_some() || !is_id(folder) || !is_id(stem) {
        None
    } else if stem == folder {
        Some(Kept::Folder(folder.to_owned()))
    } else if name.ends_with(MESSAGES) {
        Some(Kept::Agent { root: folder.to_owned(), stem: stem.to_owned() })
    } else {
        None
    }
}

fn by_agent(host: &Host, parent: &str, agent: &str, index: &Index) -> Result<Option<Kept>, DriverError> {
    let files = host.walk(STORE, SESSIONS, 1, &[MESSAGES.to_owned()])?.files;
    let mut best: Option<(bool, u64, Kept)> = None;
    for file in &files {
        let Some(Kept::Agent { root, stem }) = kept(file) else { continue };
        let whole = stem == agent;
        if root != parent || !(whole || agent_of(&stem) == agent) {
            continue;
        }
        let candidate = (whole, file.modified_ns, Kept::Agent { root, stem });
        if best.as_ref().is_none_or(|best| *best < candidate) {
            best = Some(candidate);
        }
    }
    if let Some((.., kept)) = best {
        return Ok(Some(kept));
    }
    // A broken index hides only what it alone knows.
    let row = index.child(parent, agent).unwrap_or_default();
    if let Some(id) = row.filter(|id| is_id(id)) {
        return by_id(host, &id, index);
    }
    for id in [format!("{parent}__teamtask__{agent}"), format!("{parent}__{agent}")] {
        if let Ok(Some(row)) = index.row(&id)
            && row.parent.as_deref() == Some(parent)
        {
            return Ok(Some(Kept::Row(id)));
        }
    }
    Ok(None)
}
