//! Nodes of one message.

use crate::carried::{self, Carried};
use crate::changes;
use crate::content::{Gatherer, raw_elements};
use crate::index::Dialect;
use crate::record::{Content, ContentBlock, Marks, Message, Metrics};
use crate::result::{self, Answer, Outcome};
use crate::spoken;
use crate::time;
use sepia_ir::{MessageNode, Role, TokenUsage, ToolCall, ToolResult};
use sepia_sdk::json::{Raw, Str};
use sepia_sdk::metadata::{self, Members};
use std::borrow::Cow;

/// The nodes of a message: its tool results, then what else it says.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) nodes: Vec<MessageNode>,
    /// What became of the calls that the tool nodes answer, in their order.
    pub(crate) outcomes: Vec<Outcome>,
    /// Types of blocks that are not understood.
    pub(crate) opaque: Vec<String>,
    /// Epoch seconds; absent when the message doesn't tell.
    pub(crate) time: Option<f64>,
    pub(crate) message_id: Option<String>,
    /// Only people see the message, not the model.
    pub(crate) display_only: bool,
    /// What is carried beside the message.
    pub(crate) carried: Option<Carried>,
}

/// Makes the nodes of a message whose first one has this id, from 1. `text` is its JSON.
pub(crate) fn of(message: Message<'_>, text: &str, first: u32, dialect: Dialect) -> Made {
    let time = time::of(message.ts);
    let marks = message.metadata.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let mut maker = Maker {
        nodes: Vec::new(),
        outcomes: Vec::new(),
        opaque: Vec::new(),
        next: first.max(1),
        time: time.unwrap_or_default(),
        dialect,
        members: Members::default(),
    };
    let message_id = message.id.filled().map(str::to_owned);
    let beside = message.carried.filter(|_| dialect == Dialect::Session);
    maker.message(message, &marks, text);
    let Maker { mut nodes, outcomes, opaque, .. } = maker;
    // Who carries something makes one node a message.
    let carried = match (nodes.as_mut_slice(), beside) {
        ([node], Some(beside)) => match carried::put_on(node, beside) {
            Some(carried) => Some(carried),
            // What makes no node that can be is passed over.
            None => return plain(text, first, dialect),
        },
        _ => None,
    };
    Made { nodes, outcomes, opaque, time, message_id, display_only: marks.display_only.0, carried }
}

/// The nodes of a message without what is carried beside it.
fn plain(text: &str, first: u32, dialect: Dialect) -> Made {
    let mut message: Message<'_> = sepia_sdk::json::parse(text).unwrap_or_default();
    message.carried = None;
    of(message, text, first, dialect)
}

/// A message that is too long to be read: its node says so.
/// `ends` are its first and its last bytes.
pub(crate) fn stub(ends: [&[u8]; 2], offset: u64, length: u64, first: u32) -> MessageNode {
    let found = |name: &str| ends.iter().find_map(|end| member(end, name));
    let call = found("tool_use_id");
    let role = match (found("role").as_deref(), &call) {
        (Some("assistant"), _) => Role::Assistant,
        (_, Some(_)) => Role::Tool,
        _ => Role::User,
    };
    let mut node = node(first, role, 0.0);
    node.tool_call_id = call.filter(|_| role == Role::Tool);
    let mut members = Members::default();
    members.flag("tooLong", true);
    members.number("offset", offset);
    members.number("bytes", length);
    members.maybe("messageId", found("id").as_deref());
    node.metadata = members.finish();
    node
}

/// The value of a member near an end of a message that is a string without escapes.
fn member(bytes: &[u8], name: &str) -> Option<String> {
    let from = memchr::memmem::find(bytes, format!("\"{name}\"").as_bytes())? + name.len() + 2;
    let rest = bytes[from..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    (rest[end] == b'"' && !text.is_empty()).then(|| text.to_owned())
}

fn node(id: u32, role: Role, time: f64) -> MessageNode {
    MessageNode { parent_node_id: (id > 1).then(|| i64::from(id) - 1), ..MessageNode::new(id.into(), role, time) }
}

/// What a result says besides its content.
pub(crate) struct Answered<'a> {
    /// The call that it answers.
    pub(crate) call: Cow<'a, str>,
    pub(crate) tool: Option<Cow<'a, str>>,
    /// Id of its message.
    pub(crate) message: Option<&'a str>,
    pub(crate) refused: bool,
}

impl Answered<'_> {
    /// What a reader makes of a message of this result alone, which is of this time, epoch seconds.
    pub(crate) fn made(self, time: Option<f64>, answer: Answer) -> Made {
        let message_id = self.message.filter(|id| !id.is_empty()).map(str::to_owned);
        let outcomes = vec![answer.outcome];
        let nodes = vec![self.node(node(1, Role::Tool, time.unwrap_or_default()), answer)];
        Made { nodes, outcomes, time, message_id, ..Made::default() }
    }

    fn node(self, mut node: MessageNode, answer: Answer) -> MessageNode {
        node.tool_call_id = Some(self.call.into_owned());
        node.tool_name = self.tool.map(Cow::into_owned);
        node.tool_result =
            Some(ToolResult { status: answer.outcome.status, exit_code: answer.outcome.exit_code, duration_ms: None });
        let opaque = answer.content.give(&mut node);
        let mut members = Members::default();
        members.maybe("messageId", self.message);
        members.flag("refused", self.refused);
        members.list("items", &answer.items);
        members.list("opaque", &opaque);
        node.metadata = members.finish();
        node
    }
}

struct Maker {
    nodes: Vec<MessageNode>,
    outcomes: Vec<Outcome>,
    opaque: Vec<String>,
    next: u32,
    time: f64,
    dialect: Dialect,
    /// Metadata of the node that is not a tool's.
    members: Members,
}

impl Maker {
    fn node(&mut self, role: Role) -> MessageNode {
        self.next += 1;
        node(self.next - 1, role, self.time)
    }

    fn message(&mut self, mut message: Message<'_>, marks: &Marks<'_>, text: &str) {
        let role = match message.role.get() {
            Some("assistant") if marks.display_only.0 => Role::System,
            Some("assistant") => Role::Assistant,
            Some("system" | "developer") => Role::System,
            _ => Role::User,
        };
        let mut said = Said { role, ..Said::default() };
        match std::mem::take(&mut message.content) {
            Content::Text(text) => self.text(text, &mut said),
            Content::Blocks(blocks) => {
                for (at, block) in blocks.into_iter().enumerate() {
                    let kind = block.kind.get().unwrap_or("none").to_owned();
                    if !self.block(block, &message, &mut said) {
                        self.opaque.push(kind);
                        said.content.opaque.extend(raw_block(text, at));
                    }
                }
            }
            Content::Odd => {
                self.opaque.push("content".to_owned());
                said.content.opaque.extend(raw_content(text));
            }
            Content::Missing => {}
        }
        if self.nodes.is_empty() || !said.is_empty() {
            self.finish(message, marks, said);
        }
    }

    fn text(&mut self, text: Cow<'_, str>, said: &mut Said) {
        if said.role != Role::User || self.dialect == Dialect::Shown {
            return said.content.text(text);
        }
        let spoken = match self.dialect {
            Dialect::Session => spoken::in_session(&text),
            _ => spoken::in_task(&text),
        };
        said.report |= self.dialect == Dialect::Task && spoken::is_tool_report(&text);
        if let Some(mode) = spoken.mode {
            said.mode = Some(mode.to_owned());
        }
        said.originals.push(metadata::string(&text));
        if spoken.text == text {
            drop(spoken);
            said.content.text(text);
        } else {
            said.unwrapped = true;
            said.content.text(Cow::Owned(spoken.text.into_owned()));
        }
    }

    /// Takes a block; false when it is not understood.
    fn block(&mut self, mut block: ContentBlock<'_>, message: &Message<'_>, said: &mut Said) -> bool {
        match block.kind.get() {
            Some("text") => match block.text.take() {
                Some(text) => self.text(text, said),
                None => return false,
            },
            Some("thinking") => {
                said.thinking.push(block.thinking.take().unwrap_or_default().into_owned());
                said.signature = block.signature.take().map(Cow::into_owned).or(said.signature.take());
            }
            Some("redacted_thinking") => {
                said.thinking.push("[redacted]".to_owned());
                said.signature = block.data.take().map(Cow::into_owned).or(said.signature.take());
            }
            Some("tool_use") => return said.call(&block),
            Some("tool_result") => return self.result(block, message),
            _ => return said.content.shown(&mut block),
        }
        true
    }

    fn result(&mut self, mut block: ContentBlock<'_>, message: &Message<'_>) -> bool {
        let Some(id) = block.tool_use_id.take().filter(|id| !id.is_empty()) else { return false };
        let answer = result::decode(block.content, block.is_error.0);
        let node = self.node(Role::Tool);
        let answered = Answered {
            call: id,
            tool: block.name.take().filter(|name| !name.is_empty()),
            message: message.id.get(),
            refused: block.is_error.0,
        };
        self.outcomes.push(answer.outcome);
        self.nodes.push(answered.node(node, answer));
        true
    }

    fn finish(&mut self, message: Message<'_>, marks: &Marks<'_>, said: Said) {
        let mut node = self.node(said.role);
        let mut members = std::mem::take(&mut self.members);
        members.maybe("messageId", message.id.get());
        if !matches!(message.role.get(), Some("assistant" | "user" | "system")) {
            members.maybe("role", message.role.get());
        }
        let error = said.role == Role::System && marks.display_only.0;
        members.maybe("kind", error.then(|| marks.display_role.get().unwrap_or("error")));
        members.flag("displayOnly", marks.display_only.0);
        let nothing = said.role == Role::User && said.is_silent();
        members.flag("hidden", is_synthetic(marks) || (nothing && !said.originals.is_empty()));
        members.maybe("kind", said.report.then_some("tool-report"));
        members.maybe("mode", said.mode.as_deref());
        if said.unwrapped {
            members.list("originalTexts", &said.originals);
        }
        if let Some(raw) = message.metadata.filter(|raw| !matches!(raw.get(), "null" | "{}")) {
            members.raw("messageMetadata", raw.get());
        }
        if said.role == Role::Assistant {
            let info = &message.model_info;
            node.model = info.id.filled().or(info.model_id.filled()).map(str::to_owned);
            members.maybe("provider", info.provider.get().filter(|provider| is_known(provider)));
            if let Some((usage, without_cache)) = usage(&message.metrics) {
                node.usage = Some(usage);
                members.flag("inputWithoutCache", without_cache);
            }
            node.tool_calls = said.calls;
            if !said.thinking.is_empty() {
                node.thinking = Some(said.thinking.join("\n"));
            }
            node.thinking_signature = said.signature;
        }
        members.list("opaque", &said.content.give(&mut node));
        node.metadata = members.finish();
        self.nodes.push(node);
    }
}

/// What a message says beside the results of tools.
struct Said {
    role: Role,
    content: Gatherer,
    calls: Vec<ToolCall>,
    thinking: Vec<String>,
    signature: Option<String>,
    mode: Option<String>,
    /// Texts as they stand in the file, as JSON.
    originals: Vec<String>,
    /// What is shown differs from them.
    unwrapped: bool,
    /// The result of a tool, as text.
    report: bool,
}

impl Default for Said {
    fn default() -> Self {
        Self {
            role: Role::User,
            content: Gatherer::default(),
            calls: Vec::new(),
            thinking: Vec::new(),
            signature: None,
            mode: None,
            originals: Vec::new(),
            unwrapped: false,
            report: false,
        }
    }
}

impl Said {
    fn is_silent(&self) -> bool {
        self.content.is_empty() && self.content.opaque.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.is_silent() && self.calls.is_empty() && self.thinking.is_empty() && self.originals.is_empty()
    }

    /// Takes a call; one without id or name, or whose id is another call's, is not understood.
    fn call(&mut self, block: &ContentBlock<'_>) -> bool {
        let (Some(id), Some(name)) = (block.id.filled(), block.name.filled()) else { return false };
        if self.role != Role::Assistant || self.calls.iter().any(|call| call.id == id) {
            return false;
        }
        let arguments =
            block.input.map_or_else(sepia_ir::json_text::null, |raw| metadata::clean(raw.get()).into_owned());
        let mut call = ToolCall::new(id, name, arguments);
        call.index = i64::try_from(self.calls.len()).unwrap_or(i64::MAX);
        call.locations = changes::locations(&call.name, &call.arguments);
        self.calls.push(call);
        true
    }
}

/// Whether a model or a provider is told; the agent takes `unknown` for none, too.
pub(crate) fn is_known(name: &str) -> bool {
    !name.eq_ignore_ascii_case("unknown")
}

/// Whether a user message was written by the agent: output of hooks, a nudge after an answer
/// that was cut off, a summary.
fn is_synthetic(marks: &Marks<'_>) -> bool {
    marks.display_role.is("system") || marks.user_run_span.0 == Some(0.0)
}

/// Tokens of a model call. The agent counts what was read from the cache as input, too; where
/// that can't be, since more was read from the cache than went in at all, the input is taken as
/// it is, and the second value says so.
fn usage(metrics: &Metrics<'_>) -> Option<(TokenUsage, bool)> {
    let count = |number: Option<f64>| number.filter(|number| number.is_finite() && *number >= 0.0);
    let (input, output) = (count(metrics.input.0), count(metrics.output.0));
    let (cache_read, cache_write) = (count(metrics.cache_read.0), count(metrics.cache_write.0));
    input.or(output).or(cache_read).or(cache_write)?;
    let (all, read) = (input.unwrap_or_default(), cache_read.unwrap_or_default());
    let without_cache = read > all;
    let usage = TokenUsage {
        input: if without_cache { all } else { all - read },
        output: output.unwrap_or_default(),
        cache_read,
        cache_write,
        thinking: None,
        cost: count(metrics.cost.0),
    };
    Some((usage, without_cache))
}

sepia_sdk::members! {
    RawMessage {
        content: Raw<'a> = "content",
        role: Str<'a> = "role",
    }
}

fn raw_content(message: &str) -> Option<String> {
    let message = serde_json::from_str::<RawMessage<'_>>(message).ok()?;
    Some(metadata::clean(message.content?.get()).into_owned())
}

fn raw_block(message: &str, at: usize) -> Option<String> {
    let message = serde_json::from_str::<RawMessage<'_>>(message).ok()?;
    raw_elements(message.content?.get()).into_iter().nth(at)
}
