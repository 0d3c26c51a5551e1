//! Another title for a session: the record that the agent's own library writes.

use crate::place::{self, Located, STORE, Transcript};
use crate::save::closing::title_record;
use crate::save::record::Records;
use crate::save::target::MODE;
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::Host;

/// A longer file is no title file, bytes.
const LONGEST_TITLE_FILE: u32 = 64 << 10;

/// Gives a session another title.
pub(crate) fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
    let title = title.trim();
    if title.is_empty() || title.chars().any(char::is_control) {
        return Err(DriverError::new(ErrorCode::Invalid, "a title has one line and is not empty"));
    }
    let Located { file, inside } = place::locate(host, session)?;
    let transcript = Transcript::of(&file.path).ok_or_else(|| DriverError::unknown_session(&session.id))?;
    if inside.is_some() || transcript.is_agent() {
        let message = "this agent keeps no titles of sub-agents; rename the session that they work for";
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    let mut records = Records::default();
    title_record(&mut records, "custom-title", "customTitle", title, transcript.stem);
    let append = || host.append(STORE, &file.path, &records.bytes, file.bytes);
    // A title of its own file goes before that of the record, so it is written first: whoever is cut off has the one
    // title or the other.
    let Some(beside) = transcript.title_path() else { return append() };
    let before = match host.read(STORE, &beside, 0, LONGEST_TITLE_FILE) {
        Ok(before) => before,
        Err(e) if e.code == ErrorCode::NotFound => return append(),
        Err(e) => return Err(e),
    };
    let mut text = Records::default();
    text.json("{\"customTitle\":");
    text.string(title);
    text.json("}\n");
    host.replace(STORE, &beside, &text.bytes, MODE, Some(before.len() as u64))?;
    append().or_else(|error| {
        host.replace(STORE, &beside, &before, MODE, Some(text.bytes.len() as u64))?;
        Err(error)
    })
}
