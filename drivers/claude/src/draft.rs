//! One session taking shape while the lines of its file go by.

use crate::chain::{DUPLICATE_ANSWER, Tree, TreeLine};
use crate::ids::{Id, IdMap, IdSet, id};
use crate::index::{COUNTED_ELSEWHERE, Index, LinePlan, NodeKind, NodePlan, position};
use crate::projection::Line;
use sepia_sdk::stats::Stats;
use std::collections::BTreeMap;

/// A line by its place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// What is gathered of one session.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Sub-agents kept inside another session's file: uuid of their first line.
    pub(crate) root: Option<String>,
    pub(crate) agent_id: Option<String>,
    pub(crate) index: Index,
    pub(crate) stats: Stats,
    pub(crate) created: Option<f64>,
    pub(crate) last_activity: Option<f64>,
    pub(crate) model: Option<String>,
    /// User records that may be typed prompts.
    pub(crate) prompts: Vec<Span>,
    pub(crate) conversational: bool,
    /// Who follows whom is not asked.
    counts_only: bool,
    tree: Tree,
    /// Of each node the line of the tree that began it.
    first_lines: Vec<u32>,
    calls: IdMap<u32>,
    answered: IdSet,
    /// The message being continued, and its node.
    open: Option<(Id, u32)>,
    messages: IdMap<Message>,
}

/// A model call, told by one or several lines.
#[derive(Debug, Clone, Copy)]
struct Message {
    usage: [u64; 4],
    /// Node, from 0, on which its tokens are told.
    node: u32,
}

impl Draft {
    /// A session of which only the counts are asked.
    pub(crate) fn without_tree() -> Self {
        Self { counts_only: true, ..Self::default() }
    }

    /// A sub-agent kept inside another session's file, by the uuid of its first line.
    pub(crate) fn inside(root: &[u8], agent_id: Option<&str>) -> Self {
        Self {
            root: Some(String::from_utf8_lossy(root).into_owned()),
            agent_id: agent_id.map(str::to_owned),
            ..Self::default()
        }
    }

    /// Takes the next line of the session.
    pub(crate) fn take(&mut self, line: &Line<'_>, number: u32) {
        if self.created.is_none() {
            self.created = line.time;
        }
        self.tree.note_leaf(line);
        if line.kind == "file-history-snapshot" && line.alias != 0 {
            self.tree.aliases.insert(line.alias, self.tree.latest);
        }
        let from = position(self.index.nodes.len());
        let nodes = match line.kind {
            "user" => self.user(line, number),
            "assistant" => self.assistant(line, number),
            "system" => self.system(line, number),
            _ => (from, from),
        };
        if line.conversational() {
            self.conversational = true;
            if let Some(time) = line.time {
                self.last_activity = Some(self.last_activity.map_or(time, |known| known.max(time)));
            }
        }
        if self.counts_only || line.uuid.is_none() && nodes.0 == nodes.1 {
            return;
        }
        let at = position(self.tree.lines.len());
        self.tree.lines.push(TreeLine {
            parent: line.parent,
            logical_parent: line.logical_parent,
            source: line.source,
            exact: line.exact,
            carried: line.carries_node,
            nodes,
            earlier: self.tree.latest,
        });
        self.first_lines.resize(self.index.nodes.len(), at);
        if nodes.1 > nodes.0 {
            self.tree.latest = at + 1;
        }
        if let Some(uuid) = line.uuid {
            self.tree.places.insert(id(uuid), at);
        }
    }

    fn plan(&mut self, line: &Line<'_>, number: u32, node: u32) -> u32 {
        let at = position(self.index.lines.len());
        self.index.lines.push(LinePlan { offset: line.offset, length: line.length, number, node });
        at
    }

    fn node(&mut self, line: u32, kind: NodeKind) -> u32 {
        let plan = NodePlan { first_line: line, last_line: line, answered_line: line, kind, ..NodePlan::default() };
        self.index.nodes.push(plan);
        position(self.index.nodes.len()) - 1
    }

    fn user(&mut self, line: &Line<'_>, number: u32) -> (u32, u32) {
        let from = position(self.index.nodes.len());
        let at = self.plan(line, number, from);
        for result in line.tool_results() {
            let node = self.node(at, NodeKind::Tool);
            self.stats.tool_results += 1;
            self.stats.tool_errors += u64::from(result.is_error);
            if let Some(call) = self.calls.get(&result.tool_use_id).copied() {
                self.index.nodes[node as usize].call = call + 1;
                let made = &mut self.index.nodes[call as usize];
                made.answered_line = made.answered_line.max(at);
                if !self.answered.insert(result.tool_use_id) {
                    self.index.nodes[node as usize].marks |= DUPLICATE_ANSWER;
                }
            }
        }
        if line.speaks() {
            self.node(at, NodeKind::User);
            if !line.meta && !line.compact_summary {
                self.open = None;
                if line.tool_results().next().is_none() {
                    self.prompts.push(Span { offset: line.offset, length: line.length });
                }
            }
        }
        (from, position(self.index.nodes.len()))
    }

    fn assistant(&mut self, line: &Line<'_>, number: u32) -> (u32, u32) {
        let node = match self.open {
            Some((message, node)) if message == line.message_id && message != 0 => {
                let at = self.plan(line, number, node);
                self.index.nodes[node as usize].last_line = at;
                node
            }
            _ => {
                let node = position(self.index.nodes.len());
                let at = self.plan(line, number, node);
                self.node(at, NodeKind::Assistant)
            }
        };
        self.open = Some((line.message_id, node));
        for block in &line.blocks {
            if block.kind == "tool_use" {
                self.stats.tool_calls += 1;
                if block.id != 0 {
                    self.calls.insert(block.id, node);
                }
            }
        }
        self.count(line, node);
        match line.model {
            None | Some("<synthetic>" | "") => {}
            Some(model) if self.model.as_deref() == Some(model) => {}
            Some(model) => self.model = Some(model.to_owned()),
        }
        (node, node + 1)
    }

    /// Counts the tokens of a model call once: those of the line with the highest output,
    /// the last of equals.
    fn count(&mut self, line: &Line<'_>, node: u32) {
        let synthetic = line.model == Some("<synthetic>");
        if line.message_id == 0 {
            self.stats.count_message(synthetic);
            self.stats.usage.add(line.usage);
            return;
        }
        let Some(known) = self.messages.get_mut(&line.message_id) else {
            self.messages.insert(line.message_id, Message { usage: line.usage, node });
            self.stats.count_message(synthetic);
            self.stats.usage.add(line.usage);
            return;
        };
        if line.usage[1] < known.usage[1] {
            if node != known.node {
                self.index.nodes[node as usize].marks |= COUNTED_ELSEWHERE;
            }
            return;
        }
        self.stats.usage.replace(known.usage, line.usage);
        if node != known.node {
            self.index.nodes[known.node as usize].marks |= COUNTED_ELSEWHERE;
            self.index.nodes[node as usize].marks &= !COUNTED_ELSEWHERE;
        }
        *known = Message { usage: line.usage, node };
    }

    fn system(&mut self, line: &Line<'_>, number: u32) -> (u32, u32) {
        let from = position(self.index.nodes.len());
        if !line.carries_node && !matches!(line.subtype, "compact_boundary" | "local_command") {
            return (from, from);
        }
        if line.subtype == "compact_boundary" {
            self.open = None;
        }
        let at = self.plan(line, number, from);
        self.node(at, NodeKind::System);
        (from, from + 1)
    }

    /// Links the nodes; nothing can be taken after it.
    pub(crate) fn finish(&mut self) {
        if !self.counts_only {
            self.index.tip = self.tree.link(&mut self.index.nodes, &self.first_lines);
        }
        self.tree = Tree::default();
        self.calls = IdMap::default();
        self.answered = IdSet::default();
        self.messages = IdMap::default();
        self.first_lines = Vec::new();
    }
}

/// Counts of what the driver carries without understanding it, by type.
pub(crate) type Opaque = BTreeMap<String, u64>;
