//! The tree of a transcript: who follows whom among its nodes, and where the live branch
//! ends.
//!
//! Lines form a tree by `parentUuid`, in which attachments, measurements and the like are
//! links without a node. Parallel tool calls fork it (each result hangs off its own call) and
//! a compaction cuts it; here both are mended, so that walking the parents from the tip meets
//! everything that the model was told.

use crate::ids::{Id, IdMap, Mix};
use crate::index::{GUESSED_PARENT, LOGICAL_PARENT, NodeKind, NodePlan, PARALLEL, position};
use crate::projection::{Line, ParentMember};
use std::collections::{HashMap, HashSet};

/// A line of the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeLine {
    pub(crate) parent: ParentMember,
    /// Where the conversation stood before a compaction.
    pub(crate) logical_parent: Id,
    /// The line that made the call which this answers.
    pub(crate) source: Id,
    /// The parent is just the recorded one: nothing is mended.
    pub(crate) exact: bool,
    /// It stands for a node that the agent has no place for.
    pub(crate) carried: bool,
    /// Nodes that the line makes or adds to, from 0, the end exclusive; equal for a link.
    pub(crate) nodes: (u32, u32),
    /// Latest line with a node before this one, from 1; 0 when there is none.
    pub(crate) earlier: u32,
}

/// The tree as it was read.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) lines: Vec<TreeLine>,
    /// Where the line of a uuid stands; the last of a uuid counts.
    pub(crate) places: IdMap<u32>,
    /// Names that file-history records gave to a point in the file: the latest line with a
    /// node then, from 1.
    pub(crate) aliases: IdMap<u32>,
    /// `leafUuid` of the latest record that told one.
    pub(crate) leaf: Id,
    /// That leaf holds although the newest line may descend from it: the person went back to it.
    explicit: bool,
    /// Latest line with a node, from 1; 0 when there is none.
    pub(crate) latest: u32,
}

impl Tree {
    /// Takes what a line says of the leaf. One that was said explicitly holds until a record is added.
    pub(crate) fn note_leaf(&mut self, line: &Line<'_>) {
        match line.kind {
            "last-prompt" if line.leaf != 0 => {
                self.explicit = line.explicit || self.explicit && line.leaf == self.leaf;
                self.leaf = line.leaf;
            }
            "user" | "assistant" | "system" | "attachment" if line.uuid.is_some() => self.explicit = false,
            _ => {}
        }
    }

    /// Line that each line follows, from 1, 0 for roots; and the marks of its first node.
    fn ups(&self) -> Vec<(u32, u8)> {
        self.lines.iter().map(|line| self.up(line)).collect()
    }

    fn up(&self, line: &TreeLine) -> (u32, u8) {
        let place = |id: Id| self.places.get(&id).map(|at| at + 1);
        let named = match line.parent {
            ParentMember::Is(id) => id,
            ParentMember::Null if line.logical_parent == 0 => return (0, 0),
            ParentMember::Null => {
                return (place(line.logical_parent).unwrap_or(line.earlier), LOGICAL_PARENT);
            }
            ParentMember::Missing => 0,
        };
        if let Some(at) = place(named) {
            return (at, 0);
        }
        match place(line.source).or_else(|| self.aliases.get(&named).copied()) {
            Some(at) => (at, 0),
            None => (line.earlier, if line.earlier > 0 { GUESSED_PARENT } else { 0 }),
        }
    }

    /// Gives every node its parent and finds the tip.
    pub(crate) fn link(&self, nodes: &mut [NodePlan], first_lines: &[u32]) -> u32 {
        let ups = self.ups();
        let nearest = self.nearest(&ups);
        // Of each call's node: the latest of its results so far, from 1, and the calls answered.
        let mut batches: HashMap<u32, u32, Mix> = HashMap::default();
        let mut in_batch: HashSet<u32, Mix> = HashSet::default();
        for at in 0..nodes.len() {
            let tree_line = first_lines[at] as usize;
            let line = &self.lines[tree_line];
            let node = position(at);
            let (natural, marks) = if node > line.nodes.0 {
                (node, 0)
            } else {
                let (up, marks) = ups[tree_line];
                let parent = up.checked_sub(1).map_or(0, |up| nearest[up as usize]);
                // A line that adds to a node which began earlier can't be its own ancestor.
                (if parent == node + 1 { 0 } else { parent }, marks)
            };
            let plan = nodes[at];
            let is_result_of = |call: u32, other: u32| {
                let other = &nodes[other as usize - 1];
                other.kind == NodeKind::Tool && other.call == call
            };
            let mut parent = natural;
            if line.exact {
                // Nothing of it is to be mended.
            } else if plan.kind == NodeKind::Tool && plan.call > 0 {
                let beside = natural == plan.call || natural > 0 && is_result_of(plan.call, natural);
                if beside && plan.marks & DUPLICATE_ANSWER == 0 {
                    parent = batches.get(&plan.call).copied().unwrap_or(natural);
                    batches.insert(plan.call, node + 1);
                    in_batch.insert(node + 1);
                }
            } else if in_batch.contains(&natural) {
                let call = nodes[natural as usize - 1].call;
                parent = batches.get(&call).copied().unwrap_or(natural);
            }
            let marks = if parent == natural { marks } else { PARALLEL };
            nodes[at].parent = parent;
            nodes[at].marks = (plan.marks & !DUPLICATE_ANSWER) | marks;
        }
        open_circles(nodes);
        let tip = self.tip(&ups, nodes);
        match tip.checked_sub(1).map(|at| nodes[at as usize]) {
            Some(plan) if in_batch.contains(&tip) => batches.get(&plan.call).copied().unwrap_or(tip),
            _ => tip,
        }
    }

    /// For each line the nearest node at or above it, from 1; 0 when there is none. A circle
    /// of links ends where it closes.
    fn nearest(&self, ups: &[(u32, u8)]) -> Vec<u32> {
        const UNKNOWN: u32 = u32::MAX;
        let mut nearest = vec![UNKNOWN; self.lines.len()];
        let mut way = Vec::new();
        for start in 0..self.lines.len() {
            let mut at = start;
            let found = loop {
                if nearest[at] != UNKNOWN {
                    break nearest[at];
                }
                let (from, until) = self.lines[at].nodes;
                if until > from {
                    nearest[at] = until;
                    break until;
                }
                // Until the way is known the line counts as without a node, which ends circles.
                nearest[at] = 0;
                way.push(at);
                match ups[at].0.checked_sub(1) {
                    Some(up) => at = up as usize,
                    None => break 0,
                }
            };
            for at in way.drain(..) {
                nearest[at] = found;
            }
        }
        nearest
    }

    /// The tip of the live branch by the agent's own rule: the newest line, unless the agent
    /// noted another leaf that the newest line does not descend from; and from there up to a
    /// message.
    fn tip(&self, ups: &[(u32, u8)], nodes: &[NodePlan]) -> u32 {
        let newest = self.lines.len();
        let noted = self.places.get(&self.leaf).map(|at| *at as usize + 1).filter(|_| self.leaf != 0);
        let leaf = match noted {
            Some(noted) if self.explicit || !descends(ups, newest, noted) => noted,
            _ => newest,
        };
        let mut any = 0;
        let mut met = HashSet::new();
        let mut at = leaf;
        while at > 0 && met.insert(at) {
            let (from, until) = self.lines[at - 1].nodes;
            if until > from {
                let carried = self.lines[at - 1].carried && noted == Some(at);
                if carried || nodes[until as usize - 1].kind != NodeKind::System {
                    return until;
                }
                if any == 0 {
                    any = until;
                }
            }
            at = ups[at - 1].0 as usize;
        }
        any
    }
}

/// Set while nodes are gathered: another result answered the same call before.
pub(crate) const DUPLICATE_ANSWER: u8 = 128;

/// Ends circles of parents, which nobody could walk up: the earliest node of one is a root.
fn open_circles(nodes: &mut [NodePlan]) {
    // Which walk met the node, from 1.
    let mut walks = vec![0; nodes.len()];
    for start in 0..nodes.len() {
        let walk = position(start) + 1;
        let mut at = start;
        while walks[at] == 0 {
            walks[at] = walk;
            match nodes[at].parent.checked_sub(1) {
                Some(up) => at = up as usize,
                None => break,
            }
        }
        if walks[at] != walk || nodes[at].parent == 0 {
            continue;
        }
        let (mut earliest, mut other) = (at, nodes[at].parent as usize - 1);
        while other != at {
            earliest = earliest.min(other);
            other = nodes[other].parent as usize - 1;
        }
        nodes[earliest].parent = 0;
    }
}

fn descends(ups: &[(u32, u8)], from: usize, ancestor: usize) -> bool {
    let mut met = HashSet::new();
    let mut at = from;
    while at > 0 && met.insert(at) {
        if at == ancestor {
            return true;
        }
        at = ups[at - 1].0 as usize;
    }
    false
}
