//! Events that belong together, on their way to everyone who follows a session.

use super::event::SessionEvent;
use crate::plane::facts::Fact;
use std::sync::OnceLock;

/// What one thing that an agent said came to.
#[derive(Debug)]
pub struct Batch {
    /// The session.
    pub session_id: String,
    /// Its events, in order.
    pub events: Vec<SessionEvent>,
    /// What of it was stored, in order; it is on disk.
    pub facts: Vec<Fact>,
    /// Sequence of the last fact of the session when this was told.
    pub(super) place: u64,
    json: OnceLock<String>,
}

impl Batch {
    pub(super) fn new(session_id: String, events: Vec<SessionEvent>, facts: Vec<Fact>, place: u64) -> Self {
        Self { session_id, events, facts, place, json: OnceLock::new() }
    }

    /// The events as a JSON list on one line, written once however many follow.
    pub fn json(&self) -> &str {
        self.json.get_or_init(|| {
            let mut line = Vec::new();
            let written = serde::Serialize::serialize(&self.events, &mut crate::jsonrpc::serializer(&mut line));
            if let (Ok(()), Ok(line)) = (written, String::from_utf8(line)) {
                return line;
            }
            // Texts and numbers alone: it can't be.
            tracing::error!("events of a session could not be written out");
            "[]".to_owned()
        })
    }
}
