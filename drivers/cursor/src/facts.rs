//! What one look through all messages of a session tells: counts, outcomes, prompts, the tip.

use crate::outcome::Outcome;
use crate::step::{Chain, Feed, Step};
use sepia_ir::{CheckpointRef, DriverError, PromptHistoryEntry, Role, ToolCallStatus, Warning};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// `metadata.stats` of a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stats {
    /// Typed prompts, model messages and tool results.
    pub(crate) messages: u64,
    pub(crate) user_prompts: u64,
    pub(crate) assistant_messages: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tool_results: u64,
    pub(crate) tool_errors: u64,
    /// Absent where the agent keeps no record of what was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Tokens>,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) input: f64,
    pub(crate) output: f64,
    pub(crate) cache_read: f64,
    pub(crate) cache_write: f64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) stats: Stats,
    /// Id of the last node of the live branch; 0 when there is none.
    pub(crate) tip: i64,
    /// Parent of each node.
    parents: Vec<Option<i64>>,
    pub(crate) prompts: Vec<PromptHistoryEntry>,
    pub(crate) checkpoints: Vec<CheckpointRef>,
    pub(crate) warnings: Vec<Warning>,
    /// Nodes before each message.
    starts: Vec<i64>,
    /// Time of each node.
    times: Vec<f64>,
    /// What became of each call, with the node that says so: an id may be used again.
    outcomes: HashMap<String, Vec<(i64, Outcome)>>,
    names: HashMap<String, String>,
    /// Messages that make a call.
    callers: HashMap<String, Vec<usize>>,
}

impl Facts {
    /// Looks through a session that began and was last active at these times.
    pub(crate) fn gather(feed: Box<dyn Feed>, start: f64, end: f64) -> Result<Self, DriverError> {
        let mut facts = Self::default();
        let mut warnings = Vec::new();
        let mut chain = Chain::new(feed, Rc::default(), start, end);
        while let Some(steps) = chain.message(&mut warnings)? {
            facts.starts.push(facts.total());
            for step in steps {
                facts.take(step);
            }
        }
        let stats = &mut facts.stats;
        stats.messages = stats.user_prompts + stats.assistant_messages + stats.tool_results;
        facts.warnings = warnings;
        Ok(facts)
    }

    /// The messages that make these nodes (from 1, `end` is no longer one of them), and how many
    /// nodes come before them.
    pub(crate) fn messages(&self, start: i64, end: i64) -> (Range<usize>, i64) {
        // The last message with so few nodes before it makes the first of them.
        let first = self.starts.partition_point(|before| *before < start).saturating_sub(1);
        let last = self.starts.partition_point(|before| *before < end - 1);
        (first..last.max(first), self.starts.get(first).copied().unwrap_or_default())
    }

    /// The messages that make a call.
    pub(crate) fn callers(&self, call: &str) -> &[usize] {
        self.callers.get(call).map_or(&[], Vec::as_slice)
    }

    /// Nodes before a message.
    pub(crate) fn before(&self, message: usize) -> i64 {
        self.starts.get(message).copied().unwrap_or_default()
    }

    /// When a node was made.
    pub(crate) fn time(&self, node_id: i64) -> Option<f64> {
        self.times.get(usize::try_from(node_id - 1).ok()?).copied()
    }

    /// Number of nodes.
    pub(crate) fn total(&self) -> i64 {
        i64::try_from(self.parents.len()).unwrap_or(i64::MAX)
    }

    /// Parent of a node; none of a root, and of a node that there is not.
    pub(crate) fn parent(&self, node_id: i64) -> Option<i64> {
        *self.parents.get(usize::try_from(node_id - 1).ok()?)?
    }

    /// The nodes of the live branch in order; none when that is all of them.
    pub(crate) fn live(&self) -> Option<Vec<i64>> {
        let mut live = Vec::new();
        let mut next = Some(self.tip).filter(|tip| *tip > 0);
        // A parent always comes before its child.
        while let Some(node) = next {
            live.push(node);
            next = self.parent(node).filter(|parent| *parent < node);
        }
        live.reverse();
        (live.len() != self.parents.len()).then_some(live)
    }

    /// What became of a call that a node made: what is said first after it.
    pub(crate) fn outcome(&self, call: &str, node_id: i64) -> Option<Outcome> {
        let told = self.outcomes.get(call)?;
        told.iter().find(|(at, _)| *at > node_id).or(told.last()).map(|(_, outcome)| *outcome)
    }

    /// The tool that a call is of.
    pub(crate) fn tool_name(&self, call: &str) -> Option<&str> {
        self.names.get(call).map(String::as_str)
    }

    fn take(&mut self, step: Step) {
        let Step { node, prompt, checkpoint, branch, .. } = step;
        self.parents.push(node.parent_node_id);
        if branch.is_none() {
            self.tip = node.node_id;
        }
        self.times.push(node.created_at);
        let stats = &mut self.stats;
        if let Some(content) = prompt {
            stats.user_prompts += 1;
            let timestamp = (node.created_at * 1000.0).round();
            self.prompts.push(PromptHistoryEntry { content, timestamp, is_shell: false });
        }
        if let Some(ref_) = checkpoint {
            let created_at = (node.created_at * 1000.0).round();
            let kind = Some("cursor-checkpoint".to_owned());
            self.checkpoints.push(CheckpointRef { ref_, created_at, kind, ..CheckpointRef::default() });
        }
        if node.role == Role::Assistant {
            stats.assistant_messages += 1;
        }
        for call in node.tool_calls {
            stats.tool_calls += 1;
            self.callers.entry(call.id.clone()).or_default().push(self.starts.len() - 1);
            self.names.insert(call.id, call.name);
        }
        if let Some(usage) = node.usage {
            let sum = stats.usage.get_or_insert_default();
            sum.input += usage.input;
            sum.output += usage.output;
            sum.cache_read += usage.cache_read.unwrap_or_default();
            sum.cache_write += usage.cache_write.unwrap_or_default();
        }
        if let (Some(id), Some(result)) = (node.tool_call_id, node.tool_result) {
            stats.tool_results += 1;
            stats.tool_errors += u64::from(result.status == ToolCallStatus::Error);
            let outcome =
                Outcome { status: result.status, exit_code: result.exit_code, duration_ms: result.duration_ms };
            self.outcomes.entry(id).or_default().push((node.node_id, outcome));
        }
    }
}
