//! `meta.json` beside a chat: what the agent lists it by.

use super::home::Home;
use crate::json::{Object, decoded};
use crate::key::Kind;
use sepia_ir::{DriverError, ErrorCode, Session};
use sepia_sdk::Host;
use sepia_sdk::metadata::string;

/// Longer files are not taken for it.
const LONGEST: u32 = 256 << 10;
/// Only for the person who owns the chat.
pub(crate) const MODE: u32 = 0o600;

/// Its text; none when it is not there.
pub(crate) fn read(host: &Host, home: &Home) -> Result<Option<String>, DriverError> {
    match host.read(home.store, &home.note(), 0, LONGEST) {
        Ok(bytes) => Ok(Some(decoded(&bytes).0.into_owned())),
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A JSON object with these members set, all others as they stand. What is no object is written anew.
pub(crate) fn with(document: &str, members: &[(&str, String)]) -> String {
    let object = Object::parse(document).unwrap_or_default();
    let mut text = String::from("{");
    let mut push = |key: &str, json: &str| {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&string(key));
        text.push(':');
        text.push_str(json);
    };
    for (key, json) in object.iter() {
        push(key, members.iter().find(|(name, _)| *name == key).map_or(json, |(_, json)| json));
    }
    for (key, json) in members.iter().filter(|(name, _)| object.get(name).is_none()) {
        push(key, json);
    }
    text.push('}');
    text
}

/// The note of a session that is written; `before` is what stands there. Times are epoch milliseconds.
pub(crate) fn of(home: &Home, header: &Session, cwd: &str, created: u64, updated: u64, before: Option<&str>) -> String {
    let title = (!header.title.is_empty()).then(|| ("title", string(&header.title)));
    let mut members = vec![("schemaVersion", "1".to_owned())];
    if home.kind == Kind::Acp {
        members.push(("cwd", string(cwd)));
        members.extend(title);
    } else {
        members.push(("createdAtMs", created.to_string()));
        members.push(("hasConversation", "true".to_owned()));
        members.extend(title);
        members.push(("updatedAtMs", updated.to_string()));
        members.push(("cwd", string(cwd)));
    }
    with(before.unwrap_or("{}"), &members)
}
