//! How a machine stands: every session as it is read, every file of a store as it is.

use crate::attempt::{Attempt, New, said};
use crate::outcome::Outcome;
use sepia_tests::{Client, Machine};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Places of stores on the machine.
const STORES: [&str; 5] = ["claude", "home/.cline", "home/.cursor", "home/.config/Cursor", "home/.local/share/devin"];
/// Files in which the agents keep something of many sessions.
const SHARED: [&str; 5] = ["history.jsonl", "sessions.db", "taskHistory.json", "state.vscdb", "cli-config.json"];

type Key = (String, String);

/// How it stands.
pub(crate) struct Stand {
    rows: BTreeMap<Key, Value>,
    sessions: BTreeMap<Key, Value>,
    /// Rows that tell of what can't be read.
    warnings: Vec<Value>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

fn files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if let Ok(content) = fs::read(&path) {
            found.insert(path, content);
        }
    }
}

impl Stand {
    /// Reads everything, and looks at the files of the stores.
    pub(crate) fn of(machine: &Machine, client: &mut Client) -> Self {
        let mut stand = Self::read(client);
        for store in STORES {
            files(&machine.place(store), &mut stand.files);
        }
        stand
    }

    /// Reads everything.
    pub(crate) fn read(client: &mut Client) -> Self {
        let mut stand =
            Self { rows: BTreeMap::new(), sessions: BTreeMap::new(), warnings: Vec::new(), files: BTreeMap::new() };
        for row in client.get("sessions.list", &json!({"withHidden": true})).as_array().unwrap() {
            if row["source"] == "warning" {
                stand.warnings.push(row["title"].clone());
                continue;
            }
            let text = |member: &str| row[member].as_str().unwrap().to_owned();
            let key = (text("agent"), text("id"));
            let session = client.get("sessions.export", &json!({"id": key.1, "agent": key.0}))["session"].take();
            stand.sessions.insert(key.clone(), session);
            stand.rows.insert(key, row.clone());
        }
        stand
    }

    /// The target and what belongs to it: its sub-agents, and theirs.
    fn family(&self, agent: &str, target: Option<&str>) -> BTreeSet<Key> {
        let mut family: BTreeSet<Key> = target.map(|id| (agent.to_owned(), id.to_owned())).into_iter().collect();
        loop {
            let of_family =
                |row: &Value| family.iter().any(|(of, id)| row["agent"] == **of && row["parentSessionId"] == **id);
            let more: Vec<Key> = self
                .rows
                .iter()
                .filter(|(key, row)| !family.contains(key) && of_family(row))
                .map(|(key, _)| key.clone())
                .collect();
            if more.is_empty() {
                return family;
            }
            family.extend(more);
        }
    }

    /// What became of a write, whose answer is known unless its process was killed. Fails when it is neither what was
    /// nor what was to be, and when anything else is not as it was.
    pub(crate) fn compare(&self, after: &Self, attempt: &Attempt, answer: Option<&Result<Value, Value>>) -> Outcome {
        let outcome = self.compare_sessions(after, attempt, answer);
        self.files_are_untouched(after, attempt, outcome);
        outcome
    }

    /// The same, of what is read alone.
    pub(crate) fn compare_sessions(
        &self,
        after: &Self,
        attempt: &Attempt,
        answer: Option<&Result<Value, Value>>,
    ) -> Outcome {
        let context = format!("{:?} of {} ({:?}), answered {answer:?}", attempt.verb, attempt.agent, attempt.target);
        let family = self.family(&attempt.agent, attempt.target.as_deref());
        assert_eq!(after.warnings, self.warnings, "{context}: something can't be read");
        for (key, session) in self.sessions.iter().filter(|(key, _)| !family.contains(key)) {
            assert_eq!(after.sessions.get(key), Some(session), "{context}: {key:?} is another");
            assert_eq!(after.rows.get(key), self.rows.get(key), "{context}: the row of {key:?} is another");
        }
        let new: Vec<&Key> = after.sessions.keys().filter(|key| !self.sessions.contains_key(key)).collect();
        let is_new = if let New::Added(wanted) = &attempt.new {
            assert!(new.len() < 2, "{context}: {new:?}");
            for key in &new {
                assert_eq!(said(&after.sessions[*key]), *wanted, "{context}: {key:?}");
            }
            !new.is_empty()
        } else {
            assert!(new.is_empty(), "{context}: {new:?}");
            self.family_is_new(after, attempt, &family, &context)
        };
        match answer {
            None if is_new => Outcome::New,
            None => Outcome::Old,
            Some(Ok(_)) => {
                assert!(is_new || self.is_already(attempt), "{context}: it was said to be done");
                Outcome::Done
            }
            Some(Err(error)) => {
                assert!(!is_new, "{context}: it was said to have failed: {error}");
                Outcome::Failed
            }
        }
    }

    /// Whether what was to be written was there already.
    fn is_already(&self, attempt: &Attempt) -> bool {
        let target = attempt.target.as_ref().and_then(|id| self.sessions.get(&(attempt.agent.clone(), id.clone())));
        match (&attempt.new, target) {
            (New::Said(wanted), Some(session)) => said(session) == *wanted,
            (New::Titled(wanted), Some(session)) => session["title"] == **wanted,
            _ => false,
        }
    }

    fn family_is_new(&self, after: &Self, attempt: &Attempt, family: &BTreeSet<Key>, context: &str) -> bool {
        let is_as_it_was = family.iter().all(|key| is_same(after.sessions.get(key), self.sessions.get(key)));
        if is_as_it_was {
            return false;
        }
        let target = attempt.target.as_ref().map(|id| (attempt.agent.clone(), id.clone())).unwrap();
        let found = after.sessions.get(&target);
        match &attempt.new {
            New::Gone => {
                let left: Vec<&Key> = family.iter().filter(|key| after.sessions.contains_key(key)).collect();
                assert!(left.is_empty(), "{context}: it is neither there as it was nor gone: {left:?}");
            }
            New::Said(wanted) => {
                let found = found.unwrap_or_else(|| panic!("{context}: it is gone"));
                assert_eq!(said(found), *wanted, "{context}: it is neither what it was nor what it was to be");
            }
            New::Titled(wanted) => {
                let found = found.unwrap_or_else(|| panic!("{context}: it is gone"));
                let changed = members_that_differ(found, &self.sessions[&target]);
                assert_eq!(found["title"], **wanted, "{context}: it is not what it was either: {changed:?}");
                assert_eq!(found["nodes"], self.sessions[&target]["nodes"], "{context}");
            }
            New::Added(_) => panic!("{context}"),
        }
        true
    }

    /// Every file that was there and that is not of the target, nor one in which an agent keeps something of many, has
    /// the bytes that it had.
    fn files_are_untouched(&self, after: &Self, attempt: &Attempt, outcome: Outcome) {
        let family = self.family(&attempt.agent, attempt.target.as_deref());
        for (path, content) in &self.files {
            let text = path.to_string_lossy();
            let is_of_target = family.iter().any(|(_, id)| text.contains(id.as_str()));
            let name = path.file_name().unwrap().to_string_lossy();
            if is_of_target || SHARED.iter().any(|shared| name.starts_with(shared)) {
                continue;
            }
            let context = format!("{:?} of {} ({:?}), {outcome:?}", attempt.verb, attempt.agent, attempt.target);
            assert!(after.files.get(path) == Some(content), "{context}: {} is another", path.display());
        }
    }
}

/// Files that were begun and never finished.
pub(crate) fn strays(folder: &Path) -> Vec<PathBuf> {
    let mut found = BTreeMap::new();
    files(folder, &mut found);
    let is_stray = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(".sepia-") || name.contains(".tmp")
    };
    found.into_keys().filter(is_stray).collect()
}

/// Whether a session is as it was. One that knows no times of its own has that of its files, which a write that
/// comes to nothing may move too.
fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return one.is_none() && other.is_none() };
    let has_time_of_files = one["metadata"]["timeSource"] == "file" && other["metadata"]["timeSource"] == "file";
    let differ = members_that_differ(one, other);
    let as_many = one.as_object().map(serde_json::Map::len) == other.as_object().map(serde_json::Map::len);
    as_many
        && one["nodes"] == other["nodes"]
        && differ.iter().all(|(name, ..)| has_time_of_files && name == "lastActivityAt")
}

/// Members of a session that are not the same in the other, apart from its nodes.
fn members_that_differ(one: &Value, other: &Value) -> Vec<(String, Value, Value)> {
    let members = one.as_object().unwrap().keys().filter(|name| *name != "nodes" && one[*name] != other[*name]);
    members.map(|name| (name.clone(), one[name].clone(), other[name].clone())).collect()
}
