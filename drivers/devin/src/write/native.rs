//! What a node becomes in a row, role by role: the node as a reader will find it, the extensions
//! of its message, and what the agent has no form for.

use super::blocks::attached;
use super::calls::{self, Held, State};
use super::id::is_uuid;
use super::message::{REDACTED, Times, count_of};
use super::own::Own;
use crate::time;
use sepia_ir::{Loss, LossKind, MessageNode, Role, TokenUsage, ToolCallStatus, ToolResult, json_text};
use sepia_sdk::metadata::Members;

/// Seals of reasoning that the agent's own models made begin so.
const SEAL: &str = "sealed.";

/// A node on its way into a row. What the row says as it stands is in neither of both nodes, so
/// that it is neither copied nor compared.
pub(crate) struct Becoming {
    pub(crate) wanted: MessageNode,
    pub(crate) native: MessageNode,
    pub(crate) content: String,
    /// Of each call.
    pub(crate) arguments: Vec<String>,
    /// The calls that are written.
    pub(crate) held: Vec<Held>,
    pub(crate) extensions: Members,
    pub(crate) states: Vec<State>,
    pub(crate) losses: Vec<Loss>,
}

impl Becoming {
    /// A node read by its role.
    pub(crate) fn of(mut wanted: MessageNode, own: &Own, times: &Times, working_directory: &str) -> Self {
        let mut native = MessageNode::new(wanted.node_id, wanted.role, times.read);
        native.parent_node_id = wanted.parent_node_id;
        let content = std::mem::take(&mut wanted.content);
        let calls = wanted.tool_calls.iter_mut();
        let arguments = calls.map(|call| std::mem::replace(&mut call.arguments, json_text::null())).collect();
        let mut node = Self {
            wanted,
            native,
            content,
            arguments,
            held: Vec::new(),
            extensions: Members::default(),
            states: Vec::new(),
            losses: Vec::new(),
        };
        match node.wanted.role {
            Role::User => node.prompt(),
            Role::Assistant => node.answer(own),
            Role::Tool => node.result(times, working_directory),
            Role::System => {}
        }
        if node.wanted.role != Role::Assistant && !node.arguments.is_empty() {
            node.put_arguments_back();
            node.keep_beside("its tool calls are kept beside it: only answers of the model have some here");
        }
        if node.wanted.role != Role::User && !node.wanted.blocks.is_empty() {
            node.keep_beside("what is attached to it is kept beside it: only prompts have attachments here");
        }
        node
    }

    /// Something that the agent does not see.
    fn keep_beside(&mut self, what: &str) {
        self.lose(LossKind::MetadataOnly, what);
    }

    pub(crate) fn lose(&mut self, kind: LossKind, what: &str) {
        let node = self.wanted.node_id;
        self.losses.push(Loss { kind, node_id: Some(node), message: format!("node {node}: {what}") });
    }

    fn put_arguments_back(&mut self) {
        for (call, arguments) in self.wanted.tool_calls.iter_mut().zip(&self.arguments) {
            call.arguments.clone_from(arguments);
        }
    }

    /// What is attached to a prompt.
    fn prompt(&mut self) {
        let attached = attached(&self.wanted.blocks, &self.content);
        if let Some(json) = &attached.json {
            self.extensions.raw("chisel/acp-content-blocks", json);
        }
        match attached.native {
            Some(blocks) => self.native.blocks = blocks,
            None => self.wanted.blocks = Vec::new(),
        }
        if attached.left_out > 0 {
            self.keep_beside("something attached to it is kept beside it: this agent has no form for it");
        }
    }

    /// What an answer says besides its text.
    fn answer(&mut self, own: &Own) {
        self.calls();
        let is_own = own.is_own();
        let wanted = &self.wanted;
        self.native.usage = wanted.usage.map(told);
        self.native.model = wanted.model.clone().filter(|model| !model.is_empty());
        self.native.request_id = wanted.request_id.clone().filter(|id| is_own || is_uuid(id));
        let calls = !self.held.is_empty();
        self.native.finish_reason = wanted.finish_reason.as_deref().map(|reason| finish(reason, is_own, calls));
        match &wanted.thinking_signature {
            Some(signature) if signature.starts_with(SEAL) => {
                self.native.thinking_signature = Some(signature.clone());
                let text = wanted.thinking.as_deref().filter(|text| !text.is_empty());
                self.native.thinking = Some(text.unwrap_or(REDACTED).to_owned());
            }
            None if wanted.thinking.is_none() => {}
            _ => {
                let what = "its reasoning is kept beside it: the agent sends back only what its own models sealed";
                self.keep_beside(what);
            }
        }
    }

    fn calls(&mut self) {
        self.held = calls::held(&self.wanted.tool_calls, &self.arguments);
        let mut snapshots = Members::default();
        for held in &self.held {
            let text = held.wrapped.as_deref().unwrap_or(&self.arguments[held.at]);
            let snapshot = calls::snapshot(&held.native, text);
            snapshots.raw(&held.native.id, &snapshot);
            self.states.extend(calls::state(&held.native, snapshot));
        }
        if !self.held.is_empty() {
            self.extensions.raw("chisel/tool_call_content", &snapshots.finish());
        }
        self.native.tool_calls = self.held.iter().map(|held| held.native.clone()).collect();
        let left_out = self.held.len() < self.arguments.len();
        if left_out || self.held.iter().any(|held| held.wrapped.is_some()) {
            self.put_arguments_back();
            for (call, held) in self.native.tool_calls.iter_mut().zip(&self.held) {
                call.arguments = held.wrapped.clone().unwrap_or_else(|| self.arguments[held.at].clone());
            }
        }
        if left_out {
            self.keep_beside("a tool call without an id of its own, or without a tool, is kept beside it");
        }
    }

    /// What the row of a result tells of it.
    fn result(&mut self, times: &Times, working_directory: &str) {
        let wanted = &self.wanted;
        let tool = wanted.tool_name.clone().filter(|name| !name.is_empty());
        let result = wanted.tool_result;
        let failed = result.is_some_and(|result| result.status == ToolCallStatus::Error);
        let exit_code = result.and_then(|result| result.exit_code);
        let duration_ms = result.and_then(|result| result.duration_ms).filter(|time| time.is_finite() && *time >= 0.0);
        let status = if failed { ToolCallStatus::Error } else { ToolCallStatus::Success };
        self.native.tool_call_id.clone_from(&wanted.tool_call_id);
        self.native.tool_result = Some(ToolResult { status, exit_code, duration_ms });
        let mut meta = Members::default();
        meta.raw("success", if failed { "false" } else { "true" });
        meta.text("kind", tool.as_deref().unwrap_or_default());
        self.extensions.raw("chisel/tool_result_meta", &meta.finish());
        self.native.tool_name = tool;
        if let Some(code) = exit_code {
            let mut exit = Members::default();
            exit.text("terminal_id", "t0");
            exit.number("exit_code", code);
            let mut terminal = Members::default();
            terminal.text("text", if self.content.len() <= calls::SHOWN { &self.content } else { "" });
            terminal.text("cwd", working_directory);
            terminal.raw("exit", &exit.finish());
            self.extensions.raw("chisel/terminal_output", &terminal.finish());
        }
        if let Some(duration) = duration_ms {
            let mut timing = Members::default();
            let begun = times.said.as_ref().and_then(|_| time::text(times.read - duration / 1000.0));
            timing.maybe("started_at", begun.as_deref());
            timing.maybe("finished_at", times.said.as_deref());
            timing.value("duration_ms", &duration);
            self.extensions.raw("chisel/tool_call_timing", &timing.finish());
        }
    }
}

/// Reasons that the agent is known to write; those of other agents become one of them.
fn finish(reason: &str, is_own: bool, calls: bool) -> String {
    match reason {
        "tool_calls" | "stop" => reason,
        _ if is_own => reason,
        _ if calls => "tool_calls",
        _ => "stop",
    }
    .to_owned()
}

/// Tokens as a reader will find them.
fn told(usage: TokenUsage) -> TokenUsage {
    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
    let as_told = |count: f64| count_of(count) as f64;
    TokenUsage {
        input: as_told(usage.input),
        output: as_told(usage.output),
        cache_read: usage.cache_read.map(as_told),
        cache_write: usage.cache_write.map(as_told),
        ..TokenUsage::default()
    }
}
