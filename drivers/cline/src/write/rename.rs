//! Another title for a session, in the places where the agent keeps it.

use super::edit::{Form, changed};
use super::manifest::{self, title as agents_title};
use super::output::MODE;
use super::placed::{Placed, locate_known};
use super::rows::{Change, Row, row};
use super::task_list;
use crate::place::{Kept, STORE};
use sepia_ir::{DriverError, ErrorCode, SessionRef, SqlValue};
use sepia_sdk::Host;
use sepia_sdk::json::{Object, parse};
use sepia_sdk::metadata;

/// Renames a session. A title that is longer than the agent's longest is cut, as the agent cuts it.
pub(crate) fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
    let title = agents_title(title)
        .filter(|title| !title.chars().any(char::is_control))
        .ok_or_else(|| DriverError::new(ErrorCode::Invalid, "a title has one line and at least one character"))?;
    match locate_known(host, session)? {
        Kept::Folder(id) => {
            let placed = Placed::look(host, &id)?;
            in_folder(host, &id, &placed, &title)
        }
        kept @ (Kept::Row(_) | Kept::Agent { .. }) => match row(host, &kept.id())? {
            Some(row) => {
                let change = Change::begin(host)?;
                in_row(&change, &row, &title)?;
                change.commit()
            }
            None => Err(no_place(&kept.id())),
        },
        Kept::Task { store, id } => {
            let entries = task_list::entries(host, store, &id)?;
            match entries.first() {
                Some(entry) => task_list::rename(host, entry, &title),
                None => Err(no_place(&id)),
            }
        }
    }
}

fn no_place(id: &str) -> DriverError {
    let message = format!("session `{id}` stands in no list of the agent's, which is where a title would be kept");
    DriverError::new(ErrorCode::Unsupported, message)
}

fn in_folder(host: &Host, id: &str, placed: &Placed, title: &str) -> Result<(), DriverError> {
    // The manifest counts for the agent, and comes between the two ends of the change of the row.
    let change = match &placed.row {
        Some(row) => {
            let change = Change::begin(host)?;
            in_row(&change, row, title)?;
            Some(change)
        }
        None => None,
    };
    let Some(change) = change else {
        return match &placed.manifest {
            Some((path, bytes)) => title_in(host, path, bytes, title).map(drop),
            None => Err(no_place(id)),
        };
    };
    let Some((path, bytes)) = &placed.manifest else { return change.commit() };
    let titled = title_in(host, path, bytes, title)?;
    change.commit().or_else(|error| {
        host.replace(STORE, path, bytes, MODE, Some(titled.len() as u64))?;
        Err(error)
    })
}

/// Puts a title into a manifest; what it is now.
fn title_in(host: &Host, path: &str, bytes: &[u8], title: &str) -> Result<String, DriverError> {
    let text = String::from_utf8_lossy(bytes);
    let titled = with_title(&text, title).ok_or_else(|| {
        let message = format!("the manifest `{path}` can't be read, so no title can be put into it");
        DriverError::new(ErrorCode::Conflict, message)
    })?;
    host.replace(STORE, path, titled.as_bytes(), MODE, Some(bytes.len() as u64))?;
    Ok(titled)
}

/// A manifest with another title, everything else as it stands.
fn with_title(manifest: &str, title: &str) -> Option<String> {
    let meta = parse::<Object<'_>>(manifest).ok()?.get("metadata");
    let meta = meta.map(serde_json::value::RawValue::get).filter(|meta| meta.starts_with('{')).unwrap_or("{}");
    let meta = changed(meta, &[("title", Some(metadata::string(title)))], Form::File(2))?;
    changed(manifest, &[("metadata", Some(meta))], Form::File(0)).map(|json| json + "\n")
}

fn in_row(change: &Change, row: &Row, title: &str) -> Result<(), DriverError> {
    let Some(id) = row.text("session_id") else { return Ok(()) };
    let meta = row.text("metadata_json").filter(|meta| meta.starts_with('{')).unwrap_or("{}");
    let titled = changed(meta, &[("title", Some(metadata::string(title)))], Form::Column);
    let titled = titled.or_else(|| changed("{}", &[("title", Some(metadata::string(title)))], Form::Column));
    let mut columns = vec![("metadata_json", titled.map_or(SqlValue::Null, SqlValue::Text))];
    if let Some(now) = manifest::iso(manifest::now()) {
        columns.push(("updated_at", SqlValue::Text(now)));
    }
    change.update(id, &columns)
}
