//! What the header of a session that came from elsewhere carries in the `metadata` of its
//! manifest, which the agent keeps.
//!
//! ```text
//! "sepia": {
//!   "session": {…},     members of the session, as `sepia_sdk::carried` has them
//!   "metadata": {…},    members of its metadata
//!   "title": "…",       the title, and
//!   "endedAt": "…"      the end, that stood in the manifest when it was written
//! }
//! ```
//!
//! What the agent or a person changed since then counts, and not what was carried.

use crate::about::Parts;
use crate::facts::Facts;
use crate::time;
use sepia_ir::{Json, Session};
use sepia_sdk::json::{Object, Raw, Str, members, parse, part};
use sepia_sdk::metadata::Members;
use sepia_sdk::one_line;

members! {
    Record {
        session: Raw<'a> = "session",
        metadata: Raw<'a> = "metadata",
        title: Str<'a> = "title",
        ended: Str<'a> = "endedAt",
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct CarriedHeader {
    json: String,
    /// The title is still the one that was written.
    same_title: bool,
    /// Nobody went on with the session.
    same_end: bool,
    /// When the manifest was written, epoch seconds.
    file_time: f64,
}

impl CarriedHeader {
    /// Of what stands in a manifest that tells these facts.
    pub(crate) fn new(json: &str, facts: &Facts, file_time: f64) -> Self {
        let record = parse::<Record<'_>>(json).unwrap_or_default();
        let ended = record.ended.get().and_then(time::of_text);
        Self {
            json: json.to_owned(),
            same_title: record.title.get() == facts.meta.title.as_deref(),
            same_end: ended.is_some() && ended == facts.ended,
            file_time,
        }
    }

    /// Puts it on the session.
    pub(crate) fn put_on(&self, session: &mut Session, parts: Parts) {
        let record = parse::<Record<'_>>(&self.json).unwrap_or_default();
        let mut kept = Members::default();
        for (key, value) in &part::<Object<'_>>(record.session).0 {
            let counts = match key.as_ref() {
                "title" => self.same_title,
                "agentMode" | "model" | "lastActivityAt" => self.same_end,
                "promptHistory" => self.same_end && parts.prompts,
                "checkpoints" => self.same_end && parts.checkpoints,
                "cogsJson" | "workspaceDirs" => is_list(value.get()),
                "createdAt" | "shellLastSeenIndex" | "hidden" => true,
                _ => false,
            };
            if counts {
                kept.raw(key, value.get());
            }
        }
        let native = (session.title.clone(), std::mem::replace(&mut session.metadata, sepia_ir::json_text::null()));
        sepia_sdk::carried::restore_session(session, &kept.finish());
        session.title = Some(one_line(&session.title)).filter(|title| !title.is_empty()).unwrap_or(native.0);
        session.last_activity_at = time::not_after(session.last_activity_at, self.file_time).0;
        session.created_at = session.created_at.min(session.last_activity_at);
        session.metadata = match record.metadata {
            Some(carried) => merged(&native.1, carried.get(), self.same_end),
            None => native.1,
        };
    }
}

/// Whether a JSON string holds the JSON text of a list.
fn is_list(json: &str) -> bool {
    let text = parse::<Str<'_>>(json).unwrap_or_default();
    text.get().is_some_and(|text| text.starts_with('[') && parse::<&serde_json::value::RawValue>(text).is_ok())
}

/// Metadata of the store with what is carried; which of two members of one name counts is told.
fn merged(native: &str, carried: &str, carried_counts: bool) -> Json {
    let (own, other) = (parse::<Object<'_>>(native), parse::<Object<'_>>(carried));
    let (Ok(own), Ok(other)) = (own, other) else { return native.to_owned() };
    if !carried.starts_with('{') {
        return if carried_counts && carried != "null" {
            sepia_sdk::metadata::clean(carried).into_owned()
        } else {
            native.to_owned()
        };
    }
    let mut members = Members::default();
    for (key, value) in &own.0 {
        if !carried_counts || other.get(key).is_none() {
            members.raw(key, value.get());
        }
    }
    for (key, value) in &other.0 {
        if carried_counts || own.get(key).is_none() {
            members.raw(key, value.get());
        }
    }
    members.finish()
}

/// The JSON object of what has to be carried, so that the session is `wanted` when a manifest that
/// tells `native` is read.
pub(crate) fn difference(wanted: &Session, native: &Session, title: Option<&str>, ended: &str) -> Option<String> {
    let metadata = difference_of_metadata(&wanted.metadata, &native.metadata);
    let bare = |session: &Session| Session { metadata: sepia_ir::json_text::null(), ..session.clone() };
    let session = sepia_sdk::carried::difference_of_session(&bare(wanted), &bare(native));
    if metadata.is_none() && session.is_none() {
        return None;
    }
    let mut members = Members::default();
    if let Some(session) = session {
        members.raw("session", &session);
    }
    if let Some(metadata) = metadata {
        members.raw("metadata", &metadata);
    }
    if let Some(title) = title {
        members.text("title", title);
    }
    members.text("endedAt", ended);
    Some(members.finish())
}

fn difference_of_metadata(wanted: &str, native: &str) -> Option<String> {
    if !wanted.starts_with('{') {
        return Some(wanted.to_owned()).filter(|wanted| wanted != "null");
    }
    let (wanted, native) = (parse::<Object<'_>>(wanted).ok()?, parse::<Object<'_>>(native).unwrap_or_default());
    let mut members = Members::default();
    for (key, value) in &wanted.0 {
        if native.get(key).is_none_or(|native| native.get() != value.get()) {
            members.raw(key, value.get());
        }
    }
    Some(members.finish()).filter(|json| json != "null")
}
