//! The notifications of this wire.

use crate::jsonrpc::serializer;
use crate::plane::{Batch, DetachReason, Fact, SessionEvent};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// `session.event`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionEventParams<'a> {
    pub(super) session_id: &'a str,
    /// One batch.
    #[schemars(with = "Vec<SessionEvent>")]
    pub(super) events: Events<'a>,
    /// So many batches were dropped, since the receiver fell behind; `events` is then empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lagged: Option<u64>,
    /// What is stored of the batch; for who subscribed with `after`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<StoredEvent>>")]
    pub(super) facts: Vec<StoredEvent<'a>>,
    /// These facts are no longer kept; for who subscribed with `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gap: Option<Gap>,
}

/// A list of events that is written already, or one that is empty.
#[derive(Debug)]
pub(super) struct Events<'a>(pub(super) Option<&'a str>);

impl Serialize for Events<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(self.0.unwrap_or("[]"))
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

/// Facts of a session that are no longer kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Gap {
    /// Sequence of the first.
    pub(super) from: u64,
    /// Sequence of the last.
    pub(super) to: u64,
}

/// Something that happened in a live session, as it is stored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredEvent<'a> {
    /// Its place in its session: 1, 2, 3, … without a hole, over restarts and rewinds.
    sequence: u64,
    /// Sorts by time.
    id: &'a str,
    /// Epoch milliseconds.
    ts: i64,
    /// `inputMessage`, `runStarted`, `messageComplete`, `toolCallStarted`, `toolCallEnded`,
    /// `toolCallResult`, `permissionAsked`, `permissionAnswered`, `runFinished`, `rewound`.
    #[serde(rename = "type")]
    kind: &'a str,
    /// The turn that it happened in.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<&'a str>,
    /// Raised with every rewind of the session.
    generation: u32,
    /// What there is to it.
    #[schemars(with = "serde_json::Value")]
    data: Cow<'a, RawValue>,
}

impl<'a> From<&'a Fact> for StoredEvent<'a> {
    fn from(fact: &'a Fact) -> Self {
        let data = match serde_json::from_str::<&RawValue>(&fact.data) {
            Ok(data) => Cow::Borrowed(data),
            // The log takes nothing but JSON.
            Err(_) => Cow::Owned(RawValue::NULL.to_owned()),
        };
        Self {
            sequence: fact.sequence,
            id: &fact.id,
            ts: fact.at,
            kind: &fact.kind,
            turn_id: fact.turn.as_deref(),
            generation: fact.generation,
            data,
        }
    }
}

/// `node.event`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum NodeEventParams<'a> {
    /// A stored session went live.
    Attached { session_id: &'a str, agent_id: &'a str },
    /// A fresh session was created live.
    Created { session_id: &'a str, agent_id: &'a str, cwd: &'a str },
    /// It is live no more; always the last event of a session.
    Detached { session_id: &'a str, agent_id: &'a str, reason: DetachReason },
    /// It was deleted from its store.
    Deleted { session_id: &'a str, agent_id: &'a str },
    /// The batches that `session.event` carries.
    SessionEvents {
        session_id: &'a str,
        #[schemars(with = "Vec<SessionEvent>")]
        events: Events<'a>,
    },
    /// So many batches were dropped; without a session: the feed as a whole overflowed.
    Lagged { session_id: Option<&'a str>, count: u64 },
}

/// The line of a batch of a session, for who follows without a place: the events are written once
/// for all of them.
pub(super) fn plain_batch(batch: &Batch) -> Vec<u8> {
    let json = batch.json();
    let mut line = Vec::with_capacity(json.len() + batch.session_id.len() + 96);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"#);
    put_text(&mut line, &batch.session_id);
    line.extend_from_slice(br#","events":"#);
    line.extend_from_slice(json.as_bytes());
    line.extend_from_slice(b"}}");
    line
}

/// The same on the feed of the node.
pub(super) fn node_batch(batch: &Batch) -> Vec<u8> {
    let json = batch.json();
    let mut line = Vec::with_capacity(json.len() + batch.session_id.len() + 112);
    line.extend_from_slice(br#"{"jsonrpc":"2.0","method":"node.event","params":{"type":"sessionEvents","sessionId":"#);
    put_text(&mut line, &batch.session_id);
    line.extend_from_slice(br#","events":"#);
    line.extend_from_slice(json.as_bytes());
    line.extend_from_slice(b"}}");
    line
}

fn put_text(line: &mut Vec<u8>, text: &str) {
    let before = line.len();
    if text.serialize(&mut serializer(&mut *line)).is_err() {
        line.truncate(before);
        line.extend_from_slice(b"\"\"");
    }
}
