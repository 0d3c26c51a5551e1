//! SQLite databases, read through the library that sepia reads them through.

use crate::Failed;
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// Settings of a chat, as far as they lead to its root.
#[derive(Deserialize)]
struct Settings<'a> {
    #[serde(borrow, rename = "latestRootBlobId")]
    root: Cow<'a, str>,
}

/// Opens a database that nobody writes to. In any other way the library would leave files beside it, and the next
/// list would find a store that changed.
fn open(file: &Path) -> Result<Connection, Failed> {
    let uri = format!("file:{}?mode=ro&immutable=1", file.to_str().ok_or("a path that is not UTF-8")?);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(uri, flags)?)
}

/// Chats below a folder: settings and root of each database, and the note beside it; how many, and bytes of these.
pub(super) fn chats(place: &Path) -> Result<[u64; 2], Failed> {
    let mut chats = Vec::new();
    for workspace in fs::read_dir(place.join("chats"))? {
        for chat in fs::read_dir(workspace?.path())? {
            chats.push(chat?.path());
        }
    }
    super::on_all_cores(&chats, |chat, _| Ok([1, of_chat(chat)?]))
}

fn of_chat(chat: &Path) -> Result<u64, Failed> {
    let database = open(&chat.join("store.db"))?;
    let settings: Vec<u8> =
        database.query_row("SELECT unhex(value) FROM meta WHERE key = '0'", [], |row| row.get(0))?;
    let Settings { root } = serde_json::from_slice(&settings)?;
    let root: Vec<u8> = database.query_row("SELECT data FROM blobs WHERE id = ?", [root], |row| row.get(0))?;
    Ok((root.len() + fs::read(chat.join("meta.json"))?.len()) as u64)
}

/// The small columns of all sessions; how many, and bytes of their texts.
pub(super) fn rows(file: &Path) -> Result<[u64; 2], Failed> {
    let database = open(file)?;
    let mut query = database.prepare(
        "SELECT s.id, s.title, s.working_directory, s.model, s.created_at, s.last_activity_at, \
         (SELECT MAX(n.row_id) FROM message_nodes n WHERE n.session_id = s.id) FROM sessions s",
    )?;
    let (mut rows, mut sums) = (query.query([])?, [0; 2]);
    while let Some(row) = rows.next()? {
        let mut bytes = 0;
        for column in 0..4 {
            bytes += row.get_ref(column)?.as_str_or_null()?.map_or(0, str::len);
        }
        sums = super::add(sums, [1, bytes as u64]);
    }
    Ok(sums)
}

/// Every message, read and parsed; how many, and bytes of their texts.
pub(super) fn messages(file: &Path) -> Result<[u64; 2], Failed> {
    #[derive(Deserialize)]
    struct Chat<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
        #[serde(borrow)]
        content: Cow<'a, str>,
    }
    let database = open(file)?;
    database.execute_batch("PRAGMA mmap_size=4000000000")?;
    let mut query = database.prepare("SELECT chat_message FROM message_nodes")?;
    let (mut rows, mut sums) = (query.query([])?, [0; 2]);
    while let Some(row) = rows.next()? {
        let chat: Chat<'_> = serde_json::from_str(row.get_ref(0)?.as_str()?)?;
        sums = super::add(sums, [1, (chat.role.len() + chat.content.len()) as u64]);
    }
    Ok(sums)
}
