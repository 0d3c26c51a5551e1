//! What is known of a session's nodes without their content: which lines make which node,
//! who follows whom, and where the live branch ends.

/// A count of lines or nodes, or a position among them. A file holds far fewer than `u32::MAX`:
/// the host projects no more.
pub(crate) fn position(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A line that makes nodes, or parts of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinePlan {
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Line of the file, from 1.
    pub(crate) number: u32,
    /// First node, from 0, that it makes or adds to.
    pub(crate) node: u32,
}

/// A node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NodePlan {
    /// Parent node, from 1; 0 for roots.
    pub(crate) parent: u32,
    /// Tool nodes: the node that made the call, from 1; 0 when there is none.
    pub(crate) call: u32,
    /// First and last line, in the list of lines, that it is made of.
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
    /// Last line that answers one of its calls; `first_line` when none does.
    pub(crate) answered_line: u32,
    pub(crate) kind: NodeKind,
    pub(crate) marks: u8,
}

/// What a node is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub(crate) enum NodeKind {
    #[default]
    User,
    Assistant,
    Tool,
    System,
}

/// The recorded parent is not in the file; the nearest earlier node stands for it.
pub(crate) const GUESSED_PARENT: u8 = 1;
/// The parent is where the conversation stood before a compaction.
pub(crate) const LOGICAL_PARENT: u8 = 2;
/// The tokens of this model call are told on another node.
pub(crate) const COUNTED_ELSEWHERE: u8 = 4;
/// Not the recorded parent but an earlier result of the same parallel calls.
pub(crate) const PARALLEL: u8 = 8;

/// The nodes of one session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Index {
    pub(crate) lines: Vec<LinePlan>,
    pub(crate) nodes: Vec<NodePlan>,
    /// Tip of the live branch, from 1; 0 when there is no node.
    pub(crate) tip: u32,
}

impl Index {
    /// Last line that a node needs: its own, and those that answer its calls.
    pub(crate) fn complete_at(&self, node: usize) -> u32 {
        let plan = &self.nodes[node];
        plan.last_line.max(plan.answered_line)
    }

    /// Nodes of the live branch, from 0, oldest first. Ends on any input.
    pub(crate) fn live(&self) -> Vec<u32> {
        let mut met = vec![false; self.nodes.len()];
        let mut chain = Vec::new();
        let mut next = self.tip;
        while next > 0 {
            let at = next as usize - 1;
            if at >= met.len() || std::mem::replace(&mut met[at], true) {
                break;
            }
            chain.push(next - 1);
            next = self.nodes[at].parent;
        }
        chain.reverse();
        chain
    }
}
