//! What a row was written for, where that depends on rows which come later: what became of a
//! call, which copy of a message tells its tokens. A row rides with what it lacks by these
//! promises; once all rows are known each is looked at again.

use crate::facts::{Company, Fact, Facts, Outline};
use crate::outcome::Outcome;
use sepia_ir::{MessageNode, ToolResult};

/// See the module.
#[derive(Debug)]
pub(crate) struct Promise {
    /// Of each call what became of it.
    calls: Vec<Outcome>,
    /// Of a result.
    result: Option<ToolResult>,
    tool: Option<String>,
    twin: Option<i64>,
    /// Sub-agent that the node tells of.
    pub(crate) agent: Option<String>,
}

impl Promise {
    /// Of a node as a reader is to find it.
    pub(crate) fn of(native: &MessageNode, twin: Option<i64>, agent: Option<String>) -> Self {
        let outcome = |call: &sepia_ir::ToolCall| Outcome {
            status: call.status,
            exit_code: call.exit_code,
            duration_ms: call.duration_ms,
        };
        Self {
            calls: native.tool_calls.iter().map(outcome).collect(),
            result: native.tool_result,
            tool: native.tool_name.clone(),
            twin,
            agent,
        }
    }

    /// Whether the rows of the whole session keep it.
    pub(crate) fn is_kept(&self, outline: &Outline, fact: &Fact, facts: &Facts, company: &Company<'_>) -> bool {
        let updates = company.updates;
        let agent = self.agent.as_ref().is_none_or(|agent| company.heads.iter().any(|head| head.agent == *agent));
        let tokens = outline.usage.is_none() || fact.counted;
        let calls = outline.calls.iter().zip(&self.calls).all(|((id, _), promised)| {
            let outcome = facts.outcome(id, updates);
            // The snapshot in the message has the status, and nothing else.
            Outcome { status: outcome.status.or(promised.status), ..outcome } == *promised
        });
        let result = outline.answers.as_ref().is_none_or(|(call, _)| {
            let tool = facts.tool(call).or(self.tool.as_deref());
            Some(facts.outcome(call, updates).result()) == self.result && tool == self.tool.as_deref()
        });
        tokens && calls && result && agent && self.twin == fact.twin
    }

    /// The fact that it goes by.
    pub(crate) fn fact(&self, known: Fact) -> Fact {
        Fact { counted: true, repeats: false, twin: self.twin, ..known }
    }

    /// A node as it was promised, out of the node that the rows give.
    pub(crate) fn apply(&self, node: &mut MessageNode) {
        for (call, promised) in node.tool_calls.iter_mut().zip(&self.calls) {
            (call.status, call.exit_code, call.duration_ms) =
                (promised.status, promised.exit_code, promised.duration_ms);
        }
        node.tool_result = self.result;
        node.tool_name.clone_from(&self.tool);
    }
}
