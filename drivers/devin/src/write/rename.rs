//! Another title for a session: the column that the agent itself keeps titles in.

use super::target::Target;
use crate::place::Source;
use crate::session::{find, in_databases};
use crate::value::text;
use sepia_ir::{DriverError, ErrorCode, SessionRef};
use sepia_sdk::Host;
use sepia_sdk::carried::KEY;

/// A session that can be changed: the database that it is in, and its id there.
pub(crate) fn changeable(host: &Host, session: &SessionRef) -> Result<(Source, String), DriverError> {
    if let Some(found) = in_databases(host, |opened| find(opened, session))? {
        if found.listed.inside.is_some() {
            let message = "a sub-agent whose messages are among its session's is no session that the agent can change";
            return Err(DriverError::new(ErrorCode::Unsupported, message));
        }
        return Ok((found.opened.source, found.listed.session.id.clone()));
    }
    if session.agent_id.is_none() && crate::atif::files(host)?.contains_key(&session.id) {
        let message = "only a transcript is left of this session, which the agent does not read; it can't be changed";
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    Err(DriverError::unknown_session(&session.id))
}

pub(crate) fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
    let length = title.chars().count();
    if length == 0 || length > 200 || title.chars().any(char::is_control) {
        let message = "a title has 1 to 200 characters on one line; give another one";
        return Err(DriverError::new(ErrorCode::Invalid, message));
    }
    let (source, id) = changeable(host, session)?;
    let target = Target::open(host, source)?;
    if !target.shape.has("sessions", &["title"]) {
        let message = "this version of the agent keeps no titles; the session can't be renamed";
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    target.all_or_nothing(|| {
        let renamed =
            target.database.execute("UPDATE sessions SET title = ? WHERE id = ?", &[text(title), text(&id)])?;
        if renamed == 0 {
            return Err(DriverError::unknown_session(&id));
        }
        if target.shape.has("sessions", &["metadata"]) {
            // A title that rides along is none any more.
            let sql = "UPDATE sessions SET metadata = json_remove(metadata, ?) \
                       WHERE id = ? AND json_valid(metadata) AND json_extract(metadata, ?) IS NOT NULL";
            let place = text(&format!("$.\"{KEY}\".title"));
            target.database.execute(sql, &[place.clone(), text(&id), place])?;
        }
        Ok(())
    })
}
