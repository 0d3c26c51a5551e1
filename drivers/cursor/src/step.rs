//! Messages on their way to becoming nodes, whichever space of the store they come from.

use crate::facts::Facts;
use crate::outcome::Outcome;
use crate::saved::Under;
use sepia_ir::{DriverError, MessageNode, Warning};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// One node without its place in the tree.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its id and parent are given later.
    pub(crate) node: MessageNode,
    /// Epoch seconds, when it has a time of its own.
    pub(crate) at: Option<f64>,
    /// What a person typed.
    pub(crate) prompt: Option<String>,
    /// The state of the files that was kept before it.
    pub(crate) checkpoint: Option<String>,
    /// The request that it begins or belongs to, as the agent has it.
    pub(crate) request: Option<String>,
    /// Which of the nodes that were saved together it is.
    pub(crate) saved: Option<u32>,
    /// It is on a branch that was left, under this one of the saved nodes.
    pub(crate) branch: Option<Under>,
    /// What rides along with it.
    pub(crate) carried: Option<String>,
}

impl Step {
    pub(crate) fn new(node: MessageNode) -> Self {
        Self { node, at: None, prompt: None, checkpoint: None, request: None, saved: None, branch: None, carried: None }
    }
}

/// Part of a feed: some messages passed over, and no more than so many read.
pub(crate) struct Part {
    feed: Box<dyn Feed>,
    before: usize,
    left: usize,
}

impl Part {
    /// The messages of this range.
    pub(crate) fn of(feed: Box<dyn Feed>, range: &Range<usize>) -> Box<dyn Feed> {
        if *range == ALL {
            return feed;
        }
        Box::new(Self { feed, before: range.start, left: range.len() })
    }
}

impl Feed for Part {
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError> {
        while self.before > 0 {
            self.before -= 1;
            if !self.feed.next(&mut Vec::new(), &mut Vec::new())? {
                return Ok(false);
            }
        }
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        self.feed.next(out, warnings)
    }
}

/// Every message of a session.
pub(crate) const ALL: Range<usize> = 0..usize::MAX;

/// The elements of a list that a range of messages are.
pub(crate) fn within<'a, T>(list: &'a [T], range: &Range<usize>) -> &'a [T] {
    let end = range.end.min(list.len());
    &list[range.start.min(end)..end]
}

/// A session's messages, read one after another.
pub(crate) trait Feed {
    /// Adds the nodes of the next message, if it makes any; false at the end. What is passed
    /// over or repaired becomes a warning.
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError>;
}

/// `metadata` of a node: what has no field of its own.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeMeta {
    /// Id of the blob that the message is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blob: Option<String>,
    /// Id of the bubble.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bubble: Option<String>,
    /// `context`, `summary` or `simulated`: a user message that no person typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    /// The message was taken out of the model's view by a compaction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) archived: bool,
    /// What stands in the store around or beside what was typed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original: Option<Box<RawValue>>,
    /// The typed text stands in the store in its usual wrapping.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) wrapped: bool,
    /// The agent's name of a tool's outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw_error_messages: Option<Box<RawValue>>,
    /// Session of the sub-agent that a call started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server_bubble_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking_duration_ms: Option<f64>,
    /// Parts that are not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) opaque_parts: Vec<Box<RawValue>>,
    /// Content of another shape than any known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opaque_content: Option<Box<RawValue>>,
    /// A message too long to be read: its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) too_long: Option<u64>,
}

impl NodeMeta {
    /// As JSON text; `null` when there is nothing to tell.
    pub(crate) fn json(&self) -> String {
        match serde_json::to_string(self) {
            Ok(text) if text != "{}" => text,
            // A struct of plain members always has a JSON form.
            _ => sepia_ir::json_text::null(),
        }
    }
}

/// Numbers the nodes of a feed, chains them, and gives them their times.
pub(crate) struct Chain {
    feed: Box<dyn Feed>,
    facts: Rc<Facts>,
    /// What rides along is put back.
    restores: bool,
    node_id: i64,
    /// The last node of the live branch.
    live: Option<i64>,
    /// Nodes that were saved together, as far as there are branches.
    saved: HashMap<u32, i64>,
    /// Time of the nodes that have none: that of the one before.
    now: f64,
    latest: f64,
}

impl Chain {
    /// `start` and `end` are the times of the session; `facts` may be empty, and then no outcomes
    /// are told on calls.
    pub(crate) fn new(feed: Box<dyn Feed>, facts: Rc<Facts>, start: f64, end: f64) -> Self {
        let restores = facts.total() > 0;
        Self { feed, facts, restores, node_id: 0, live: None, saved: HashMap::new(), now: start, latest: end }
    }

    /// Of a session that was not looked through before, with what rides along.
    pub(crate) fn in_one_look(feed: Box<dyn Feed>) -> Self {
        Self { restores: true, ..Self::new(feed, Rc::default(), 0.0, 0.0) }
    }

    /// From a message on before which there are so many nodes.
    pub(crate) fn after(feed: Box<dyn Feed>, facts: Rc<Facts>, nodes: i64) -> Self {
        Self { node_id: nodes, ..Self::new(feed, facts, 0.0, 0.0) }
    }

    /// The nodes of the next messages, in order; none at the end.
    pub(crate) fn next(&mut self, warnings: &mut Vec<Warning>) -> Result<Vec<Step>, DriverError> {
        loop {
            match self.message(warnings)? {
                Some(steps) if steps.is_empty() => {}
                steps => return Ok(steps.unwrap_or_default()),
            }
        }
    }

    /// The nodes of the next message, if it makes any; none at the end.
    pub(crate) fn message(&mut self, warnings: &mut Vec<Warning>) -> Result<Option<Vec<Step>>, DriverError> {
        let mut steps = Vec::new();
        if !self.feed.next(&mut steps, warnings)? && steps.is_empty() {
            return Ok(None);
        }
        for step in &mut steps {
            self.place(step);
            self.restore(step, warnings);
        }
        Ok(Some(steps))
    }

    /// Puts back what rides along. On the first look through a session only whether that can be
    /// done is looked at.
    fn restore(&self, step: &mut Step, warnings: &mut Vec<Warning>) {
        let Some(carried) = step.carried.take() else { return };
        let restored = if self.restores {
            sepia_sdk::carried::restore(&mut step.node, &carried)
        } else {
            crate::json::Object::parse(&carried).is_some()
        };
        if !restored {
            let message =
                format!("what was kept beside node {} is of no known shape and was passed over", step.node.node_id);
            warnings.push(Warning::new("broken-note", message).passing_over(carried.len() as u64));
        }
    }

    /// The node's id and parent.
    fn hang(&mut self, step: &mut Step) {
        self.node_id += 1;
        let node = &mut step.node;
        node.node_id = self.node_id;
        let computed = match step.branch {
            None => self.live,
            Some(Under(parent)) => parent.and_then(|saved| self.saved.get(&saved)).copied(),
        };
        let known = self.node_id <= self.facts.total();
        node.parent_node_id = if known { self.facts.parent(self.node_id) } else { computed };
        if step.branch.is_none() {
            self.live = Some(self.node_id);
        }
        if let Some(saved) = step.saved {
            self.saved.insert(saved, self.node_id);
        }
    }

    fn place(&mut self, step: &mut Step) {
        self.hang(step);
        let node = &mut step.node;
        if let Some(at) = step.at {
            // A record of the future tells nothing about when it was made.
            self.now = crate::time::not_after(at, self.latest).0;
        }
        node.created_at = self.facts.time(node.node_id).unwrap_or(self.now);
        let node_id = node.node_id;
        settle_calls(node, |call| self.facts.outcome(call, node_id));
        if node.role == sepia_ir::Role::Tool {
            if node.tool_call_id.as_deref().is_none_or(str::is_empty) {
                node.tool_call_id = Some(format!("result-{}", node.node_id));
            }
            if node.tool_name.as_deref().is_none_or(str::is_empty) {
                node.tool_name =
                    node.tool_call_id.as_deref().and_then(|id| self.facts.tool_name(id)).map(str::to_owned);
            }
        }
    }
}

/// Numbers the calls of a node, names those that have no id, and tells what became of them.
pub(crate) fn settle_calls(node: &mut MessageNode, outcome: impl Fn(&str) -> Option<Outcome>) {
    for (index, call) in (0i64..).zip(&mut node.tool_calls) {
        call.index = index;
        if call.id.is_empty() {
            call.id = format!("call-{}-{}", node.node_id, index + 1);
        }
        if call.name.is_empty() {
            "unknown".clone_into(&mut call.name);
        }
    }
    let ids: Vec<String> = node.tool_calls.iter().map(|call| call.id.clone()).collect();
    for (at, call) in node.tool_calls.iter_mut().enumerate() {
        if ids[..at].contains(&call.id) {
            call.id = format!("{}#{}", call.id, at + 1);
        } else if let Some(outcome) = outcome(&call.id) {
            outcome.fold(call);
        }
    }
}

/// Notes of a prompt that the agent wrote it itself.
pub(crate) fn mark_simulated(node: &mut MessageNode) {
    if node.metadata.starts_with('{') {
        node.metadata.insert_str(1, "\"kind\":\"simulated\",");
    }
}
