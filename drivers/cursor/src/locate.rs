//! Which sources hold the session of an id. Ids are looked up among what there is and never
//! become part of a path.

use crate::key::{Key, Kind, Source};
use crate::places::{Kept, Places, plausible};
use crate::record::Record;
use crate::sources::Stores;
use crate::{ide, workspaces};
use sepia_ir::{DriverError, ErrorCode, SessionRef, Warning};
use sepia_sdk::Host;

/// The key of what is kept in files under an id.
fn key_of(id: &str, kept: &Kept) -> Key {
    let folders = kept.subagents.iter().filter_map(|file| Some(file.path.rsplit_once('/')?.0.to_owned()));
    let mut subagents: Vec<String> = folders.collect();
    subagents.dedup();
    Key {
        id: id.to_owned(),
        sources: kept.sources.iter().map(|found| found.source.clone()).collect(),
        subagents,
        parent: kept.parent.clone(),
    }
}

/// Whether there is a session of this id in a place of its own, without a look inside others.
pub(crate) fn is_known(host: &Host, id: &str) -> Result<bool, DriverError> {
    let kept = Places::of(host, &[id])?.kept;
    let transcript = format!("/{id}.jsonl");
    let mut subagents = kept.values().flat_map(|kept| &kept.subagents);
    if kept.contains_key(id) || subagents.any(|file| file.path.ends_with(&transcript)) {
        return Ok(true);
    }
    let stores = Stores::of(host);
    Ok(match stores.ide()? {
        Some(ide) => ide.header(id)?.is_some() || ide.document(id)?.is_some(),
        None => false,
    })
}

/// Where a session that is being looked up may be.
struct Search<'a> {
    stores: Stores,
    session: &'a SessionRef,
    /// The id of the row that is wanted.
    wanted: &'a str,
    failures: Vec<Warning>,
}

/// Looks a session up.
pub(crate) fn locate(host: &Host, session: &SessionRef) -> Result<Record, DriverError> {
    let unknown = || DriverError::unknown_session(&session.id);
    let wanted = session.agent_id.as_deref().unwrap_or(&session.id);
    if !plausible(&session.id) || !plausible(wanted) {
        return Err(unknown());
    }
    let mut search = Search { stores: Stores::of(host), session, wanted, failures: Vec::new() };
    if let Some(record) = search.near()? {
        return Ok(record);
    }
    if let Some(record) = search.far()? {
        return Ok(record);
    }
    match search.failures.into_iter().next() {
        // It is there, and can't be read.
        Some(failure) => Err(DriverError::new(ErrorCode::Store, failure.message)),
        None => Err(unknown()),
    }
}

impl Search<'_> {
    fn of(&mut self, key: &Key) -> Result<Option<Record>, DriverError> {
        let mut warnings = Vec::new();
        let records = self.stores.records(key, &mut warnings)?;
        if key.id == self.wanted {
            self.failures.append(&mut warnings);
        }
        Ok(records.into_iter().find(|record| {
            let row = &record.session;
            row.id == self.wanted
                && (self.session.agent_id.is_none() || row.parent_session_id.as_deref() == Some(&self.session.id))
        }))
    }

    fn add_composer(&self, key: &mut Key) -> Result<(), DriverError> {
        let Ok(Some(ide)) = self.stores.ide() else { return Ok(()) };
        if ide.header(&key.id)?.is_some() || ide.document(&key.id)?.is_some() {
            let at = key.sources.iter().take_while(|source| source.kind.rank() <= Kind::Composer.rank()).count();
            key.sources.insert(at, Source { kind: Kind::Composer, path: String::new() });
        }
        Ok(())
    }

    /// Where its own id, or that of the session that it says it belongs to, leads.
    fn near(&mut self) -> Result<Option<Record>, DriverError> {
        let mut ids = vec![self.wanted.to_owned()];
        if self.wanted != self.session.id {
            ids.push(self.session.id.clone());
        }
        let name = format!("/{}.jsonl", self.wanted);
        let near = Places::of(&self.stores.host, &[self.wanted, &self.session.id])?;
        let own = ids.len();
        for (parent, kept) in &near.kept {
            if kept.subagents.iter().any(|file| file.path.ends_with(&name)) && !ids.contains(parent) {
                ids.push(parent.clone());
            }
        }
        for (at, id) in ids.into_iter().enumerate() {
            let places = if at < own { &near } else { self.stores.places()? };
            let mut key = match places.kept.get(&id) {
                Some(kept) => key_of(&id, kept),
                None => Key { id, ..Key::default() },
            };
            self.add_composer(&mut key)?;
            if let Some(record) = self.of(&key)? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Where only a look inside tells: agents of the SDK, chats that may hold the sub-agent, the
    /// chats of old versions.
    fn far(&mut self) -> Result<Option<Record>, DriverError> {
        let places = self.stores.places()?;
        let store = |source: &Source| source.kind.rank() == 0;
        let mut keys: Vec<Key> = Vec::new();
        for found in &places.nameless {
            keys.push(Key { sources: vec![found.source.clone()], ..Key::default() });
        }
        for (id, kept) in &places.kept {
            if kept.sources.iter().any(|found| store(&found.source)) && *id != self.wanted {
                keys.push(key_of(id, kept));
            }
        }
        for file in workspaces::files(&self.stores.host)?.into_iter().chain(ide::files(&self.stores.host)?) {
            if file.path.ends_with("/state.vscdb") {
                let source = Source { kind: Kind::Workspace, path: file.path };
                keys.push(Key { sources: vec![source], ..Key::default() });
            }
        }
        for key in keys {
            if let Some(record) = self.of(&key)? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}
