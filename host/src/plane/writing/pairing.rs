//! Nodes as the plan has them: numbered anew, closed calls answered, lone results told as text.

use super::losses::Losses;
use super::outline::{Closing, Plan, Step};
use super::straight::Straight;
use sepia_ir::{LossKind, MessageNode, Role, ToolCallStatus, ToolResult};

/// What an unanswered call is answered with.
const INTERRUPTED: &str = "The call was interrupted before it had a result.";

/// Applies a plan, or pairs a line, to nodes as they come.
pub(super) struct Pairing {
    way: Way,
    /// Ids of the nodes so far, as they are handed over and where they come from.
    given: Vec<(i64, i64)>,
}

enum Way {
    Planned(std::vec::IntoIter<Step>),
    Straight(Straight),
}

impl Pairing {
    /// By a plan.
    pub(super) fn planned(plan: Plan) -> Self {
        Self { way: Way::Planned(plan.steps.into_iter()), given: Vec::new() }
    }

    /// Of a session that is taken for one line.
    pub(super) fn straight(line: Straight) -> Self {
        Self { way: Way::Straight(line), given: Vec::new() }
    }

    /// The next nodes as they are handed over; none when the line is none.
    pub(super) fn apply(&mut self, nodes: Vec<MessageNode>, losses: &mut Losses) -> Option<Vec<MessageNode>> {
        let mut out = Vec::with_capacity(nodes.len() + 4);
        for mut node in nodes {
            let step = match &mut self.way {
                // A session that grew since it was looked through is handed over as it was then.
                Way::Planned(steps) => match steps.next() {
                    Some(step) => step,
                    None => break,
                },
                Way::Straight(line) => line.step(&node)?,
            };
            self.given.push((step.node, step.source));
            let time = node.created_at;
            out.extend(step.before.iter().map(|closing| closed(closing, time, losses)));
            node.node_id = step.node;
            node.parent_node_id = step.parent;
            if step.is_orphan {
                as_text(&mut node, losses);
            }
            out.push(node);
            out.extend(step.after.iter().map(|closing| closed(closing, time, losses)));
        }
        Some(out)
    }

    /// What comes after the last node.
    pub(super) fn end(&mut self, losses: &mut Losses) -> Vec<MessageNode> {
        let Way::Straight(line) = &mut self.way else { return Vec::new() };
        let (closings, time) = line.end();
        closings.iter().map(|closing| closed(closing, time, losses)).collect()
    }

    /// The id that a node has where it comes from; none of one that was added on the way.
    pub(super) fn source_of(&self, node: i64) -> Option<i64> {
        let given = &self.given;
        given.binary_search_by_key(&node, |(node, _)| *node).ok().map(|at| given[at].1)
    }

    /// Nodes that were looked through and have not come yet.
    pub(super) fn missing(&self) -> usize {
        match &self.way {
            Way::Planned(steps) => steps.len(),
            Way::Straight(_) => 0,
        }
    }
}

fn closed(closing: &Closing, time: f64, losses: &mut Losses) -> MessageNode {
    let call = &closing.call;
    losses.add(LossKind::Mapped, closing.node, || {
        format!("call `{}` of `{}` had no result and got one that says so", call.id, call.tool)
    });
    MessageNode {
        parent_node_id: Some(closing.parent),
        content: INTERRUPTED.to_owned(),
        tool_call_id: Some(call.id.clone()),
        tool_name: Some(call.tool.clone()),
        tool_result: Some(ToolResult { status: ToolCallStatus::Error, exit_code: None, duration_ms: None }),
        ..MessageNode::new(closing.node, Role::Tool, time)
    }
}

fn as_text(node: &mut MessageNode, losses: &mut Losses) {
    let tool = node.tool_name.take();
    losses.add(LossKind::Mapped, node.node_id, || "a result without its call became text".to_owned());
    let of = tool.map_or_else(String::new, |tool| format!(" of `{tool}`"));
    node.content = format!("[Result{of} whose call is not in this session]\n{}", node.content);
    node.role = Role::User;
    node.tool_call_id = None;
    node.tool_result = None;
    if let Some(sepia_ir::Block::Text(first)) = node.blocks.first_mut() {
        first.text.clone_from(&node.content);
    }
}
