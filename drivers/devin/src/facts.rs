//! What a node's own row does not tell: where it is in the forest, whether its tokens are
//! told on another copy of it, what became of its calls.

use crate::draft::{Draft, Form, Prompt};
use crate::forest::Forest;
use crate::heads::{Head, child_id};
use crate::outcome::{Outcome, Updates};
use sepia_ir::{Json, MessageNode, Role, TokenUsage, Warning};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What other nodes have to know of a node.
#[derive(Debug, Clone)]
pub(crate) struct Outline {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    pub(crate) role: Role,
    /// Stands for the id of the message.
    message: Option<u64>,
    /// Stands for what the twin of an answer has in common with it.
    likeness: u64,
    form: Form,
    pub(crate) prompt: Prompt,
    pub(crate) sums_up: bool,
    pub(crate) usage: Option<TokenUsage>,
    /// Id and name of each call.
    pub(crate) calls: Vec<(String, String)>,
    /// The call that is answered, and what the answer tells.
    pub(crate) answers: Option<(String, Outcome)>,
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl Outline {
    pub(crate) fn of(draft: &Draft) -> Self {
        let node = &draft.node;
        let ids: Vec<&str> = node.tool_calls.iter().map(|call| call.id.as_str()).collect();
        let likeness = match node.role {
            Role::Assistant => hash(&(&node.content, &node.thinking, ids)),
            _ => 0,
        };
        Self {
            id: node.node_id,
            parent: node.parent_node_id,
            role: node.role,
            message: draft.message_id.as_ref().map(hash),
            likeness,
            form: draft.form,
            prompt: draft.prompt,
            sums_up: draft.sums_up,
            usage: node.usage,
            calls: node.tool_calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect(),
            answers: node.tool_call_id.clone().map(|call| (call, draft.outcome)),
        }
    }
}

/// A node in company.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Fact {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    /// On the live branch.
    pub(crate) live: bool,
    /// Its tokens are told here, and on no other copy of the message.
    pub(crate) counted: bool,
    /// Another node is the same message: a copy, or the twin that an importer wrote.
    pub(crate) repeats: bool,
    /// The twin that was written after this one.
    pub(crate) twin: Option<i64>,
}

/// A call by its id.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Called {
    name: String,
    /// Places of the nodes that declare it.
    pub(crate) at: Vec<usize>,
}

/// All facts of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) nodes: Vec<Fact>,
    pub(crate) calls: HashMap<String, Called>,
    /// What the rows of results tell, the last of a call counting.
    results: HashMap<String, Outcome>,
    /// Tip of the live branch; 0 when there is no node.
    pub(crate) tip: i64,
}

impl Facts {
    /// Of all nodes of a session, in order, and the tip that the session names.
    pub(crate) fn of(outlines: &[Outline], tip: Option<i64>) -> Self {
        let forest = Forest::of(outlines.iter().map(|outline| (outline.id, outline.parent)));
        let tip = forest.tip(tip);
        let mut facts = Self { tip: tip.map_or(0, |at| forest.id(at)), ..Self::default() };
        for (at, outline) in outlines.iter().enumerate() {
            facts.nodes.push(Fact { id: outline.id, parent: forest.parent(at), ..Fact::default() });
            for (id, name) in &outline.calls {
                let called = facts.calls.entry(id.clone()).or_default();
                if called.at.is_empty() {
                    called.name.clone_from(name);
                }
                called.at.push(at);
            }
            if let Some((call, outcome)) = &outline.answers {
                facts.results.insert(call.clone(), *outcome);
            }
        }
        let live = forest.chain(tip);
        for at in &live {
            facts.nodes[*at].live = true;
        }
        facts.twins(outlines);
        facts.count(outlines, &live);
        facts
    }

    /// Finds the answers that an importer wrote twice.
    fn twins(&mut self, outlines: &[Outline]) {
        let mut waiting: HashMap<(Option<i64>, u64), usize> = HashMap::new();
        for (at, outline) in outlines.iter().enumerate().filter(|(_, outline)| outline.role == Role::Assistant) {
            let key = (self.nodes[at].parent, outline.likeness);
            match outline.form {
                Form::Unrendered => {
                    waiting.insert(key, at);
                }
                Form::Rendered => {
                    if let Some(first) = waiting.remove(&key) {
                        self.nodes[first].twin = Some(outline.id);
                        let repeated = if self.nodes[first].live && !self.nodes[at].live { at } else { first };
                        self.nodes[repeated].repeats = true;
                    }
                }
                Form::Other => {}
            }
        }
    }

    /// Says of each message on which of its copies its tokens are told: on the live branch if
    /// it is there, else on the first.
    fn count(&mut self, outlines: &[Outline], live: &[usize]) {
        let mut told = HashSet::new();
        let mut met = HashSet::new();
        let rest = (0..outlines.len()).filter(|at| !self.nodes[*at].live);
        for at in live.iter().copied().chain(rest.collect::<Vec<_>>()) {
            let (outline, fact) = (&outlines[at], &mut self.nodes[at]);
            if outline.usage.is_some() && !fact.repeats {
                fact.counted = outline.message.is_none_or(|message| told.insert(message));
            }
            if let Some(message) = outline.message {
                fact.repeats |= !met.insert(message);
            }
        }
    }

    pub(crate) fn place(&self, id: i64) -> Option<usize> {
        self.nodes.binary_search_by_key(&id, |fact| fact.id).ok()
    }

    /// What is wrong with the links of a session.
    pub(crate) fn warnings(&self, outlines: &[Outline], tip: Option<i64>, file: &str) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |code: &str, message: String| warnings.push(Warning::new(code, message).in_file(file));
        match tip {
            _ if self.nodes.is_empty() => {}
            Some(named) if self.place(named).is_none() => warn(
                "dangling-tip",
                format!(
                    "the session names node {named} as its newest, which it does not have; node {} counts",
                    self.tip
                ),
            ),
            Some(_) => {}
            None => warn("no-tip", format!("the session names no newest node; node {} counts", self.tip)),
        }
        for (outline, fact) in outlines.iter().zip(&self.nodes) {
            if let (Some(named), None) = (outline.parent, fact.parent) {
                let what = if named < outline.id { "which is not there" } else { "which does not come before it" };
                warn("broken-link", format!("node {} follows node {named}, {what}; it counts as a root", outline.id));
            }
        }
        warnings
    }

    /// Completes a node. None when the session was read without it.
    pub(crate) fn finish(&self, draft: Draft, company: &Company<'_>) -> Option<MessageNode> {
        let fact = self.nodes[self.place(draft.node.node_id)?];
        let carried = draft.carried.clone();
        let mut node = self.told(draft, fact, company);
        if let Some(carried) = carried {
            crate::carry::onto_node(&mut node, &carried, fact.repeats);
        }
        Some(node)
    }

    /// A node as the rows tell it, without what rides along.
    pub(crate) fn told(&self, draft: Draft, fact: Fact, company: &Company<'_>) -> MessageNode {
        let Draft { mut node, mut metadata, warnings, agent, .. } = draft;
        if node.parent_node_id != fact.parent {
            metadata.maybe_number("namedParent", node.parent_node_id);
            node.parent_node_id = fact.parent;
        }
        if !fact.counted {
            node.usage = None;
        }
        metadata.maybe_number("twin", fact.twin);
        for call in &mut node.tool_calls {
            company.updates.over(&call.id, self.results.get(&call.id).copied()).fold(call);
        }
        if let Some(call) = &node.tool_call_id {
            if let Some(called) = self.calls.get(call) {
                node.tool_name = Some(called.name.clone());
            }
            node.tool_result = Some(company.updates.over(call, self.results.get(call).copied()).result());
        }
        if let Some(agent) = agent.filter(|agent| company.heads.iter().any(|head| head.agent == *agent)) {
            metadata.text("agentSession", &child_id(company.session, &agent));
        }
        metadata.warnings(&warnings);
        node.metadata = metadata.finish();
        node
    }

    /// What became of a call in the end.
    pub(crate) fn outcome(&self, call: &str, updates: &Updates) -> Outcome {
        updates.over(call, self.results.get(call).copied())
    }

    /// The tool of a call that some node declares.
    pub(crate) fn tool(&self, call: &str) -> Option<&str> {
        self.calls.get(call).map(|called| called.name.as_str())
    }
}

/// What completes the nodes of a session, besides its facts.
pub(crate) struct Company<'a> {
    pub(crate) session: &'a str,
    pub(crate) heads: &'a [Head],
    pub(crate) updates: &'a Updates,
}

/// The object that a page's index is.
#[derive(Serialize, Deserialize)]
pub(crate) struct Remembered {
    /// What the facts were gathered of.
    pub(crate) of: String,
    pub(crate) facts: Facts,
}

impl Remembered {
    pub(crate) fn json(&self) -> Json {
        // Maps with text keys and plain members always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}
