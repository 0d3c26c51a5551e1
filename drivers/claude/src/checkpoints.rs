//! File checkpoints: what the agent noted of the files that it was about to change. The
//! contents lie elsewhere in the store; here are references only.

use crate::draft::Span;
use crate::json::{Raw, Str, members, parse_file};
use crate::lines::{Lines, MAX_LINE};
use crate::outline::outlined;
use crate::time;
use sepia_ir::{CheckpointRef, DriverError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Kind of the agent's own checkpoints.
pub(crate) const KIND: &str = "file-history-snapshot";

members! {
    Snapshot {
        message_id: Str<'a> = "messageId",
        files: Raw<'a> = "trackedFileBackups",
        timestamp: Raw<'a> = "timestamp",
    }
}

members! {
    Backup {
        name: Str<'a> = "backupFileName",
        version: Raw<'a> = "version",
    }
}

/// `metadata.fileHistory` of a session: enough to bring files back.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileHistory {
    /// Folder of the contents, below `file-history` of the store.
    pub(crate) session_id: String,
    /// By the checkpoint's `ref`.
    pub(crate) snapshots: BTreeMap<String, Files>,
}

/// The files of a checkpoint.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Files {
    /// By the path relative to the working directory.
    pub(crate) files: BTreeMap<String, Version>,
}

/// A file as it was.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Version {
    /// File of the content; none: the file did not exist.
    pub(crate) backup: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

/// Reads the file-history records of a session. A later record of the same checkpoint adds to
/// the earlier one.
pub(crate) fn read(
    lines: &mut Lines,
    spans: &[Span],
    session_id: &str,
) -> Result<(Vec<CheckpointRef>, Option<FileHistory>), DriverError> {
    let mut checkpoints: Vec<CheckpointRef> = Vec::new();
    let mut history = FileHistory { session_id: session_id.to_owned(), ..FileHistory::default() };
    for span in spans.iter().filter(|span| span.length <= MAX_LINE) {
        outlined(lines.get(span.offset, span.length)?, |outline| {
            let snapshot = outline.snapshot.and_then(parse_file::<Snapshot<'_>>);
            let Some(snapshot) = snapshot else { return };
            let files = snapshot.files.and_then(|raw| serde_json::from_str(raw.get()).ok());
            let files: BTreeMap<String, Backup<'_>> = files.unwrap_or_default();
            let Some(name) = snapshot.message_id.filled().or(outline.message_id.filled()) else { return };
            if files.is_empty() {
                return;
            }
            if !history.snapshots.contains_key(name) {
                checkpoints.push(CheckpointRef {
                    ref_: name.to_owned(),
                    created_at: time::of(snapshot.timestamp).map_or(0.0, time::milliseconds),
                    run_count: None,
                    kind: Some(KIND.to_owned()),
                });
            }
            let known = history.snapshots.entry(name.to_owned()).or_default();
            for (path, backup) in files {
                let version = backup.version.and_then(|raw| raw.get().parse().ok());
                known.files.insert(path, Version { backup: backup.name.get().map(str::to_owned), version });
            }
        });
    }
    let history = (!history.snapshots.is_empty()).then_some(history);
    Ok((checkpoints, history))
}
