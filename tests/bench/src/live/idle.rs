//! What the server has resident for a session that rests.

use super::wire::Wire;
use crate::child::Used;
use crate::table::{Bar, Row};
use crate::tasks::Ground;
use crate::{Failed, say};
use sepia_scripted_agent::Script;
use serde_json::json;

/// Sessions that are live at once.
const SESSIONS: u64 = 50;
/// What one may have, MiB.
const BAR: u64 = 1;

impl Ground<'_> {
    pub(super) fn idle_sessions(&self) -> Result<Row, Failed> {
        say("live, sessions at rest: measuring");
        let (_, mut sepia) = self.agent_and_sepia(&Script::new())?;
        let mut server = Wire::start(&mut sepia)?;
        // The first brings in what all of them share.
        let first = self.create(&mut server)?;
        server.call("sessions.detach", &json!({ "id": first }))?;
        let before = server.resident()?;
        for _ in 0..SESSIONS {
            self.create(&mut server)?;
        }
        let live = server.call("events.subscribe", &json!({}))?;
        let differ = usize::from(live["live"].as_array().map(Vec::len) != Some(usize::try_from(SESSIONS)?));
        let each = server.resident()?.saturating_sub(before) / SESSIONS;
        let task = format!("live: {SESSIONS} sessions at rest, {} KiB each", each >> 10);
        let bar = Bar { peak: Some(BAR), ..Bar::default() };
        Ok(Row { task, sepia: Used { peak: each, ..Used::default() }, native: None, bar, differ })
    }
}
