//! The live branch of a session's tree.

use crate::node::MessageNode;
use std::collections::HashMap;

/// Positions, in `nodes`, of the live branch from its root to `tip`, in order.
///
/// A tip that does not exist falls back to the last node. A parent that does not exist ends
/// the walk, and so does one that was met before, so that any input ends.
pub fn live(nodes: &[MessageNode], tip: i64) -> Vec<usize> {
    let links: Vec<Link> = nodes.iter().map(Link::of).collect();
    live_links(&links, tip)
}

/// A node and where it hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The node.
    pub node: i64,
    /// Its parent, if it has one.
    pub parent: Option<i64>,
}

impl Link {
    /// Of a node.
    pub fn of(node: &MessageNode) -> Self {
        Self { node: node.node_id, parent: node.parent_node_id }
    }
}

/// As [`live`], of what is known of the nodes.
pub fn live_links(links: &[Link], tip: i64) -> Vec<usize> {
    let by_id: HashMap<i64, usize> = links.iter().enumerate().map(|(at, link)| (link.node, at)).collect();
    let mut met = vec![false; links.len()];
    let mut chain = Vec::new();
    let mut next = by_id.get(&tip).copied().or_else(|| links.len().checked_sub(1));
    while let Some(at) = next {
        if std::mem::replace(&mut met[at], true) {
            break;
        }
        chain.push(at);
        next = links[at].parent.and_then(|id| by_id.get(&id)).copied();
    }
    chain.reverse();
    chain
}

/// Ids of the nodes that are not on the live branch, rising.
pub fn off_branch(nodes: &[MessageNode], tip: i64) -> Vec<i64> {
    let live = live(nodes, tip);
    let mut on_it = vec![false; nodes.len()];
    for at in live {
        on_it[at] = true;
    }
    let mut off: Vec<i64> = nodes.iter().zip(on_it).filter(|(_, on_it)| !on_it).map(|(n, _)| n.node_id).collect();
    off.sort_unstable();
    off
}

#[cfg(test)]
mod tests {
    use super::{live, off_branch};
    use crate::{MessageNode, Role};

    fn tree(parents: &[(i64, Option<i64>)]) -> Vec<MessageNode> {
        let node = |(id, parent): &(i64, Option<i64>)| MessageNode {
            parent_node_id: *parent,
            ..MessageNode::new(*id, Role::User, 0.0)
        };
        parents.iter().map(node).collect()
    }

    #[test]
    fn a_branch_that_was_left_is_not_in_the_chain() {
        let nodes = tree(&[(1, None), (2, Some(1)), (3, Some(2)), (4, Some(1)), (5, Some(4))]);
        assert_eq!(live(&nodes, 5), [0, 3, 4]);
        assert_eq!(live(&nodes, 3), [0, 1, 2]);
        assert_eq!(off_branch(&nodes, 5), [2, 3]);
    }

    #[test]
    fn broken_links_end_the_walk() {
        assert_eq!(live(&tree(&[(1, Some(9)), (2, Some(1))]), 2), [0, 1]);
        assert_eq!(live(&tree(&[(1, Some(2)), (2, Some(1))]), 2), [0, 1]);
        assert_eq!(live(&tree(&[(1, Some(1))]), 77), [0]);
        assert_eq!(live(&[], 1), [0usize; 0]);
    }
}
