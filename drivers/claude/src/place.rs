//! Which file holds which session. Ids are looked up among the files that are there and
//! never become part of a path.

use crate::ends::Scope;
use sepia_ir::{DriverError, FileEntry, ScanEntry, ScanReport, SessionRef, Warning};
use sepia_sdk::Host;
use std::collections::HashMap;

/// Name of the store in the manifest.
pub(crate) const STORE: &str = "claude";
/// Where the sessions are.
pub(crate) const PROJECTS: &str = "projects";
/// Directories between there and the deepest transcript.
const DEPTH: u32 = 3;
/// Ids longer than this are of no session.
const LONGEST_ID: usize = 256;
/// A title that a person gave, in the folder beside a transcript.
const TITLE_FILE: &str = "custom-title.json";
/// Behind the path in the key of a session that has no such file, as most: so it need not be
/// looked for.
const NO_TITLE_FILE: &str = "!";

/// A transcript by its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transcript<'a> {
    /// `projects/<folder>`.
    pub(crate) folder: &'a str,
    /// File name without its ending: the session's id.
    pub(crate) stem: &'a str,
    /// Sub-agents in a folder of their session: that session's id.
    pub(crate) parent: Option<&'a str>,
    /// There may be a title file.
    pub(crate) titled: bool,
}

impl<'a> Transcript<'a> {
    /// Reads a key of [`scan`], as the path and what it tells.
    pub(crate) fn of_key(key: &'a str) -> Option<(&'a str, Self)> {
        let untitled = key.strip_suffix(NO_TITLE_FILE);
        let path = untitled.unwrap_or(key);
        Some((path, Self { titled: untitled.is_none(), ..Self::of(path)? }))
    }

    /// Reads a path relative to the store; none when no session is kept there.
    pub(crate) fn of(path: &'a str) -> Option<Self> {
        let stem = path.strip_suffix(".jsonl")?;
        let mut parts = stem.strip_prefix(PROJECTS)?.strip_prefix('/')?.split('/');
        let project = parts.next()?;
        let folder = &path[..PROJECTS.len() + 1 + project.len()];
        let found = match (parts.next()?, parts.next(), parts.next(), parts.next()) {
            (stem, None, None, None) => Self { folder, stem, parent: None, titled: true },
            (parent, Some("subagents"), Some(stem), None) if stem.starts_with("agent-") => {
                Self { folder, stem, parent: Some(parent), titled: true }
            }
            _ => return None,
        };
        let safe = |part: &str| !part.is_empty() && part.len() <= LONGEST_ID && !has_control(part);
        (safe(found.stem) && found.parent.is_none_or(safe)).then_some(found)
    }

    /// Whether the file is a sub-agent's.
    pub(crate) fn is_agent(&self) -> bool {
        self.parent.is_some() || self.stem.starts_with("agent-")
    }

    /// Which of its lines are the session's.
    pub(crate) fn scope(&self) -> Scope {
        if self.is_agent() { Scope::Whole } else { Scope::Main }
    }

    /// What the agent notes of a sub-agent, beside its transcript.
    pub(crate) fn meta_path(&self) -> Option<String> {
        self.parent.map(|parent| format!("{}/{parent}/subagents/{}.meta.json", self.folder, self.stem))
    }

    /// The title file of a session.
    pub(crate) fn title_path(&self) -> Option<String> {
        (self.titled && !self.is_agent()).then(|| format!("{}/{}/{TITLE_FILE}", self.folder, self.stem))
    }
}

fn has_control(part: &str) -> bool {
    // Ids are ASCII mostly, which is told without looking at characters.
    !part.bytes().all(|byte| byte.is_ascii_graphic()) && part.chars().any(char::is_control)
}

/// Everything that may hold sessions.
pub(crate) fn scan(host: &Host) -> Result<ScanReport, DriverError> {
    let endings = [".jsonl", ".meta.json", TITLE_FILE].map(str::to_owned);
    let report = host.walk(STORE, PROJECTS, DEPTH, &endings)?;
    let (mut transcripts, mut beside) = (Vec::with_capacity(report.files.len()), HashMap::new());
    for file in &report.files {
        match Transcript::of(&file.path) {
            Some(transcript) => transcripts.push((file, transcript)),
            None => drop(beside.insert(file.path.as_str(), file)),
        }
    }
    // Hardly anybody has one: then their names need not be made.
    let titles = beside.keys().any(|path| path.ends_with(TITLE_FILE));
    let mut entries = Vec::with_capacity(transcripts.len());
    for (file, transcript) in transcripts {
        let side = transcript.meta_path().or_else(|| titles.then(|| transcript.title_path()).flatten());
        let mut stamp = stamp(file);
        let mut key = file.path.clone();
        if let Some(other) = side.and_then(|path| beside.get(path.as_str()).copied()) {
            stamp.push('+');
            stamp.push_str(&self::stamp(other));
        } else if !transcript.is_agent() {
            key.push_str(NO_TITLE_FILE);
        }
        entries.push(ScanEntry {
            stamp,
            bytes: file.bytes,
            changed_at: crate::time::of_file(file.modified_ns),
            session_id: Some(transcript.stem.to_owned()),
            sub_agent: transcript.parent.is_some(),
            key,
        });
    }
    let warnings = report.failures.into_iter().map(|(path, reason)| {
        let message = format!("`{path}` could not be looked into, so its sessions are missing: {reason}");
        Warning::new("unreadable-place", message).in_file(path)
    });
    Ok(ScanReport { entries, warnings: warnings.collect() })
}

/// What tells that a file changed.
fn stamp(file: &FileEntry) -> String {
    format!("{}:{}:{}", file.bytes, file.modified_ns, file.inode)
}

/// A session that was looked up.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) file: FileEntry,
    /// The uuid or agent id of a sub-agent kept inside the file of its session.
    pub(crate) inside: Option<String>,
}

/// Looks a session up; several of one id: the file that changed last.
pub(crate) fn locate(host: &Host, session: &SessionRef) -> Result<Located, DriverError> {
    let unknown = || DriverError::unknown_session(&session.id);
    if !plausible(&session.id) || session.agent_id.as_deref().is_some_and(|agent| !plausible(agent)) {
        return Err(unknown());
    }
    match &session.agent_id {
        None => {
            if let Some(file) = newest(host, &session.id, None)? {
                return Ok(Located { file, inside: None });
            }
            let root = session.id.strip_prefix("agent-").ok_or_else(unknown)?;
            inside_any(host, root)?.ok_or_else(unknown)
        }
        Some(agent) => {
            let agent = agent.strip_prefix("agent-").unwrap_or(agent);
            let own = format!("agent-{agent}");
            if let Some(file) = newest(host, &own, Some(&session.id))? {
                return Ok(Located { file, inside: None });
            }
            let file = newest(host, &session.id, None)?.ok_or_else(unknown)?;
            Ok(Located { file, inside: Some(agent.to_owned()) })
        }
    }
}

/// Looks a session up where it was before: cheaper than looking everywhere. None when it
/// isn't there, or is one that the path doesn't tell.
pub(crate) fn confirm(host: &Host, session: &SessionRef, path: &str) -> Result<Option<Located>, DriverError> {
    let Some(transcript) = Transcript::of(path) else { return Ok(None) };
    if session.agent_id.is_some() || transcript.stem != session.id {
        return Ok(None);
    }
    let Some((under, name)) = path.rsplit_once('/') else { return Ok(None) };
    let files = host.walk(STORE, under, 0, &[name.to_owned()])?.files;
    Ok(files.into_iter().find(|file| file.path == path).map(|file| Located { file, inside: None }))
}

/// Whether an id can be one of a file at all.
fn plausible(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(['/', '\\']) && !id.chars().any(char::is_control)
}

/// The newest transcript of this name. `parent`: of a sub-agent of that session, or in the
/// older layout, where the path doesn't tell.
fn newest(host: &Host, id: &str, parent: Option<&str>) -> Result<Option<FileEntry>, DriverError> {
    let ending = [format!("{id}.jsonl")];
    // Most sessions are found without entering the folders beside the transcripts.
    let depths: &[u32] = if parent.is_some() || id.starts_with("agent-") { &[DEPTH] } else { &[1] };
    for depth in depths {
        let report = host.walk(STORE, PROJECTS, *depth, &ending)?;
        let fits = |file: &FileEntry| {
            Transcript::of(&file.path).is_some_and(|transcript| {
                transcript.stem == id
                    && (parent.is_none() || transcript.parent.is_none() || transcript.parent == parent)
            })
        };
        let found = report.files.into_iter().filter(fits).max_by_key(|file| file.modified_ns);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The transcript that holds a sub-agent whose first line has this uuid.
fn inside_any(host: &Host, root: &str) -> Result<Option<Located>, DriverError> {
    if !root.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
        return Ok(None);
    }
    let needles = [format!("\"uuid\":\"{root}\""), format!("\"uuid\": \"{root}\"")];
    let query = sepia_ir::SurveyQuery {
        needles: needles.map(String::into_bytes).to_vec(),
        head: 0,
        tail: 0,
        max_line: 64,
        max_lines: 1,
    };
    for file in host.walk(STORE, PROJECTS, 1, &[".jsonl".to_owned()])?.files {
        let Some(transcript) = Transcript::of(&file.path) else { continue };
        if transcript.is_agent() {
            continue;
        }
        if !host.survey(STORE, &file.path, &query)?.lines.is_empty() {
            return Ok(Some(Located { file, inside: Some(root.to_owned()) }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::Transcript;

    #[test]
    fn only_the_known_places_hold_sessions() {
        let main = Transcript::of("projects/-p-demo/a.jsonl");
        assert_eq!(main, Some(Transcript { folder: "projects/-p-demo", stem: "a", parent: None, titled: true }));
        let sub = Transcript::of("projects/-p/a/subagents/agent-b.jsonl");
        assert_eq!(sub, Some(Transcript { folder: "projects/-p", stem: "agent-b", parent: Some("a"), titled: true }));
        for path in [
            "projects/a.jsonl",
            "projects/-p/a/b.jsonl",
            "projects/-p/a/subagents/b.jsonl",
            "projects/-p/.jsonl",
            "x/-p/a.jsonl",
        ] {
            assert_eq!(Transcript::of(path), None, "{path}");
        }
    }
}
