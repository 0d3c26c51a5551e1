//! The overlay's file as a document: entries of sessions and of projects, each kept as the text
//! that it is until somebody changes it, so that what this build does not know survives.
//!
//! ```text
//! {"sessions": {"<key>": {title?, pinned?, archived?, projectIds?, model?, spans?, agent?, cwd?, createdAt?}},
//!  "projects": {"<id>": {"name": …}}, …}
//! ```
//!
//! The key of a session is its bare id, and its `agent` says whose session that is. Only where
//! another agent's session of the same id has that key already, or the id itself has a colon,
//! the key is `<agent>:<id>`. An entry without `agent`, as older files have them, holds for
//! every agent that has no entry of its own for the id; it is never changed for one of them
//! alone, but copied first.

use super::entry::{Entry, agent_of};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Values by their names, as text.
pub(super) type Members = BTreeMap<String, Box<RawValue>>;

const SESSIONS: &str = "sessions";
const PROJECTS: &str = "projects";
/// A file without any of these is of the oldest form: entries of sessions and nothing else.
const MEMBERS: [&str; 3] = [SESSIONS, PROJECTS, "config"];

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Document {
    sessions: Members,
    pub(super) projects: Members,
    /// What is none of ours.
    others: Members,
}

impl Document {
    /// Reads a file of any form. The error says what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        let mut others: Members = serde_json::from_slice(text)?;
        if !MEMBERS.iter().any(|member| others.contains_key(*member)) {
            let (sessions, others) = others.into_iter().partition(|(_, value)| value.get().starts_with('{'));
            return Ok(Self { sessions, projects: Members::new(), others });
        }
        let mut take = |member: &str| -> Result<Members, serde_json::Error> {
            others
                .remove(member)
                .map_or(Ok(None), |value| serde_json::from_str(value.get()))
                .map(Option::unwrap_or_default)
        };
        let (sessions, projects) = (take(SESSIONS)?, take(PROJECTS)?);
        Ok(Self { sessions, projects, others })
    }

    /// The file anew.
    pub(super) fn to_text(&self) -> Result<Vec<u8>, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Member<'a> {
            Whole(&'a RawValue),
            Map(&'a Members),
        }
        let mut members: BTreeMap<&str, Member<'_>> =
            self.others.iter().map(|(name, value)| (name.as_str(), Member::Whole(value))).collect();
        members.insert(SESSIONS, Member::Map(&self.sessions));
        members.insert(PROJECTS, Member::Map(&self.projects));
        serde_json::to_vec(&members)
    }

    /// All entries of sessions: whose they are, where that is said, the id, and the entry.
    pub(super) fn sessions(&self) -> impl Iterator<Item = (Option<String>, &str, &RawValue)> {
        self.sessions.iter().map(|(key, value)| {
            let agent = agent_of(value);
            let id = id_of(key, agent.as_deref());
            (agent, id, &**value)
        })
    }

    /// Changes the entry of a session; one that says nothing any more goes.
    pub(super) fn change_session<T>(
        &mut self,
        agent: &str,
        id: &str,
        change: impl FnOnce(&mut Entry) -> Result<T, serde_json::Error>,
    ) -> Result<T, serde_json::Error> {
        let own = self.own_key(agent, id);
        let shared = self.sessions.get(id).filter(|value| agent_of(value).is_none());
        let mut entry = match own.as_deref().and_then(|key| self.sessions.get(key)).or(shared) {
            Some(value) => Entry::parse(value),
            None => Entry::default(),
        };
        let is_shared = shared.is_some();
        let done = change(&mut entry)?;
        entry.set_agent(agent)?;
        let key = own.unwrap_or_else(|| self.new_key(agent, id));
        // Beside an entry for all agents an empty one still says that nothing of it holds.
        if entry.says_nothing() && !is_shared {
            self.sessions.remove(&key);
        } else {
            self.sessions.insert(key, entry.to_value()?);
        }
        Ok(done)
    }

    /// Forgets a session; whether there was anything.
    pub(super) fn forget_session(&mut self, agent: &str, id: &str) -> bool {
        let shared = || self.sessions.get(id).is_some_and(|value| agent_of(value).is_none());
        let key = self.own_key(agent, id).or_else(|| shared().then(|| id.to_owned()));
        key.is_some_and(|key| self.sessions.remove(&key).is_some())
    }

    /// Takes a project out of every session.
    pub(super) fn leave_project(&mut self, project: &str) -> Result<(), serde_json::Error> {
        let mut empty = Vec::new();
        for (key, value) in &mut self.sessions {
            let mut entry = Entry::parse(value);
            if !entry.leave_project(project)? {
                continue;
            }
            if entry.says_nothing() {
                empty.push(key.clone());
            }
            *value = entry.to_value()?;
        }
        for key in empty {
            // Where another agent's entry has the bare key, this one may still have to shadow it.
            if !key.contains(':') {
                self.sessions.remove(&key);
            }
        }
        Ok(())
    }

    /// The key of the entry that is this session's and no other's.
    fn own_key(&self, agent: &str, id: &str) -> Option<String> {
        let is_own = |key: &String| {
            let found = self.sessions.get(key).and_then(|value| agent_of(value));
            found.as_deref() == Some(agent) && id_of(key, Some(agent)) == id
        };
        [scoped(agent, id), id.to_owned()].into_iter().find(is_own)
    }

    /// The key of a new entry.
    fn new_key(&self, agent: &str, id: &str) -> String {
        if id.contains(':') || self.sessions.contains_key(id) { scoped(agent, id) } else { id.to_owned() }
    }
}

fn scoped(agent: &str, id: &str) -> String {
    format!("{agent}:{id}")
}

/// The id of the session whose entry has this key.
fn id_of<'a>(key: &'a str, agent: Option<&str>) -> &'a str {
    let behind = agent.and_then(|agent| key.strip_prefix(agent)?.strip_prefix(':'));
    behind.filter(|id| !id.is_empty()).unwrap_or(key)
}
