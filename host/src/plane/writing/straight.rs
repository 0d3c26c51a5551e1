//! A session that is one line of nodes, paired as it comes: it is not looked through before.
//!
//! What pairing has to know of a branch ahead of time is where it ends and which of its nodes are not live. Of
//! a line both are known when it is over, so that a long session, which hardly ever forks, is read once. One that turns out
//! to fork is begun again, with a plan.

use super::outline::{Closing, Heard, Numbers, OpenCall, Step, calls_of, closings};
use sepia_ir::{MessageNode, Role};

/// The tip of a line that is handed over before its end is known: none of its nodes, which stands for the last.
pub(super) const NO_TIP: i64 = -1;

/// A line so far.
#[derive(Debug)]
pub(super) struct Straight {
    numbers: Numbers,
    waiting: Vec<OpenCall>,
    last: Option<Last>,
    /// The tip where it comes from.
    tip: i64,
}

/// The node that came last.
#[derive(Debug)]
struct Last {
    source: i64,
    node: i64,
    time: f64,
}

impl Straight {
    /// Of a session with this tip.
    pub(super) fn new(tip: i64) -> Self {
        Self { numbers: Numbers::default(), waiting: Vec::new(), last: None, tip }
    }

    /// How the next node is handed over; none when it begins another branch.
    pub(super) fn step(&mut self, node: &MessageNode) -> Option<Step> {
        if let Some(last) = &self.last
            && (node.parent_node_id != Some(last.source) || last.source == self.tip)
        {
            return None;
        }
        let calls = calls_of(node);
        let answers = (node.role == Role::Tool).then(|| node.tool_call_id.as_deref().unwrap_or_default());
        let heard = Heard { source: node.node_id, role: node.role, answers, calls: &calls };
        let parent = self.last.as_ref().map(|last| last.node);
        let step = heard.step(parent, &mut self.waiting, &mut self.numbers);
        self.last = Some(Last { source: node.node_id, node: step.node, time: node.created_at });
        Some(step)
    }

    /// Results for the calls that wait at the end, and the time of its last node.
    pub(super) fn end(&mut self) -> (Vec<Closing>, f64) {
        let Some(last) = &self.last else { return (Vec::new(), 0.0) };
        (closings(std::mem::take(&mut self.waiting), last.node, &mut self.numbers), last.time)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::super::outline::Outline;
    use super::Straight;
    use sepia_ir::{MessageNode, Role, ToolCall};

    fn node(id: i64, parent: Option<i64>, role: Role, calls: &[&str], answers: Option<&str>) -> MessageNode {
        MessageNode {
            parent_node_id: parent,
            tool_calls: calls.iter().map(|id| ToolCall::new(*id, "tool", "{}".into())).collect(),
            tool_call_id: answers.map(str::to_owned),
            ..MessageNode::new(id, role, 1.0)
        }
    }

    #[test]
    fn a_line_is_paired_as_its_plan_is() {
        let nodes = [
            node(3, Some(1), Role::User, &[], None),
            node(5, Some(3), Role::Assistant, &["a", "b", "c"], None),
            node(6, Some(5), Role::Tool, &[], Some("b")),
            node(8, Some(6), Role::System, &[], None),
            node(9, Some(8), Role::Tool, &[], Some("nobody's")),
            node(11, Some(9), Role::Assistant, &["d", "e"], None),
        ];
        for tip in [11, 77] {
            let mut outline = Outline::default();
            outline.add(&nodes);
            let plan = outline.plan(tip);
            let mut line = Straight::new(tip);
            let mut steps: Vec<_> = nodes.iter().map(|node| line.step(node).unwrap()).collect();
            let (after, time) = line.end();
            steps.last_mut().unwrap().after = after;
            assert_eq!((&steps, time), (&plan.steps, 1.0));
            assert_eq!(steps.last().unwrap().after.len(), 2);
            assert_eq!(plan.off_branch, [0; 0]);
        }
    }

    #[test]
    fn a_fork_and_what_follows_the_tip_are_no_line() {
        let mut line = Straight::new(9);
        assert!(line.step(&node(1, None, Role::User, &[], None)).is_some());
        assert!(line.step(&node(2, Some(1), Role::Assistant, &[], None)).is_some());
        assert!(line.step(&node(3, Some(1), Role::User, &[], None)).is_none(), "beside node 2");
        assert!(line.step(&node(3, None, Role::User, &[], None)).is_none(), "another root");
        let mut line = Straight::new(1);
        assert!(line.step(&node(1, None, Role::User, &[], None)).is_some());
        assert!(line.step(&node(2, Some(1), Role::User, &[], None)).is_none(), "after the tip");
    }
}
