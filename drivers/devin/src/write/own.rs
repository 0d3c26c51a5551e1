//! What the metadata of a node tells of the row that it was read from, when it was one of this
//! agent: so a copy of a session has the same ids and the same notes.

use super::id::is_uuid;
use crate::draft::PLACED;
use sepia_sdk::carried::KEY;
use sepia_sdk::json::{Flag, Number, Object, Raw, Str, Whole, members, parse, part};
use sepia_sdk::metadata::Members;

members! {
    Told {
        message_id: Str<'a> = "messageId",
        written_at: Number = "writtenAt",
        typed: Flag = "isUserInput",
        acu_cost: Number = "acuCost",
        extensions: Object<'a> = "extensions",
        prefix: Flag = "isSystemPrefix",
        summarized_from: Whole = "summarizedFrom",
        prior: Raw<'a> = "priorNodeIds",
        twin: Whole = "twin",
        agent_session: Str<'a> = "agentSession",
    }
}

/// See the module. Nothing of a node of another agent, whose metadata may have the same names
/// for other things: only this agent's messages have a UUID.
#[derive(Debug, Default)]
pub(crate) struct Own {
    pub(crate) message_id: Option<String>,
    pub(crate) written_at: Option<f64>,
    pub(crate) typed: bool,
    pub(crate) acu_cost: Option<f64>,
    /// Extensions that have no place of their own, name and JSON text.
    pub(crate) extensions: Vec<(String, String)>,
    pub(crate) prefix: bool,
    pub(crate) summarized_from: Option<i64>,
    /// JSON text.
    pub(crate) prior: Option<String>,
    pub(crate) twin: Option<i64>,
    /// Name of a sub-agent among the nodes of the session, and the tip of its chain.
    pub(crate) agent: Option<(String, i64)>,
}

impl Own {
    pub(crate) fn of(metadata: &str) -> Self {
        // Nearly all nodes of other agents are told by this.
        if !metadata.contains("\"messageId\"") {
            return Self::default();
        }
        let mut told: Told<'_> = parse(metadata).unwrap_or_default();
        let message_id = told.message_id.take_owned().filter(|id| is_uuid(id));
        if message_id.is_none() {
            return Self::default();
        }
        let is_own = |name: &str, value: &str| {
            // A note of the size of what was too long to be told.
            let is_note = value.starts_with("{\"bytes\":") && !value.contains(',');
            !PLACED.contains(&name) && name != KEY && !is_note
        };
        let agent = told.agent_session.filled().and_then(|_| {
            let name = part::<Str<'_>>(told.extensions.get("subagent/agent_id")).take_owned()?;
            Some((name, part::<Whole>(told.extensions.get("subagent/chain_node_id")).0?))
        });
        let extensions = told.extensions.0.iter().filter(|(name, value)| is_own(name, value.get()));
        Self {
            message_id,
            written_at: told.written_at.0.filter(|time| time.fract() == 0.0 && *time > 0.0 && *time < 9e15),
            typed: told.typed.0,
            acu_cost: told.acu_cost.0,
            extensions: extensions.map(|(name, value)| (name.to_string(), value.get().to_owned())).collect(),
            prefix: told.prefix.0,
            summarized_from: told.summarized_from.0,
            prior: told.prior.map(|prior| prior.get().to_owned()),
            twin: told.twin.0,
            agent,
        }
    }

    /// Whether the node was one of this agent.
    pub(crate) fn is_own(&self) -> bool {
        self.message_id.is_some()
    }

    /// `metadata` of the row; none for most. Answers of the model have an object, which tells them from
    /// the rows that an importer writes twice, see [`crate::facts`].
    pub(crate) fn marks(&self, is_answer: bool) -> Option<String> {
        let plain = !self.prefix && self.summarized_from.is_none() && self.prior.is_none();
        if plain && (!is_answer || self.twin.is_some()) {
            return None;
        }
        let mut marks = Members::default();
        match self.summarized_from {
            Some(node) => marks.number("summarized_from", node),
            None => marks.raw("summarized_from", "null"),
        }
        marks.raw("num_tokens_preceding", "null");
        marks.raw("is_system_prefix", if self.prefix { "true" } else { "null" });
        if let Some(prior) = &self.prior {
            let mut extensions = Members::default();
            extensions.raw("compact/prior_node_ids", prior);
            marks.raw("extensions", &extensions.finish());
        }
        Some(marks.finish())
    }
}
