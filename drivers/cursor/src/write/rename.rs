//! Another title: the name in the settings of a chat, and the title in the file beside it.

use super::home::writable;
use super::{note, settings};
use sepia_ir::{DriverError, SessionRef, SqlValue};
use sepia_sdk::Host;
use sepia_sdk::metadata::string;

/// See `SessionWrite::rename`.
pub(crate) fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
    let (home, _) = writable(host, session)?;
    let before = note::read(host, &home)?;
    let database = host.writable_database(home.store, &home.database())?;
    database.begin()?;
    settings::set(&*database, &[("name", SqlValue::Text(title.to_owned()))])?;
    // The list goes by the file where there is one, which comes between the two ends of the change of the settings: whoever is
    // cut off has the one title or the other.
    let Some(before) = before else { return database.commit() };
    let text = note::with(&before, &[("title", string(title))]);
    host.replace(home.store, &home.note(), text.as_bytes(), note::MODE, None)?;
    database.commit().or_else(|error| {
        host.replace(home.store, &home.note(), before.as_bytes(), note::MODE, Some(text.len() as u64))?;
        Err(error)
    })
}
