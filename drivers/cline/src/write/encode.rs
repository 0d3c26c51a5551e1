//! A node as a message of the agent.
//!
//! What is written is read again by the driver's own reader at once: what that does not give back
//! of the node rides along with the message. A node that the model is not to see (a system
//! prompt, a branch that was left) becomes a message that the agent keeps and shows nobody.

use super::content;
use super::ids::MessageIds;
use super::own::Own;
use crate::carried::{ended, settle};
use crate::elements::LONGEST;
use crate::gather;
use crate::index::Dialect;
use crate::nodes::{Answered, Made};
use crate::result::{Answer, Outcome};
use crate::text::Text;
use crate::time;
use sepia_ir::{Block, Loss, LossKind, MessageNode, Role, TokenUsage, ToolCallStatus};
use sepia_sdk::metadata::Members;
use std::borrow::Cow;
use std::collections::HashMap;

/// Numbers below this are not told from seconds.
const FIRST_MILLISECONDS: f64 = 1e11;
/// Bytes of a text that are kept of a node that is too long for a message.
const CUT: usize = 1 << 20;
/// Shorter signatures of reasoning are none of a provider's.
const SHORT_SIGNATURE: usize = 40;

/// A message, and what rides along with it.
#[derive(Debug)]
pub(super) struct Encoded {
    pub(super) node_id: i64,
    pub(super) parent: Option<i64>,
    /// The calls that it makes.
    pub(super) calls: Vec<String>,
    /// The call that it answers.
    pub(super) answers: Option<String>,
    /// JSON of the message.
    message: String,
    beside: Beside,
    pub(super) usage: Option<TokenUsage>,
    /// The model sees it.
    pub(super) seen: bool,
}

/// See [`crate::carried`].
#[derive(Debug, Default)]
struct Beside {
    node: Option<String>,
    /// What became of the calls; stands in the file when `node` does.
    calls: Option<String>,
    outcome: Option<String>,
}

/// Where a message is in the tree of nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) side: bool,
    pub(super) back: Option<u32>,
}

impl Encoded {
    pub(super) fn bytes(&self) -> usize {
        let beside = [&self.beside.node, &self.beside.calls, &self.beside.outcome];
        self.message.len() + beside.into_iter().flatten().map(String::len).sum::<usize>()
    }

    /// JSON of the message at its place.
    pub(super) fn json(self, place: Place) -> String {
        let mut members = Members::default();
        if let Some(node) = &self.beside.node {
            members.raw("node", node);
            if let Some(calls) = &self.beside.calls {
                members.raw("calls", calls);
            }
        }
        if let Some(outcome) = &self.beside.outcome {
            members.raw("outcome", outcome);
        }
        members.flag("side", place.side);
        members.maybe_number("back", place.back);
        let beside = members.finish();
        if beside == "null" { self.message } else { with(self.message, &beside) }
    }

    /// The same node as a message that nobody sees.
    pub(super) fn hidden(self) -> Self {
        let Some(node) = self.seen.then(|| self.node()).flatten() else { return self };
        let id = read(&self.message).and_then(|made| made.message_id).unwrap_or_default();
        let hidden = hide(&node, &id);
        Self { calls: self.calls, answers: self.answers, parent: self.parent, ..hidden }
    }

    /// The node that it is of.
    fn node(&self) -> Option<MessageNode> {
        let mut members = Members::default();
        if let Some(node) = &self.beside.node {
            members.raw("node", node);
        }
        if let Some(calls) = &self.beside.calls {
            members.raw("calls", calls);
        }
        let made = read(&with(self.message.clone(), &members.finish()))?;
        let mut node = made.nodes.into_iter().next()?;
        node.node_id = self.node_id;
        Some(node)
    }
}

/// A message with what rides along.
fn with(mut json: String, beside: &str) -> String {
    if json.ends_with('}') {
        json.pop();
    }
    json.reserve(beside.len() + 16);
    json.push_str(",\"");
    json.push_str(sepia_sdk::carried::KEY);
    json.push_str("\":");
    json.push_str(beside);
    json.push('}');
    json
}

/// What the reader makes of a message.
fn read(message: &str) -> Option<Made> {
    let made = gather::made(&Text::of(message.as_bytes()), 1, Dialect::Session).ok()??;
    (made.nodes.len() == 1).then_some(made)
}

/// A node as a message that nobody sees.
fn hide(node: &MessageNode, id: &str) -> Encoded {
    let mut members = Members::default();
    members.text("id", id);
    members.text("role", "assistant");
    members.raw("content", "[]");
    if let Some(time) = milliseconds(node.created_at) {
        members.raw("ts", &time);
    }
    members.raw("metadata", r#"{"displayOnly":true,"displayRole":"status"}"#);
    let message = members.finish();
    let native = read(&message).and_then(|made| made.nodes.into_iter().next());
    let native = native.unwrap_or_else(|| MessageNode::new(1, Role::System, 0.0));
    Encoded {
        node_id: node.node_id,
        parent: node.parent_node_id,
        calls: Vec::new(),
        answers: None,
        beside: Beside { node: sepia_sdk::carried::difference(node, &native), ..Beside::default() },
        message,
        usage: None,
        seen: false,
    }
}

/// Whole epoch milliseconds as JSON, if they are told from seconds.
fn milliseconds(seconds: f64) -> Option<String> {
    let milliseconds = time::milliseconds(seconds);
    ((FIRST_MILLISECONDS..9e15).contains(&milliseconds)).then(|| format!("{milliseconds:.0}"))
}

/// Makes messages of the nodes of a session, in their order.
pub(super) struct Encoder {
    ids: MessageIds,
    /// In which prompts from elsewhere count as typed, `act` or `plan`.
    mode: &'static str,
    /// Calls that were met, by their ids.
    calls: HashMap<String, Called>,
    /// Time of the message before, epoch seconds.
    time: f64,
    pub(super) losses: Vec<Loss>,
}

/// A call that was met.
struct Called {
    name: String,
    /// What it asks for, until it is answered.
    query: Option<String>,
    /// What its node says became of it.
    expected: Expected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// Its result has to tell this.
    Told(Outcome),
    /// Its result has to tell nothing.
    Nothing,
    /// It is carried, whatever the result tells.
    Carried,
}

impl Encoder {
    pub(super) fn new(session: &str, agent_mode: &str, time: f64) -> Self {
        let mode = if agent_mode == "plan" { "plan" } else { "act" };
        Self { ids: MessageIds::of(session), mode, calls: HashMap::new(), time, losses: Vec::new() }
    }

    fn lose(&mut self, kind: LossKind, node: &MessageNode, message: &str) {
        self.losses.push(Loss { kind, node_id: Some(node.node_id), message: message.to_owned() });
    }

    /// The message of a node.
    pub(super) fn encode(&mut self, node: &MessageNode) -> Encoded {
        let encoded = self.encode_whole(node);
        if encoded.bytes() < LONGEST - 4096 {
            return encoded;
        }
        self.lose(LossKind::Mapped, node, "the node is too long for a message and was cut");
        self.encode_whole(&cut(node))
    }

    fn encode_whole(&mut self, node: &MessageNode) -> Encoded {
        let own = Own::of(&node.metadata);
        let plain = match node.role {
            Role::System if own.is_display_only() && node.blocks.is_empty() => self.spoken(node, &own),
            Role::System => None,
            Role::User | Role::Assistant => self.spoken(node, &own),
            Role::Tool => self.answer(node, &own),
        };
        if milliseconds(node.created_at).is_some() {
            self.time = node.created_at;
        }
        if let Some((message, native)) = plain {
            return self.completed(node, message, native);
        }
        let what = match node.role {
            Role::System => "the agent keeps system prompts elsewhere; this one is carried and not shown to the model",
            _ => "the node says nothing that the agent has a message for; it is carried",
        };
        self.lose(LossKind::MetadataOnly, node, what);
        let id = self.ids.give(own.message_id.get(), false);
        hide(node, &id)
    }

    /// Adds what has to ride along.
    fn completed(&mut self, node: &MessageNode, message: String, native: Made) -> Encoded {
        let outcome = native.outcomes.first().copied();
        let Some(mut native) = native.nodes.into_iter().next() else { return hide(node, "") };
        let mut beside = Beside::default();
        for call in &mut native.tool_calls {
            let wanted = node.tool_calls.iter().find(|wanted| wanted.id == call.id);
            settle(call, wanted.and_then(|wanted| wanted.status), wanted.and_then(|wanted| wanted.exit_code));
        }
        if !native.tool_calls.is_empty() {
            let calls: Vec<String> = native.tool_calls.iter().map(|call| ended(call.status, call.exit_code)).collect();
            beside.calls = Some(format!("[{}]", calls.join(",")));
        }
        let answered = node.tool_call_id.as_ref().filter(|_| node.role == Role::Tool);
        let called = answered.and_then(|id| self.calls.get(id));
        if let Some(called) = called
            && native.tool_name.is_none()
        {
            native.tool_name = Some(called.name.clone());
        }
        beside.node = sepia_sdk::carried::difference(node, &native);
        beside.outcome = match called.map(|called| called.expected) {
            Some(Expected::Told(told)) if outcome != Some(told) => Some(ended(Some(told.status), told.exit_code)),
            Some(Expected::Nothing) if outcome.is_some() => Some(ended(None, None)),
            _ => None,
        };
        for call in &node.tool_calls {
            let known = call.status.filter(|status| *status != ToolCallStatus::Pending);
            let told = |status| Expected::Told(Outcome { status, exit_code: call.exit_code });
            let expected =
                if beside.node.is_some() { Expected::Carried } else { known.map_or(Expected::Nothing, told) };
            let called =
                Called { name: call.name.clone(), query: content::query(&call.name, &call.arguments), expected };
            self.calls.insert(call.id.clone(), called);
        }
        self.tell_of(node);
        Encoded {
            node_id: node.node_id,
            parent: node.parent_node_id,
            calls: node.tool_calls.iter().map(|call| call.id.clone()).collect(),
            answers: answered.cloned(),
            message,
            beside,
            usage: node.usage.filter(|_| node.role == Role::Assistant),
            seen: true,
        }
    }

    /// Declares what of a node the model does not see as it was.
    fn tell_of(&mut self, node: &MessageNode) {
        let odd = node.blocks.iter().find(|block| !content::has_place(block, node.role));
        if let Some(block) = odd {
            let what = match block {
                Block::Audio(_) => "the agent has no messages with audio; the model sees a note, and it is carried",
                Block::Image(_) => "the image can't stand in the message; the model sees a note, and it is carried",
                _ => "the file can't stand in the message; the model sees a note, and it is carried",
            };
            self.lose(LossKind::MetadataOnly, node, what);
        }
        let short = |signature: &String| signature.len() < SHORT_SIGNATURE;
        if node.thinking.is_some() && node.thinking_signature.as_ref().is_some_and(short) {
            self.lose(LossKind::MetadataOnly, node, "the signature of the reasoning is too short to be a provider's");
        }
    }

    /// What every message begins with.
    fn begun(&mut self, own: &Own<'_>, role: &str, prompt: bool) -> Members {
        let mut members = Members::default();
        members.text("id", &self.ids.give(own.message_id.get(), prompt));
        members.text("role", role);
        members
    }

    fn timed(&self, members: &mut Members, node: &MessageNode) {
        if let Some(time) = milliseconds(node.created_at).or_else(|| milliseconds(self.time)) {
            members.raw("ts", &time);
        }
    }

    /// A node of text, images, reasoning and calls; none when it has nothing of that.
    fn spoken(&mut self, node: &MessageNode, own: &Own<'_>) -> Option<(String, Made)> {
        let blocks = content::blocks(node, own, own.mode.get().filter(|mode| *mode == "plan").unwrap_or(self.mode));
        if blocks.is_empty() {
            return None;
        }
        let role = if node.role == Role::User { "user" } else { "assistant" };
        let mut members = self.begun(own, role, node.role == Role::User);
        members.list("content", &blocks);
        self.timed(&mut members, node);
        // A message that is not for the model must not come to be one for it, nor the other way round.
        let shown = own.is_display_only() == (node.role == Role::System);
        if let Some(metadata) = own.message_metadata().filter(|_| shown) {
            members.raw("metadata", metadata);
        }
        if node.role != Role::User {
            model(&mut members, node, own);
        }
        let message = members.finish();
        let made = read(&message)?;
        Some((message, made))
    }

    /// The result of a tool.
    fn answer(&mut self, node: &MessageNode, own: &Own<'_>) -> Option<(String, Made)> {
        let call = node.tool_call_id.as_deref().filter(|id| !id.is_empty())?;
        let asked = self.calls.get_mut(call).and_then(|called| called.query.take());
        let id = self.ids.give(own.message_id.get(), false);
        if let Some(usual) = self.usual_answer(node, own, call, &id, asked.as_deref()) {
            return Some(usual);
        }
        let mut last = None;
        for (content, refused) in content::results(node, own, asked.as_deref()) {
            let mut block = Members::default();
            block.text("type", "tool_result");
            block.text("tool_use_id", call);
            let called = self.calls.get(call).map(|called| called.name.as_str());
            block.maybe("name", node.tool_name.as_deref().or(called));
            block.raw("content", &content);
            block.flag("is_error", refused);
            let mut members = Members::default();
            members.text("id", &id);
            members.text("role", "user");
            members.list("content", &[block.finish()]);
            self.timed(&mut members, node);
            let message = members.finish();
            let Some(made) = read(&message) else { continue };
            let says = made.nodes.first().is_some_and(|read| {
                sepia_sdk::same(&read.content, &node.content)
                    && read.blocks == node.blocks
                    && read.tool_result.map(|r| r.status) == node.tool_result.map(|r| r.status)
            });
            last = Some((message, made));
            if says {
                break;
            }
        }
        last
    }

    /// The result of a tool that is text alone, whose outcome its content tells: written at once, with the node that
    /// a reader makes of it. Results are most of what a session holds.
    fn usual_answer(
        &self,
        node: &MessageNode,
        own: &Own<'_>,
        call: &str,
        id: &str,
        asked: Option<&str>,
    ) -> Option<(String, Made)> {
        if !node.blocks.is_empty() || !own.items.items.is_empty() {
            return None;
        }
        let success = match node.tool_result?.status {
            ToolCallStatus::Success => true,
            ToolCallStatus::Error => false,
            ToolCallStatus::Pending => return None,
        };
        let asked = asked.filter(|_| own.message_id.get().is_none());
        let (answer, refused) = match asked {
            Some(asked) => (Answer::of_item(asked, &node.content, success), false),
            None => (Answer::of_text(&node.content, !success)?, !success),
        };
        let called = self.calls.get(call).map(|called| called.name.as_str());
        let tool = node.tool_name.as_deref().or(called).filter(|tool| !tool.is_empty());
        let ts = milliseconds(node.created_at).or_else(|| milliseconds(self.time));

        let mut message = String::with_capacity(node.content.len() + node.content.len() / 16 + 256);
        let text = |message: &mut String, before: &str, text: &str| {
            message.push_str(before);
            sepia_sdk::quoted(text, |piece| message.push_str(piece));
        };
        text(&mut message, "{\"id\":", id);
        text(&mut message, ",\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":", call);
        if let Some(tool) = tool {
            text(&mut message, ",\"name\":", tool);
        }
        if let Some(asked) = asked {
            text(&mut message, ",\"content\":[{\"query\":", asked);
            text(&mut message, ",\"result\":", &node.content);
            message.push_str(if success { ",\"success\":true}]" } else { ",\"success\":false}]" });
        } else {
            text(&mut message, ",\"content\":", &node.content);
        }
        message.push_str(if refused { ",\"is_error\":true}]" } else { "}]" });
        if let Some(ts) = &ts {
            message.push_str(",\"ts\":");
            message.push_str(ts);
        }
        message.push('}');

        let (call, tool) = (Cow::Borrowed(call), tool.map(Cow::Borrowed));
        let answered = Answered { call, tool, message: Some(id), refused };
        let time = ts.as_deref().and_then(|ts| time::of(serde_json::from_str(ts).ok()));
        Some((message, answered.made(time, answer)))
    }
}

/// The model of an answer, and its tokens.
fn model(members: &mut Members, node: &MessageNode, own: &Own<'_>) {
    if let Some(model) = node.model.as_deref().filter(|model| !model.is_empty()) {
        let mut info = Members::default();
        info.text("id", model);
        // The agent drops the model of a message without a provider.
        info.text("provider", own.provider.filled().unwrap_or("unknown"));
        members.raw("modelInfo", &info.finish());
    }
    let Some(usage) = node.usage else { return };
    let counts = [Some(usage.input), Some(usage.output), usage.cache_read, usage.cache_write, usage.cost];
    if counts.into_iter().flatten().any(|count| !count.is_finite() || count < 0.0) {
        return;
    }
    // The agent counts what was read from the cache as input, too.
    let read = if own.input_without_cache.0 { 0.0 } else { usage.cache_read.unwrap_or_default() };
    let mut metrics = Members::default();
    metrics.number("inputTokens", usage.input + read);
    metrics.number("outputTokens", usage.output);
    // It puts the zeros there by itself when it writes the file anew.
    metrics.number("cacheReadTokens", usage.cache_read.unwrap_or_default());
    metrics.number("cacheWriteTokens", usage.cache_write.unwrap_or_default());
    metrics.maybe_number("cost", usage.cost);
    members.raw("metrics", &metrics.finish());
}

/// A node that is too long, with less of it.
fn cut(node: &MessageNode) -> MessageNode {
    let mut cut = node.clone();
    shorten(&mut cut.content);
    cut.blocks.clear();
    if let Some(thinking) = &mut cut.thinking {
        shorten(thinking);
    }
    cut.thinking_signature = cut.thinking_signature.filter(|signature| signature.len() < CUT);
    for call in &mut cut.tool_calls {
        if call.arguments.len() > CUT {
            let mut members = Members::default();
            members.number("bytesCut", call.arguments.len());
            call.arguments = members.finish();
        }
        call.diffs.clear();
    }
    if cut.metadata.len() > CUT {
        cut.metadata = sepia_ir::json_text::null();
    }
    cut
}

fn shorten(text: &mut String) {
    if text.len() > CUT {
        let bytes = text.len() - CUT;
        let end = text.floor_char_boundary(CUT);
        text.truncate(end);
        text.push_str("\n[");
        text.push_str(&bytes.to_string());
        text.push_str(" more bytes were cut]");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use sepia_ir::{ToolCall, ToolResult};

    fn answered(content: &str, status: ToolCallStatus, tool: Option<&str>, at: f64) -> MessageNode {
        MessageNode {
            content: content.to_owned(),
            tool_call_id: Some("call".to_owned()),
            tool_name: tool.map(str::to_owned),
            tool_result: Some(ToolResult { status, exit_code: None, duration_ms: None }),
            ..MessageNode::new(7, Role::Tool, at)
        }
    }

    #[test]
    fn a_usual_result_is_read_as_it_is_foreseen() {
        let texts = [
            "",
            "plain",
            "Command exited with code 3\nno",
            "[Command exited with code -1",
            "a\"b\\c\u{1}\n\t\u{2028}\u{1f600} \\ud800 \\uD83D",
            &"x[{\"\n".repeat(300),
        ];
        let mut met = 0;
        for text in texts {
            for status in [ToolCallStatus::Success, ToolCallStatus::Error] {
                for (tool, arguments) in [("run_commands", r#"{"commands":["ls \"a\""]}"#), ("other", "{}")] {
                    for (named, at) in [(None, 1_767_225_600.25), (Some(""), 0.0), (Some("else"), 1e9)] {
                        let mut encoder = Encoder::new("s", "act", 0.0);
                        let caller = MessageNode {
                            tool_calls: vec![ToolCall::new("call", tool, arguments.into())],
                            ..MessageNode::new(6, Role::Assistant, at)
                        };
                        encoder.encode(&caller);
                        let node = answered(text, status, named, at);
                        let own = Own::of(&node.metadata);
                        let asked = content::query(tool, arguments);
                        let usual = encoder.usual_answer(&node, &own, "call", "id", asked.as_deref());
                        let (message, made) = usual.unwrap();
                        assert_eq!(format!("{:?}", read(&message).unwrap()), format!("{made:?}"), "{message}");
                        assert_eq!(made.nodes[0].content, text);
                        assert_eq!(made.nodes[0].tool_result.unwrap().status, status);
                        met += 1;
                    }
                }
            }
        }
        assert_eq!(met, 72);
    }

    #[test]
    fn a_result_that_looks_like_an_item_is_not_foreseen() {
        let encoder = Encoder::new("s", "act", 0.0);
        let node = answered(r#"{"success":true}"#, ToolCallStatus::Success, None, 1.0);
        assert!(encoder.usual_answer(&node, &Own::default(), "call", "id", None).is_none());
    }
}
