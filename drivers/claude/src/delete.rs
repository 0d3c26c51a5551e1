//! Deleting a session with all that belongs to it, and nothing else.
//!
//! The transcript goes last: as long as it is there the session is listed, and what failed can be tried again.

use crate::place::{self, Located, PROJECTS, STORE, Transcript};
use crate::typed::Typed;
use sepia_ir::{Artifact, DeleteOutcome, DriverError, ErrorCode, SessionRef};
use sepia_sdk::Host;

/// Folders that the agent keeps for a session, beside the projects.
const FOLDERS: [&str; 3] = ["file-history", "session-env", "tasks"];
/// Deepest folders that are listed file by file.
const DEPTH: u32 = 8;

/// A thing that goes in one step.
struct Part {
    /// Path of the file or folder.
    path: String,
    /// What is told of it.
    artifacts: Vec<Artifact>,
}

/// What belongs to a session.
struct Belongings {
    /// In the order in which they go.
    parts: Vec<Part>,
    typed: Option<Typed>,
}

fn artifact(place: impl Into<String>, bytes: u64) -> Artifact {
    Artifact { place: place.into(), store: STORE.to_owned(), bytes }
}

/// All that belongs to the session.
pub(crate) fn plan(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
    let Belongings { parts, typed } = belongings(host, session)?;
    let mut artifacts: Vec<Artifact> = parts.into_iter().rev().flat_map(|part| part.artifacts).collect();
    artifacts.extend(typed.map(|typed| artifact(typed.place(), typed.bytes())));
    Ok(artifacts)
}

/// Takes it away.
pub(crate) fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
    let Belongings { parts, typed } = belongings(host, session)?;
    let mut outcome = DeleteOutcome { removed: Vec::new(), failed: Vec::new(), undo: Vec::new() };
    if let Some(typed) = typed {
        let artifact = artifact(typed.place(), typed.bytes());
        match typed.take_away(host) {
            Ok(undo) => {
                outcome.undo = undo;
                outcome.removed.push(artifact);
            }
            Err(e) => outcome.failed.push((artifact, e.message)),
        }
    }
    for part in parts {
        match host.discard(STORE, &part.path) {
            Ok(_) => outcome.removed.extend(part.artifacts),
            // Another program was faster; it is gone.
            Err(e) if e.code == ErrorCode::NotFound => {}
            Err(e) => outcome.failed.extend(part.artifacts.into_iter().map(|artifact| (artifact, e.message.clone()))),
        }
    }
    Ok(outcome)
}

fn belongings(host: &Host, session: &SessionRef) -> Result<Belongings, DriverError> {
    let unknown = || DriverError::unknown_session(&session.id);
    let Located { file, inside } = place::locate(host, session)?;
    let transcript = Transcript::of(&file.path).ok_or_else(unknown)?;
    if inside.is_some() {
        let message = format!(
            "session `{}` is kept inside the file of the session that it works for; delete that one",
            session.id
        );
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    let mut parts = Vec::new();
    if transcript.is_agent() {
        if let Some(note) = transcript.meta_path()
            && let Some(bytes) = size(host, &note)?
        {
            parts.push(Part { artifacts: vec![artifact(&note, bytes)], path: note });
        }
        parts.push(Part { artifacts: vec![artifact(&file.path, file.bytes)], path: file.path });
        return Ok(Belongings { parts, typed: None });
    }
    let id = transcript.stem;
    let typed = Typed::of(host, id)?;
    if is_folder_name(id) {
        for folder in FOLDERS {
            parts.extend(whole(host, format!("{folder}/{id}"))?);
        }
    }
    // A session that went to another project may have left its file in the first one.
    let ending = [format!("{id}.jsonl")];
    let mut files = host.walk(STORE, PROJECTS, 1, &ending)?.files;
    files.retain(|other| Transcript::of(&other.path).is_some_and(|other| other.stem == id));
    files.sort_by_key(|file| file.modified_ns);
    for file in &files {
        let Some(transcript) = Transcript::of(&file.path).filter(|_| is_folder_name(id)) else { continue };
        parts.extend(listed(host, format!("{}/{id}", transcript.folder))?);
    }
    parts.extend(
        files.into_iter().map(|file| Part { artifacts: vec![artifact(&file.path, file.bytes)], path: file.path }),
    );
    Ok(Belongings { parts, typed })
}

/// Whether an id names a folder of its own: `.` and `..` are others.
fn is_folder_name(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', '\0'])
}

/// Bytes of a file that is there.
fn size(host: &Host, path: &str) -> Result<Option<u64>, DriverError> {
    let Some((under, name)) = path.rsplit_once('/') else { return Ok(None) };
    let files = host.walk(STORE, under, 0, &[name.to_owned()])?.files;
    Ok(files.into_iter().find(|file| file.path == path).map(|file| file.bytes))
}

/// A folder that is told as one thing.
fn whole(host: &Host, path: String) -> Result<Option<Part>, DriverError> {
    if !is_there(host, &path) {
        return Ok(None);
    }
    let bytes = host.walk(STORE, &path, DEPTH, &[String::new()])?.files.iter().map(|file| file.bytes).sum();
    Ok(Some(Part { artifacts: vec![artifact(&path, bytes)], path }))
}

/// A folder that is told file by file.
fn listed(host: &Host, path: String) -> Result<Option<Part>, DriverError> {
    if !is_there(host, &path) {
        return Ok(None);
    }
    let files = host.walk(STORE, &path, DEPTH, &[String::new()])?.files;
    let mut artifacts: Vec<Artifact> = files.into_iter().map(|file| artifact(file.path, file.bytes)).collect();
    if artifacts.is_empty() {
        artifacts.push(artifact(&path, 0));
    }
    Ok(Some(Part { path, artifacts }))
}

/// Whether there is a folder; links are none.
fn is_there(host: &Host, path: &str) -> bool {
    let place = host.directory(STORE).map(|store| store.join(path));
    place.is_some_and(|place| std::fs::symlink_metadata(place).is_ok_and(|about| about.is_dir()))
}
