//! What is at the place of a session, for who writes there.

use super::rows;
use crate::database::Index;
use crate::locate::locate;
use crate::place::{Folder, Kept, MESSAGES, SESSIONS, STORE, file_name};
use crate::session;
use crate::task;
use sepia_ir::{DriverError, ErrorCode, FileEntry, SessionRef};
use sepia_sdk::Host;

/// A manifest is read up to this size.
const MANIFEST: u32 = 8 << 20;

/// A session that is there, as far as a write has to know it.
pub(super) struct Placed {
    /// The manifest, when there is one: path and bytes.
    pub(super) manifest: Option<(String, Vec<u8>)>,
    /// The file that its messages are read from.
    pub(super) transcript: Option<FileEntry>,
    /// What a compaction left.
    pub(super) compaction: Option<FileEntry>,
    pub(super) row: Option<rows::Row>,
    /// Files of its folder.
    files: Vec<FileEntry>,
}

/// Where a session is, if there is one of this id.
pub(super) fn find(host: &Host, id: &str) -> Result<Option<Kept>, DriverError> {
    let session = SessionRef { id: id.to_owned(), agent_id: None };
    let index = Index::new(host, Vec::new());
    let kept = match locate(host, &session, &index) {
        Ok(kept) => kept,
        Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(session::find(host, &kept, &index, &task::Lists::new(host))?.map(|_| kept))
}

/// Where a session is that has to be there.
pub(super) fn locate_known(host: &Host, session: &SessionRef) -> Result<Kept, DriverError> {
    let index = Index::new(host, Vec::new());
    let kept = locate(host, session, &index)?;
    let found = session::find(host, &kept, &index, &task::Lists::new(host))?;
    found.map(|_| kept).ok_or_else(|| DriverError::unknown_session(&session.id))
}

impl Placed {
    /// Looks at the session of this folder, or of a row of this name.
    pub(super) fn look(host: &Host, id: &str) -> Result<Self, DriverError> {
        let folder = Folder::look(host, id)?;
        let manifest = match folder.manifest() {
            Some(file) => Some((file.path.clone(), whole(host, file, MANIFEST)?)),
            None => None,
        };
        let kept = Kept::Folder(id.to_owned());
        let index = Index::new(host, Vec::new());
        let found = session::find(host, &kept, &index, &task::Lists::new(host))?;
        let path = found.and_then(|found| found.source).map(|source| source.place.path);
        Ok(Self {
            manifest,
            transcript: path.and_then(|path| folder.files.iter().find(|file| file.path == path).cloned()),
            compaction: folder.compaction().cloned(),
            row: rows::row(host, id)?,
            files: folder.files,
        })
    }

    /// Path of a transcript beside the one that is there, and the bytes that stand there of an earlier
    /// one that could not be taken away.
    pub(super) fn other_transcript(&self, id: &str) -> (String, u64) {
        let names = [format!("{id}{MESSAGES}"), format!("{id}.messages.2.json")];
        let named = |name: &&String| self.transcript.as_ref().is_none_or(|file| file_name(file) != name.as_str());
        let name = names.iter().find(named).cloned().unwrap_or_default();
        let bytes = self.files.iter().find(|file| file_name(file) == name).map_or(0, |file| file.bytes);
        (format!("{SESSIONS}/{id}/{name}"), bytes)
    }
}

/// All bytes of a file that is not large.
pub(super) fn whole(host: &Host, file: &FileEntry, most: u32) -> Result<Vec<u8>, DriverError> {
    whole_of(host, STORE, file, most)
}

/// As [`whole`], of a store.
pub(super) fn whole_of(host: &Host, store: &str, file: &FileEntry, most: u32) -> Result<Vec<u8>, DriverError> {
    const PIECE: u32 = 8 << 20;
    if file.bytes > u64::from(most) {
        let message = format!("`{}` is too large to be changed: it has {} bytes", file.path, file.bytes);
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < file.bytes {
        let left = u32::try_from(file.bytes - bytes.len() as u64).unwrap_or(u32::MAX).min(PIECE);
        let piece = host.read(store, &file.path, bytes.len() as u64, left)?;
        if piece.is_empty() {
            return Err(crate::window::changed(&file.path));
        }
        bytes.extend(piece);
    }
    Ok(bytes)
}

/// The agent's own path of a file of the store, as it stands in manifests and rows.
pub(super) fn absolute(host: &Host, path: &str) -> Result<String, DriverError> {
    let home = host.location(STORE).ok_or_else(|| {
        DriverError::new(
            ErrorCode::Store,
            "the place of the agent's data is not known, so nothing can be written there",
        )
    })?;
    Ok(format!("{}/{path}", home.trim_end_matches('/')))
}
