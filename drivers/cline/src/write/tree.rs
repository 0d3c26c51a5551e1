//! Which nodes of a session are of its live branch, and which of branches that were left.

use super::encode::{Encoded, Place};
use std::collections::{HashMap, HashSet};

/// Where the nodes that were written are.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Number in the file, from 1, by the node's id.
    numbers: HashMap<i64, u32>,
    written: u32,
    /// Number of the latest node of the live branch.
    live: u32,
}

impl Tree {
    /// The place of the next node, which is written.
    pub(super) fn place(&mut self, node: i64, parent: Option<i64>, side: bool) -> Place {
        self.written += 1;
        let number = self.written;
        // What a reader takes for the parent when nothing is said.
        let usual = if side { number - 1 } else { self.live };
        let parent = parent.and_then(|parent| self.numbers.get(&parent)).copied().unwrap_or_default();
        self.numbers.insert(node, number);
        if !side {
            self.live = number;
        }
        let back = if parent == 0 { 0 } else { number - parent };
        Place { side, back: (parent != usual).then_some(back) }
    }

    /// Whether a node was written.
    pub(super) fn holds(&self, node: i64) -> bool {
        self.numbers.contains_key(&node)
    }
}

/// Of nodes that wait to be written, those of branches that were left. `tip` is the tip of the live
/// branch; one that is none of the nodes stands for the last.
pub(super) fn left(waiting: &[Encoded], tip: i64, written: &Tree) -> HashSet<i64> {
    let by_id: HashMap<i64, &Encoded> = waiting.iter().map(|node| (node.node_id, node)).collect();
    // 0 is the tip of a session whose tip nobody knows.
    let known = tip != 0 && (by_id.contains_key(&tip) || written.holds(tip));
    let tip = if known { Some(tip) } else { waiting.last().map(|last| last.node_id) };
    let mut live = HashSet::new();
    let mut next = tip;
    while let Some(node) = next.and_then(|id| by_id.get(&id)) {
        if !live.insert(node.node_id) {
            break;
        }
        next = node.parent;
    }
    // Results of parallel calls may hang beside the branch, and belong to it all the same.
    let is_live = |node: &&Encoded| live.contains(&node.node_id);
    let mut open: HashSet<&str> =
        waiting.iter().filter(is_live).flat_map(|node| &node.calls).map(String::as_str).collect();
    for node in waiting.iter().filter(is_live) {
        if let Some(answered) = &node.answers {
            open.remove(answered.as_str());
        }
    }
    let mut beside = HashSet::new();
    for node in waiting.iter().filter(|node| !is_live(node)) {
        if node.answers.as_deref().is_some_and(|answered| open.remove(answered)) {
            beside.insert(node.node_id);
        }
    }
    waiting.iter().map(|node| node.node_id).filter(|id| !live.contains(id) && !beside.contains(id)).collect()
}
