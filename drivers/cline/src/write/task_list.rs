//! The list of tasks that the extension keeps: entries of it that are renamed, taken out and put
//! back, everything else byte for byte as it was.

use super::edit::{Form, changed};
use super::placed::whole_of;
use crate::elements::Elements;
use crate::place::{EXTENSION, STORE, TASKS, file_name, place};
use crate::text::Text;
use sepia_ir::{DriverError, ErrorCode, FileEntry};
use sepia_sdk::Host;
use sepia_sdk::json::{Str, members};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Where a list may be.
const PLACES: [&str; 2] = ["state", TASKS];
const NAME: &str = "taskHistory.json";
/// A longer list is not changed.
const LARGEST: u32 = 64 << 20;
/// Mode of a list that is written anew.
const MODE: u32 = 0o644;

members! {
    Record {
        id: Str<'a> = "id",
    }
}

/// An entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) store: String,
    /// Path of the list.
    pub(super) list: String,
    pub(super) id: String,
    pub(super) json: String,
    offset: u64,
    /// What goes with it when it is taken out: where that begins, and its bytes.
    cut: Option<(u64, String)>,
    /// Checksum of the list without it.
    without: u64,
}

/// The entries of a task.
pub(super) fn entries(host: &Host, store: &str, id: &str) -> Result<Vec<Entry>, DriverError> {
    let Some(store) = [STORE, EXTENSION].into_iter().find(|known| *known == store) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for file in lists(host, store)? {
        let mut elements = Elements::new(host, place(store, &file));
        while let Some(element) = elements.next()? {
            let Some(bytes) = element.bytes else { continue };
            let record = Text::of(bytes);
            if !record.parse::<Record<'_>>().is_ok_and(|record| record.id.is(id)) {
                continue;
            }
            found.push(Entry {
                store: store.to_owned(),
                list: file.path.clone(),
                id: id.to_owned(),
                json: String::from_utf8_lossy(bytes).into_owned(),
                offset: element.offset,
                cut: None,
                without: 0,
            });
        }
    }
    Ok(found)
}

fn lists(host: &Host, store: &str) -> Result<Vec<FileEntry>, DriverError> {
    let mut lists = Vec::new();
    for place in PLACES {
        let files = host.walk(store, place, 0, &[NAME.to_owned()])?.files;
        lists.extend(files.into_iter().filter(|file| file_name(file) == NAME));
    }
    Ok(lists)
}

/// A list as it is now, with this entry at its place.
fn list_of(host: &Host, entry: &Entry) -> Result<(FileEntry, Vec<u8>), DriverError> {
    let file = lists(host, &entry.store)?.into_iter().find(|file| file.path == entry.list);
    let file = file.ok_or_else(|| crate::window::changed(&entry.list))?;
    let bytes = whole_of(host, &entry.store, &file, LARGEST)?;
    Ok((file, bytes))
}

fn span(entry: &Entry, bytes: &[u8]) -> Result<(usize, usize), DriverError> {
    let start = usize::try_from(entry.offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(entry.json.len());
    match bytes.get(start..end) {
        Some(found) if found == entry.json.as_bytes() => Ok((start, end)),
        _ => Err(crate::window::changed(&entry.list)),
    }
}

fn write(host: &Host, entry: &Entry, file: &FileEntry, bytes: &[u8]) -> Result<(), DriverError> {
    host.replace(&entry.store, &entry.list, bytes, MODE, Some(file.bytes))
}

/// Gives the task of an entry another name: what the extension shows as its title is what was asked
/// for first.
pub(super) fn rename(host: &Host, entry: &Entry, title: &str) -> Result<(), DriverError> {
    let (file, mut bytes) = list_of(host, entry)?;
    let (start, end) = span(entry, &bytes)?;
    let task = sepia_sdk::metadata::string(title);
    let form = if entry.json.contains('\n') { Form::File(2) } else { Form::Column };
    let new = changed(&entry.json, &[("task", Some(task))], form).ok_or_else(|| crate::window::changed(&entry.list))?;
    bytes.splice(start..end, new.into_bytes());
    write(host, entry, &file, &bytes)
}

/// Takes an entry out; what puts it back.
pub(super) fn take(host: &Host, entry: &Entry) -> Result<Entry, DriverError> {
    let (file, mut bytes) = list_of(host, entry)?;
    let (mut start, mut end) = span(entry, &bytes)?;
    // One comma goes with it: the one behind it, with the blanks up to the next entry, or else the one before.
    let blank = |b: &u8| b.is_ascii_whitespace();
    let behind = end + bytes[end..].iter().take_while(|b| blank(b)).count();
    if bytes.get(behind) == Some(&b',') {
        end = behind + 1 + bytes[behind + 1..].iter().take_while(|b| blank(b)).count();
    } else {
        let before = start - bytes[..start].iter().rev().take_while(|b| blank(b)).count();
        if before > 0 && bytes[before - 1] == b',' {
            start = before - 1;
        }
    }
    let cut = String::from_utf8_lossy(&bytes[start..end]).into_owned();
    bytes.drain(start..end);
    let taken = Entry { cut: Some((start as u64, cut)), without: checksum(&bytes), ..entry.clone() };
    write(host, entry, &file, &bytes)?;
    Ok(taken)
}

/// Puts an entry back: where it was when the list is as it was left, else at its start.
pub(super) fn put_back(host: &Host, entry: &Entry) -> Result<(), DriverError> {
    let bad = || DriverError::new(ErrorCode::Invalid, "this is no undo of a deletion");
    let (store, list) = (entry.store.as_str(), entry.list.as_str());
    if ![STORE, EXTENSION].contains(&store) || !PLACES.iter().any(|place| list == format!("{place}/{NAME}")) {
        return Err(bad());
    }
    if !sepia_sdk::json::parse::<Record<'_>>(&entry.json).is_ok_and(|record| record.id.is(&entry.id)) {
        return Err(bad());
    }
    if !entries(host, store, &entry.id)?.is_empty() {
        return Ok(());
    }
    let Some(file) = lists(host, store)?.into_iter().find(|file| file.path == list) else {
        return host.replace(store, list, format!("[{}]", entry.json).as_bytes(), MODE, Some(0));
    };
    let mut bytes = whole_of(host, store, &file, LARGEST)?;
    match &entry.cut {
        Some((at, cut)) if checksum(&bytes) == entry.without && *at <= bytes.len() as u64 => {
            let at = usize::try_from(*at).map_err(|_| bad())?;
            bytes.splice(at..at, cut.bytes());
        }
        _ => {
            let start = bytes.iter().position(|b| *b == b'[').ok_or_else(|| crate::window::changed(list))? + 1;
            let empty = bytes[start..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b']');
            let text = if empty { entry.json.clone() } else { format!("{},", entry.json) };
            bytes.splice(start..start, text.into_bytes());
        }
    }
    write(host, entry, &file, &bytes)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
