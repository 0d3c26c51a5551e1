//! Where sessions are kept, and the keys that name these places.
//!
//! ```text
//! sessions/<id>/<id>.json                    manifest
//! sessions/<id>/<id>.messages.json           transcript
//! sessions/<id>/<id>.compaction.json         what a compaction left the model
//! sessions/<id>/<agent>.messages.json        a sub-agent's
//! sessions/<id>/<agent>__<task>.messages.json    a teammate's, one a task
//! db/sessions.db                             the index
//! tasks/<id>/…, state/taskHistory.json       the older layout
//! ```

use crate::pieces::Place;
use crate::time;
use sepia_ir::{DriverError, FileEntry};
use sepia_sdk::Host;

/// Name of the store with the data of the command line program.
pub(crate) const STORE: &str = "cline";
/// Name of the store of the editor's extension: tasks only.
pub(crate) const EXTENSION: &str = "extension";
/// Where the sessions are.
pub(crate) const SESSIONS: &str = "sessions";
/// Where the tasks are.
pub(crate) const TASKS: &str = "tasks";
/// Ids longer than this are of no session.
const LONGEST_ID: usize = 256;

pub(crate) const MESSAGES: &str = ".messages.json";
pub(crate) const COMPACTION: &str = ".compaction.json";

/// Whether a store can be reached: one that has no place on this machine can't.
pub(crate) fn is_there(host: &Host, store: &str) -> bool {
    host.location(store).is_some()
}

/// What a session is read from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    /// A session folder.
    Folder(String),
    /// A transcript in the folder of another session: of a sub-agent, or of a teammate's task.
    Agent { root: String, stem: String },
    /// A row of the index without a transcript.
    Row(String),
    /// A task of the older layout.
    Task { store: &'static str, id: String },
}

impl Kept {
    /// The key.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Folder(id) => format!("session/{id}"),
            Self::Agent { root, stem } => format!("agent/{root}/{stem}"),
            Self::Row(id) => format!("row/{id}"),
            Self::Task { store, id } => format!("task/{store}/{id}"),
        }
    }

    /// What a key names; none when it is no key of this driver.
    pub(crate) fn of(key: &str) -> Option<Self> {
        let (kind, rest) = key.split_once('/')?;
        let kept = match (kind, rest.split_once('/')) {
            ("session", None) => Self::Folder(rest.to_owned()),
            ("row", None) => Self::Row(rest.to_owned()),
            ("agent", Some((root, stem))) => Self::Agent { root: root.to_owned(), stem: stem.to_owned() },
            ("task", Some((store, id))) => {
                let store = [STORE, EXTENSION].into_iter().find(|known| *known == store)?;
                Self::Task { store, id: id.to_owned() }
            }
            _ => return None,
        };
        let parts = match &kept {
            Self::Folder(id) | Self::Row(id) | Self::Task { id, .. } => [id.as_str(), id],
            Self::Agent { root, stem } => [root.as_str(), stem],
        };
        let sound = parts.into_iter().all(is_id);
        sound.then_some(kept)
    }

    /// The session's id.
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Folder(id) | Self::Row(id) | Self::Task { id, .. } => id.clone(),
            Self::Agent { root, stem } => agent_session(root, stem),
        }
    }
}

/// Id of the session of a transcript in the folder of another, as the agent makes it.
pub(crate) fn agent_session(root: &str, stem: &str) -> String {
    if stem.contains("__") { format!("{root}__teamtask__{stem}") } else { format!("{root}__{stem}") }
}

/// Whether a text can be the id of a session at all: one part of a path, and nothing that is
/// invisible.
pub(crate) fn is_id(id: &str) -> bool {
    !matches!(id, "" | "." | "..")
        && id.len() <= LONGEST_ID
        && !id.contains(['/', '\\'])
        && !id.chars().any(char::is_control)
}

/// A session folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folder {
    pub(crate) name: String,
    /// Its files.
    pub(crate) files: Vec<FileEntry>,
}

impl Folder {
    /// Looks into a folder of this name, which was met in the store or stands in a key.
    pub(crate) fn look(host: &Host, name: &str) -> Result<Self, DriverError> {
        let files = host.walk(STORE, &format!("{SESSIONS}/{name}"), 0, &[".json".to_owned()])?.files;
        Ok(Self { name: name.to_owned(), files })
    }

    /// A file by its name.
    pub(crate) fn file(&self, name: &str) -> Option<&FileEntry> {
        self.files.iter().find(|file| file_name(file) == name)
    }

    pub(crate) fn manifest(&self) -> Option<&FileEntry> {
        self.file(&format!("{}.json", self.name))
    }

    pub(crate) fn messages(&self) -> Option<&FileEntry> {
        self.file(&format!("{}{MESSAGES}", self.name))
    }

    pub(crate) fn compaction(&self) -> Option<&FileEntry> {
        self.file(&format!("{}{COMPACTION}", self.name))
    }

    /// Transcripts of others, each with the name that it is known by.
    pub(crate) fn agents(&self) -> impl Iterator<Item = (&str, &FileEntry)> {
        self.files.iter().filter_map(|file| {
            let stem = file_name(file).strip_suffix(MESSAGES)?;
            (stem != self.name && is_id(stem)).then_some((stem, file))
        })
    }

    /// Who a transcript here is of: the agent's own name, as long as no other transcript is of
    /// the same agent.
    pub(crate) fn agent_id<'a>(&self, stem: &'a str) -> &'a str {
        let agent = agent_of(stem);
        let of_agent = self.agents().filter(|(other, _)| agent_of(other) == agent).count();
        if of_agent > 1 { stem } else { agent }
    }

    /// Whether anything here is the session's own.
    pub(crate) fn is_session(&self) -> bool {
        self.manifest().is_some() || self.messages().is_some()
    }

    /// The session's own files: all but the transcripts of others.
    pub(crate) fn own(&self) -> impl Iterator<Item = &FileEntry> {
        let messages = format!("{}{MESSAGES}", self.name);
        self.files.iter().filter(move |file| file_name(file) == messages || !file_name(file).ends_with(MESSAGES))
    }

    /// When any of the session's own files changed last, epoch seconds.
    pub(crate) fn time(&self) -> f64 {
        self.own().map(|file| time::of_file(file.modified_ns)).fold(0.0, f64::max)
    }
}

/// The agent of a transcript's name: what stands before the name of its task.
pub(crate) fn agent_of(stem: &str) -> &str {
    stem.rsplit_once("__").map_or(stem, |(agent, _)| agent)
}

pub(crate) fn file_name(file: &FileEntry) -> &str {
    file.path.rsplit('/').next().unwrap_or(&file.path)
}

/// What tells that a file changed.
pub(crate) fn stamp(file: &FileEntry) -> String {
    format!("{}:{}:{}", file.bytes, file.modified_ns, file.inode)
}

/// A file to be read.
pub(crate) fn place(store: &'static str, file: &FileEntry) -> Place {
    Place { store, path: file.path.clone(), bytes: file.bytes }
}

#[cfg(test)]
mod tests {
    use super::{Kept, STORE};

    #[test]
    fn keys_come_back_as_what_they_name() {
        let all = [
            Kept::Folder("1_a".into()),
            Kept::Agent { root: "1_a".into(), stem: "scout__x".into() },
            Kept::Row("1_a__b".into()),
            Kept::Task { store: STORE, id: "1700000000001".into() },
        ];
        for kept in all {
            assert_eq!(Kept::of(&kept.key()), Some(kept));
        }
        for key in
            ["", "session/", "session/..", "session/a/b", "agent/a", "agent/a/../b", "task/other/1", "row/a\n", "x/y"]
        {
            assert_eq!(Kept::of(key), None, "{key:?}");
        }
    }

    #[test]
    fn agents_have_the_ids_that_the_index_gives_them() {
        let id = |stem: &str| Kept::Agent { root: "1_a".into(), stem: stem.into() }.id();
        assert_eq!(id("agent_2_b"), "1_a__agent_2_b");
        assert_eq!(id("scout__aIFHpe"), "1_a__teamtask__scout__aIFHpe");
    }
}
