//! The live branch of a session's tree.

use crate::node::MessageNode;
use std::collections::HashMap;

/// Positions, in `nodes`, of the live branch from its root to `tip`, in order.
///
/// A tip that does not exist falls back to the last node. A parent that does not exist ends
/// the walk, and so does one that was met before, so that any input ends.
pub fn live(nodes: &[MessageNode], tip: i64) -> Vec<usize> {
    let by_id: HashMap<i64, usize> = nodes.iter().enumerate().map(|(at, node)| (node.node_id, at)).collect();
    let mut met = vec![false; nodes.len()];
    let mut chain = Vec::new();
    let mut next = by_id.get(&tip).copied().or_else(|| nodes.len().checked_sub(1));
    while let Some(at) = next {
        if std::mem::replace(&mut met[at], true) {
            break;
        }
        chain.push(at);
        next = nodes[at].parent_node_id.and_then(|id| by_id.get(&id)).copied();
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::live;
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
    }

    #[test]
    fn broken_links_end_the_walk() {
        assert_eq!(live(&tree(&[(1, Some(9)), (2, Some(1))]), 2), [0, 1]);
        assert_eq!(live(&tree(&[(1, Some(2)), (2, Some(1))]), 2), [0, 1]);
        assert_eq!(live(&tree(&[(1, Some(1))]), 77), [0]);
        assert_eq!(live(&[], 1), [0usize; 0]);
    }
}
