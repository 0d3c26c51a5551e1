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
    database.commit()?;
    drop(database);
    // The list goes by the file where there is one, so it is written last.
    let Some(before) = before else { return Ok(()) };
    let text = note::with(&before, &[("title", string(title))]);
    host.replace(home.store, &home.note(), text.as_bytes(), note::MODE, None)
}
