//! Bringing files of a working directory back: by undoing the changes that a session recorded, from the
//! files that its agent keeps of a checkpoint, or from version control.
//!
//! ```text
//! inside      paths of the working directory, and nothing outside of it
//! changes     recorded changes undone, the newest first
//! checkpoint  the files of a checkpoint, whoever keeps them
//! git         what a commit that stands for a checkpoint holds
//! ```

mod changes;
mod checkpoint;
mod git;
mod inside;

use super::{ErrorKind, Plane, PlaneError};
use inside::{Inside, Written};
use schemars::JsonSchema;
use sepia_ir::{Diff, SessionRef};
use serde::Serialize;

/// What to bring back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreRequest {
    what: What,
    dry_run: bool,
    force: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Changes { path: String, tool_call_id: Option<String> },
    Checkpoint { checkpoint: String, paths: Option<Vec<String>> },
}

impl RestoreRequest {
    /// A file as it was before the recorded changes, or before those of one call.
    pub fn changes(path: &str, tool_call_id: Option<String>, dry_run: bool, force: bool) -> Self {
        Self { what: What::Changes { path: path.to_owned(), tool_call_id }, dry_run, force }
    }

    /// Files as they were at a checkpoint; all that it covers, or only these.
    pub fn checkpoint(checkpoint: &str, paths: Option<Vec<String>>, dry_run: bool, force: bool) -> Self {
        Self { what: What::Checkpoint { checkpoint: checkpoint.to_owned(), paths }, dry_run, force }
    }
}

/// What was brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesRestored {
    /// Files that are, or in a dry run would be, as they were.
    pub restored: Vec<RestoredFile>,
    /// Files that were left as they are, and why.
    pub skipped: Vec<SkippedFile>,
    /// Nothing was written.
    pub dry_run: bool,
}

/// A file that is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RestoredFile {
    /// Absolute.
    pub path: String,
    /// What was done.
    pub action: FileAction,
    /// Its bytes; absent when it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileAction {
    /// It was written.
    Written,
    /// It was taken away, for it did not exist.
    Deleted,
    /// It is as it was already.
    Unchanged,
}

/// A file that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkippedFile {
    /// As it was named.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What a file shall be: its content, or gone.
type Content = Option<Vec<u8>>;

/// Files and what they shall be, or why not.
type Wanted = Vec<(String, Result<Content, String>)>;

impl Plane {
    /// Brings files of a session's working directory back.
    pub async fn restore(
        &self,
        id: &str,
        agent: Option<&str>,
        request: &RestoreRequest,
    ) -> Result<FilesRestored, PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (about, _, transcript) = self.opened_by(&session, agent).await?;
        let agent = about.manifest.id.clone();
        let _held = self.claim(&agent, id, request.force || request.dry_run).await?;
        let inside = Inside::open(&transcript.header.working_directory)?;
        let wanted = match &request.what {
            What::Changes { path, tool_call_id } => {
                let path = inside.path_of(path)?;
                let diffs = recorded(transcript, &inside, &path, tool_call_id.as_deref()).await?;
                let wanted = match inside.read(&path) {
                    Ok(now) => changes::undone(now, &diffs),
                    Err(reason) => Err(reason),
                };
                vec![(path, wanted)]
            }
            What::Checkpoint { checkpoint, paths } => {
                drop(transcript);
                let (_, writer) = self.writer_of(&agent).await?;
                checkpoint::files(writer, &session, &inside, checkpoint, paths.as_deref()).await?
            }
        };
        Ok(written(&inside, wanted, request.dry_run))
    }
}

/// The changes of a file, in the order of the session.
async fn recorded(
    transcript: crate::loader::Transcript,
    inside: &Inside,
    path: &str,
    call: Option<&str>,
) -> Result<Vec<Diff>, PlaneError> {
    let mut batches = transcript.batches;
    let mut diffs = Vec::new();
    while let Some(batch) = batches.recv().await {
        for node in batch? {
            let calls = node.tool_calls.into_iter().filter(|made| call.is_none_or(|call| made.id == call));
            let of_file = |diff: &Diff| inside.path_of(&diff.path).is_ok_and(|of| of == path);
            diffs.extend(calls.flat_map(|call| call.diffs).filter(of_file));
        }
    }
    Ok(diffs)
}

fn written(inside: &Inside, wanted: Wanted, dry_run: bool) -> FilesRestored {
    let mut done = FilesRestored { restored: Vec::new(), skipped: Vec::new(), dry_run };
    for (path, content) in wanted {
        match content.and_then(|content| inside.write(&path, content.as_deref(), dry_run)) {
            Ok(Written { place, action, bytes }) => {
                done.restored.push(RestoredFile { path: place, action, bytes });
            }
            Err(reason) => done.skipped.push(SkippedFile { path, reason }),
        }
    }
    done
}

fn invalid(message: impl Into<String>) -> PlaneError {
    PlaneError::new(ErrorKind::Invalid, message)
}
