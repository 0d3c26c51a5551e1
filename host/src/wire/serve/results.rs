//! What the methods answer, where it is not a value of the plane or of the IR.

use super::events::StoredEvent;
use crate::home::Node;
use crate::plane::{LossCounts, PlaneConfig, Resume, Saved, ToldLoss, TurnEnd};
use schemars::JsonSchema;
use sepia_ir::Session;
use serde::Serialize;

/// `manifest`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServiceManifest {
    /// `sepia`
    pub(super) name: &'static str,
    /// Version of the program.
    pub(super) version: &'static str,
    /// Version of this wire, raised with every breaking change.
    pub(super) protocol: u32,
    /// This machine.
    pub(super) node: Node,
    /// What the environment and the defaults made of the settings.
    pub(super) config: PlaneConfig,
    /// The methods that are available.
    pub(super) methods: Vec<&'static str>,
}

/// `sessions.export`: a session to carry elsewhere. Only its schema is made from this; the
/// session itself is written as it is read.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Bundle {
    /// The whole session.
    session: Session,
}

/// `sessions.convert`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Converted {
    /// Id of the copy, in the form of its agent. After a dry run, one that it might have.
    session_id: String,
    /// The agent that has it.
    agent_id: String,
    /// What resumes it.
    resume: Resume,
    /// What its agent can't hold as it was, at most 500 of it.
    losses: Vec<ToldLoss>,
    /// How much that is.
    loss_counts: LossCounts,
    /// What a person should know.
    warnings: Vec<String>,
    /// Nothing was written.
    dry_run: bool,
}

impl From<Saved> for Converted {
    fn from(saved: Saved) -> Self {
        let Saved { id: session_id, agent_id, resume, losses, loss_counts, warnings, dry_run } = saved;
        Self { session_id, agent_id, resume, losses, loss_counts, warnings, dry_run }
    }
}

/// `sessions.rename`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Renamed {
    /// The title as it was written.
    pub(super) title: String,
}

/// `sessions.prompt`: the turn is over.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompted {
    /// `end_turn`, `cancelled`, `max_tokens`, `max_turn_requests`, `refusal`; agents may have others.
    stop_reason: String,
    /// Tokens of the turn, where the agent tells, as it tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<serde_json::Value>,
}

impl From<TurnEnd> for Prompted {
    fn from(end: TurnEnd) -> Self {
        Self { stop_reason: end.stop_reason, usage: end.usage }
    }
}

/// `sessions.subscribe`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscribed {
    /// `true`
    pub(super) subscribed: bool,
    /// The session.
    pub(super) session_id: String,
}

/// `events.subscribe`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SubscribedNode<'a> {
    /// `true`
    pub(super) subscribed: bool,
    /// Sessions that are live.
    pub(super) live: &'a [String],
}

/// `sessions.events`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StoredEvents<'a> {
    /// Oldest first; their sequences follow each other without a hole.
    pub(super) events: Vec<StoredEvent<'a>>,
    /// Newest sequence of the session; 0 when nothing happened yet.
    pub(super) last: u64,
    /// Oldest sequence that is still kept; 0 when none is.
    pub(super) first: u64,
}

/// `trash.empty`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Emptied {
    /// Entries that are gone for good.
    pub(super) emptied: usize,
}
