//! Nodes as the plan has them: numbered anew, closed calls answered, lone results told as text.

use super::losses::Losses;
use super::outline::{Closing, Plan};
use sepia_ir::{LossKind, MessageNode, Role, ToolCallStatus, ToolResult};

/// What an unanswered call is answered with.
const INTERRUPTED: &str = "The call was interrupted before it had a result.";

/// Applies a plan to nodes as they come.
pub(super) struct Pairing {
    plan: Plan,
    at: usize,
}

impl Pairing {
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan, at: 0 }
    }

    /// The next nodes as they are handed over.
    pub(super) fn apply(&mut self, nodes: Vec<MessageNode>, losses: &mut Losses) -> Vec<MessageNode> {
        let mut out = Vec::with_capacity(nodes.len() + 4);
        for mut node in nodes {
            // A session that grew since it was looked through is handed over as it was then.
            let Some(step) = self.plan.steps.get(self.at) else { break };
            self.at += 1;
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
        out
    }

    /// The id that a node has where it comes from; none of one that was added on the way.
    pub(super) fn source_of(&self, node: i64) -> Option<i64> {
        let steps = &self.plan.steps;
        steps.binary_search_by_key(&node, |step| step.node).ok().map(|at| steps[at].source)
    }

    /// Nodes that were looked through and have not come yet.
    pub(super) fn missing(&self) -> usize {
        self.plan.steps.len() - self.at
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
