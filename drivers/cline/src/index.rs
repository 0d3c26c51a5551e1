//! What is known of a transcript's nodes without their content: which message makes which
//! nodes, and what later messages tell of earlier ones.

use crate::changes;
use crate::pieces::Place;
use crate::result::Outcome;
use crate::time;
use sepia_ir::{MessageNode, Role, TokenUsage, ToolCallStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A message of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MessagePlan {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// First node that it makes, from 1.
    pub(crate) first: u32,
    pub(crate) nodes: u32,
}

/// What a later message tells of a call: position among the calls of its node, status, exit code.
pub(crate) type Told = (u32, bool, Option<i64>);

/// Tokens told elsewhere: input, output, read from and written to the cache, and the cost.
pub(crate) type Tokens = (f64, f64, Option<f64>, Option<f64>, Option<f64>);

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) messages: Vec<MessagePlan>,
    /// By the node of the call, from 1.
    pub(crate) outcomes: BTreeMap<u32, Vec<Told>>,
    /// By the node of the result, from 1: the node of its call, and the tool's name, empty when the
    /// result tells all by itself.
    pub(crate) calls: BTreeMap<u32, (u32, String)>,
    /// Epoch seconds of messages that don't tell their own, by position.
    pub(crate) times: BTreeMap<u32, f64>,
    /// Tokens of messages that don't tell their own, by position.
    pub(crate) tokens: BTreeMap<u32, Tokens>,
    /// Nodes whose message was there before: its tokens are counted already.
    pub(crate) repeated: Vec<u32>,
    /// Messages, from 0 on, that a compaction took from the model; those it kept are not listed.
    pub(crate) away: Vec<u32>,
    /// Parents of nodes that don't hang under the live one before them; 0 is no parent.
    pub(crate) parents: BTreeMap<u32, u32>,
    /// Nodes of branches that were left, rising.
    pub(crate) side: Vec<u32>,
    /// Time of the file, epoch seconds: no node is newer.
    pub(crate) file_time: f64,
    /// Nodes in all.
    pub(crate) total: u32,
}

impl Index {
    /// What a node hangs under: mostly the live node before it. Both are numbers from 1.
    pub(crate) fn parent_of(&self, node: u32) -> Option<u32> {
        match self.parents.get(&node) {
            Some(parent) => (*parent > 0).then_some(*parent),
            None if self.is_side(node) => (node > 1).then(|| node - 1),
            None => self.live_before(node),
        }
    }

    fn is_side(&self, node: u32) -> bool {
        self.side.binary_search(&node).is_ok()
    }

    fn live_before(&self, node: u32) -> Option<u32> {
        (1..node).rev().find(|before| !self.is_side(*before))
    }

    /// The tip of the live branch; 0 when there are no nodes.
    pub(crate) fn tip(&self) -> u32 {
        self.live_before(self.total.saturating_add(1)).unwrap_or(self.total)
    }

    /// The live branch, rising; none when that is every node.
    pub(crate) fn live(&self) -> Option<Vec<u32>> {
        if self.parents.is_empty() && self.side.is_empty() {
            return None;
        }
        let mut live = Vec::new();
        let mut next = Some(self.tip()).filter(|tip| *tip > 0);
        // Parents come before their children, so that any input ends.
        while let Some(node) = next {
            live.push(node);
            next = self.parent_of(node).filter(|parent| *parent < node);
        }
        live.reverse();
        Some(live)
    }

    /// Position of the message that makes a node, from 1.
    pub(crate) fn message_of(&self, node: u32) -> usize {
        self.messages.partition_point(|message| message.first <= node).saturating_sub(1)
    }

    /// Completes a node with what was known when its message was met.
    pub(crate) fn complete_early(&self, node: &mut MessageNode, message: u32) {
        if !self.side.is_empty() || !self.parents.is_empty() {
            node.parent_node_id = self.parent_of(number(node)).map(i64::from);
        }
        if let Some(time) = self.times.get(&message) {
            node.created_at = *time;
        }
        node.created_at = time::not_after(node.created_at, self.file_time).0;
        if node.role != Role::Assistant {
            return;
        }
        if let Some((input, output, cache_read, cache_write, cost)) = self.tokens.get(&message).copied() {
            let usage = TokenUsage { input, output, cache_read, cache_write, thinking: None, cost };
            node.usage = node.usage.or(Some(usage));
        }
        if self.repeated.binary_search(&number(node)).is_ok() && node.usage.take().is_some() {
            flag(&mut node.metadata, "usageCountedElsewhere");
        }
    }

    /// Completes a node with what later messages, and other files, tell of it.
    pub(crate) fn complete_late(&self, node: &mut MessageNode, message: u32) {
        let id = number(node);
        for (position, failed, exit_code) in self.outcomes.get(&id).into_iter().flatten() {
            let Some(call) = node.tool_calls.get_mut(*position as usize) else { continue };
            call.status = Some(if *failed { ToolCallStatus::Error } else { ToolCallStatus::Success });
            call.exit_code = *exit_code;
            if !*failed {
                call.diffs = changes::diffs(&call.name, &call.arguments);
            }
        }
        if let Some((_, name)) = self.calls.get(&id).filter(|(_, name)| node.tool_name.is_none() && !name.is_empty()) {
            node.tool_name = Some(name.clone());
        }
        if self.away.binary_search(&message).is_ok() {
            flag(&mut node.metadata, "compactedAway");
        }
    }

    /// Notes what became of a call; a later answer of the same call wins.
    pub(crate) fn note(&mut self, node: u32, position: u32, outcome: Outcome) {
        let told = self.outcomes.entry(node).or_default();
        told.retain(|(known, ..)| *known != position);
        told.push((position, outcome.status == ToolCallStatus::Error, outcome.exit_code));
    }
}

/// A node's id, which starts at 1.
pub(crate) fn number(node: &MessageNode) -> u32 {
    u32::try_from(node.node_id).unwrap_or(u32::MAX)
}

/// Sets a flag in an object of JSON text.
fn flag(metadata: &mut String, name: &str) {
    if metadata.ends_with('}') && metadata.len() > 2 {
        metadata.pop();
        metadata.push_str(",\"");
    } else {
        metadata.clear();
        metadata.push_str("{\"");
    }
    metadata.push_str(name);
    metadata.push_str("\":true}");
}

/// A transcript and what it is to be read with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Source {
    pub(crate) place: Place,
    pub(crate) dialect: Dialect,
    /// Time of the file, epoch seconds.
    pub(crate) file_time: f64,
    /// Told of the messages in another file.
    pub(crate) times: BTreeMap<u32, f64>,
    pub(crate) tokens: BTreeMap<u32, Tokens>,
    /// Messages, by id, that a compaction kept, and how many it looked at.
    pub(crate) compaction: Option<Compacted>,
    /// What tells that any of the files changed.
    pub(crate) stamp: String,
}

/// What a compaction left the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Compacted {
    /// Messages that were there.
    pub(crate) messages: u32,
    /// The last of them, when it has an id.
    pub(crate) last: Option<String>,
    /// Ids of those that it kept as they are.
    pub(crate) kept: std::collections::HashSet<String>,
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// Session folders.
    #[default]
    Session,
    /// What a task sent to the model.
    Task,
    /// What a task showed to the person.
    Shown,
}
