//! Where a chat is, or is to be: its folder, and the files in it.

use crate::blobs::hex;
use crate::key::Kind;
use crate::locate::locate;
use crate::places::{CURSOR, Places};
use crate::record::Record;
use md5::{Digest, Md5};
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::Host;

/// The folder of a chat.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) store: &'static str,
    pub(crate) folder: String,
    pub(crate) kind: Kind,
}

impl Home {
    /// Where the command line looks for a chat when it runs in this directory.
    pub(crate) fn fresh(cwd: &str, id: &str) -> Self {
        let folder = format!("chats/{}/{id}", hex(&Md5::digest(cwd.as_bytes())));
        Self { store: CURSOR, folder, kind: Kind::Chat }
    }

    pub(crate) fn database(&self) -> String {
        format!("{}/store.db", self.folder)
    }

    /// The small file that tells the title and the times.
    pub(crate) fn note(&self) -> String {
        format!("{}/meta.json", self.folder)
    }

    pub(crate) fn prompts(&self) -> String {
        format!("{}/prompt_history.json", self.folder)
    }
}

/// A chat that can be written, and what is read of it. `unsupported` for a session that is kept
/// where only the agent itself, or nobody, may write.
pub(crate) fn writable(host: &Host, session: &SessionRef) -> Result<(Home, Record), DriverError> {
    let record = locate(host, session)?;
    let id = record.session.id.clone();
    let refused = |why: &str| DriverError::new(ErrorCode::Unsupported, format!("session `{id}` {why}"));
    match record.about.space {
        "ide" | "ide-workspace" => {
            return Err(refused("is kept in the database of the IDE, which is only read; change it in the IDE itself"));
        }
        "agent-transcripts" => {
            return Err(refused(
                "is left as a transcript alone, which the agent does not read back; it can be copied into a new session",
            ));
        }
        "sdk-agent-store" => {
            return Err(refused(
                "belongs to a program that uses the agent's SDK, which keeps its own list of it; it is only read",
            ));
        }
        _ => {}
    }
    let places = Places::of(host, &[&id])?;
    let kept = places.kept.get(&id);
    let other = |path: &str| record.about.also_in.iter().any(|place| place.path == path);
    let source =
        kept.and_then(|kept| kept.sources.iter().map(|found| &found.source).find(|source| !other(&source.path)));
    let chat = source.filter(|source| matches!(source.kind, Kind::Chat | Kind::ConfigChat | Kind::Acp));
    let Some((source, (folder, _))) = chat.and_then(|source| Some((source, source.path.rsplit_once('/')?))) else {
        return Err(refused(
            "is a sub-agent inside the session that started it; that session can be changed, not a part of it",
        ));
    };
    let home = Home { store: source.kind.store(), folder: folder.to_owned(), kind: source.kind };
    Ok((home, record))
}

/// The directory as the agent names folders by it: absolute, without a slash at its end.
pub(crate) fn directory(cwd: &str) -> Result<&str, DriverError> {
    let trimmed = cwd.trim_end_matches('/');
    let trimmed = if trimmed.is_empty() && !cwd.is_empty() { "/" } else { trimmed };
    let bytes = trimmed.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    if trimmed.is_empty() || !(trimmed.starts_with('/') || drive) || trimmed.contains('\0') {
        let message =
            "a session of Cursor belongs to a directory; give the absolute path of the one that it is to be resumed in";
        return Err(DriverError::new(ErrorCode::Invalid, message));
    }
    Ok(trimmed)
}
