//! The files of a checkpoint, as the agent kept them.

use crate::checkpoints::{FileHistory, KIND};
use crate::place::STORE;
use crate::transcript;
use sepia_ir::{DriverError, ErrorCode, FileVersion, SessionRef};
use sepia_sdk::Host;
use serde::Deserialize;

/// Folder of the contents.
const PLACE: &str = "file-history";
/// Bytes that are read at once.
const PIECE: u32 = 8 << 20;
/// A longer file is not brought back.
const LONGEST: u64 = 256 << 20;

/// Metadata of the session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct About {
    file_history: FileHistory,
}

/// The files of a checkpoint.
pub(crate) fn read(host: &Host, session: &SessionRef, checkpoint: &str) -> Result<Vec<FileVersion>, DriverError> {
    let row = transcript::row(host, session)?;
    let about: About = serde_json::from_str(&row.metadata).unwrap_or_default();
    let history = about.file_history;
    let Some(files) = history.snapshots.get(checkpoint) else {
        let known = row.checkpoints.iter().find(|known| known.ref_ == checkpoint);
        if known.is_some_and(|known| known.kind.as_deref() != Some(KIND)) {
            let message =
                "the session brought this checkpoint along from another agent, and this one keeps no files of it";
            return Err(DriverError::new(ErrorCode::Unsupported, message));
        }
        let shown: String = checkpoint.chars().filter(|c| !c.is_control()).take(80).collect();
        let message = format!("the session has no checkpoint `{shown}` with files; choose one that is listed");
        return Err(DriverError::new(ErrorCode::NotFound, message));
    };
    let version = |(path, version): (&String, &crate::checkpoints::Version)| {
        let content = version.backup.as_ref().map(|name| content(host, &history.session_id, name)).transpose()?;
        Ok(FileVersion { path: path.clone(), content })
    };
    files.files.iter().map(version).collect()
}

/// The content of a backup, which is looked up among those that are there.
fn content(host: &Host, folder: &str, name: &str) -> Result<Vec<u8>, DriverError> {
    let gone = || {
        let shown: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        let message = format!("the agent no longer has the content `{shown}` of this checkpoint; choose another one");
        DriverError::new(ErrorCode::NotFound, message)
    };
    let path = format!("{PLACE}/{folder}/{name}");
    let files = host.walk(STORE, PLACE, 1, &[name.to_owned()])?.files;
    let file = files.into_iter().find(|file| file.path == path).ok_or_else(gone)?;
    if file.bytes > LONGEST {
        let message = format!("`{path}` has more than {} MiB and is not brought back", LONGEST >> 20);
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    let mut content = Vec::new();
    while (content.len() as u64) < file.bytes {
        let piece = host.read(STORE, &path, content.len() as u64, PIECE)?;
        if piece.is_empty() {
            return Err(gone());
        }
        content.extend(piece);
    }
    Ok(content)
}
