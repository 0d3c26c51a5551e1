//! A node as far as its own row tells. What other rows tell of it comes later, see
//! [`crate::facts`].

use crate::content;
use crate::message::{Chat, Reading, Repair, Row, marks, read};
use crate::outcome::{self, Outcome};
use crate::time;
use sepia_ir::{MessageNode, Role, TokenUsage, ToolCall, Warning, json_text};
use sepia_sdk::carried::KEY;
use sepia_sdk::json::{List, Object, Raw, Str, Text, members, parse, part};
use sepia_sdk::metadata::{Members, clean};
use serde_json::value::RawValue;

/// Extensions of messages that have a place of their own in a node.
pub(crate) const PLACED: [&str; 5] = [
    "chisel/tool_call_content",
    "chisel/tool_result_meta",
    "chisel/terminal_output",
    "chisel/tool_call_timing",
    "chisel/acp-content-blocks",
];
/// An extension longer than this is told by its size, bytes.
const LONGEST_EXTENSION: usize = 16 << 10;
/// How the summariser of a compaction is asked.
pub(crate) const SUMMARISER: &str = "Conversation to summarize:";

/// A node whose metadata is still open.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) node: MessageNode,
    pub(crate) metadata: Members,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) message_id: Option<String>,
    /// How the row says that it came about.
    pub(crate) form: Form,
    pub(crate) prompt: Prompt,
    /// Sums up an earlier window; no turn of the conversation.
    pub(crate) sums_up: bool,
    /// Result: the outcome that the row itself tells.
    pub(crate) outcome: Outcome,
    /// Sub-agent that the row tells of.
    pub(crate) agent: Option<String>,
    /// What rides along in the row, see [`crate::carry`].
    pub(crate) carried: Option<String>,
}

/// How a row came about, as far as it tells the twins of an importer apart: one has no
/// metadata, the other has some with a `summarized_from`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Unrendered,
    Rendered,
    Other,
}

/// Whether a message was typed by a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// The message is of somebody else.
    #[default]
    No,
    /// A message of the user that does not say.
    Unsaid,
    /// Typed, says the message.
    Typed,
    /// Written in the person's name, says the message.
    Injected,
}

/// The node of a row. `file` is the database, for messages.
pub(crate) fn draft(row: &Row, file: &str) -> Draft {
    read(&row.message, |reading, source| {
        let builder = Builder {
            row,
            file,
            source,
            warnings: Vec::new(),
            message_id: None,
            prompt: Prompt::No,
            outcome: Outcome::default(),
            agent: None,
            carried: None,
        };
        builder.draft(reading)
    })
}

struct Builder<'a> {
    row: &'a Row,
    file: &'a str,
    source: &'a str,
    warnings: Vec<Warning>,
    message_id: Option<String>,
    prompt: Prompt,
    outcome: Outcome,
    agent: Option<String>,
    carried: Option<String>,
}

impl Builder<'_> {
    fn warn(&mut self, code: &str, what: &str) {
        let message = format!("node {} of `{}` {what}", self.row.id, self.file);
        self.warnings.push(Warning::new(code, message).in_file(self.file));
    }

    fn draft(mut self, reading: Reading<'_>) -> Draft {
        let row = self.row;
        let written = time::plausible(row.written);
        let (mut node, mut metadata) = if let Some((chat, repair)) = reading {
            self.message(chat, repair, written)
        } else {
            self.warn("broken-message", "holds no message; it is shown as an empty one of the system");
            let bytes = row.message.len() as u64;
            self.warnings.iter_mut().for_each(|warning| warning.bytes = Some(bytes));
            let mut node = MessageNode::new(row.id, Role::System, written.unwrap_or_default());
            node.content = json_text::null();
            (node, Members::default())
        };
        node.parent_node_id = row.parent;
        let (marks, fine) = marks(row.metadata.as_deref());
        if !fine {
            self.warn("broken-metadata", "has metadata that is no JSON object");
        }
        let form = match &marks {
            None if row.metadata.is_none() => Form::Unrendered,
            Some(marks) if marks.summarized_from.present && !marks.is_system_prefix.0 => Form::Rendered,
            _ => Form::Other,
        };
        let mut sums_up = false;
        if let Some(marks) = marks {
            sums_up = marks.summarized_from.value.0.is_some();
            metadata.flag("isSystemPrefix", marks.is_system_prefix.0);
            metadata.maybe_number("summarizedFrom", marks.summarized_from.value.0);
            if let Some(prior) = marks.extensions.get("compact/prior_node_ids") {
                metadata.raw("priorNodeIds", prior.get());
            }
        }
        let Self { warnings, message_id, prompt, outcome, agent, carried, .. } = self;
        Draft { node, metadata, warnings, message_id, form, prompt, sums_up, outcome, agent, carried }
    }

    fn message(&mut self, mut chat: Chat<'_>, repair: Option<Repair>, written: Option<f64>) -> (MessageNode, Members) {
        let mut metadata = Members::default();
        if let Some(Repair::Surrogates(count)) = repair {
            let where_ = damaged_member(&self.row.message);
            self.warn(
                "lone-surrogate",
                &format!("has {count} halves of surrogate pairs without a partner in `{where_}`; each became U+FFFD"),
            );
        }
        let said = chat.about.created_at.get().and_then(time::of_text);
        let mut node = MessageNode::new(self.row.id, Role::System, said.or(written).unwrap_or_default());
        if let (Some(said), Some(written)) = (said, written)
            && (said - written).abs() >= 1.0
        {
            metadata.maybe_number("writtenAt", Some(written));
        }
        metadata.maybe("messageId", chat.message_id.get());
        self.message_id = chat.message_id.take_owned().filter(|id| !id.is_empty());
        self.carried = crate::carry::of_message(&chat.about.extensions);
        self.agent = part::<Str<'_>>(chat.about.extensions.get("subagent/agent_id")).take_owned();
        node.role = self.role(&mut chat, &mut metadata);
        node.content = match std::mem::take(&mut chat.content) {
            Text::Is(text) => text.into_owned(),
            Text::Missing => String::new(),
            Text::Other => self.odd_content(),
        };
        match node.role {
            Role::User => {
                let said = chat.about.is_user_input;
                metadata.flag("isUserInput", said.value.0);
                self.prompt = match (said.present, said.value.0) {
                    (false, _) => Prompt::Unsaid,
                    (true, true) => Prompt::Typed,
                    (true, false) => Prompt::Injected,
                };
            }
            Role::Assistant => self.answer(&mut node, &mut chat, &mut metadata),
            Role::Tool => {
                let (outcome, tool) = outcome::of_result(&chat);
                node.tool_call_id = chat.tool_call_id.take_owned();
                node.tool_name = tool;
                self.outcome = outcome;
            }
            Role::System => {}
        }
        if node.role != Role::Assistant && (!chat.tool_calls.items.is_empty() || chat.tool_calls.odd) {
            self.warn("misplaced-calls", "calls tools and is no answer of the model; the calls are left out");
        }
        if node.role == Role::User && node.content.starts_with(SUMMARISER) {
            metadata.text("kind", "summariser-prompt");
        }
        let attached = chat.about.extensions.get("chisel/acp-content-blocks");
        if (attached.is_some() || chat.images.is_some()) && content::give(&mut node, attached, chat.images) {
            self.warn("unknown-block", "has content blocks of a kind that is not known; they are left out");
        }
        extensions(&chat, &mut metadata);
        (node, metadata)
    }

    fn role(&mut self, chat: &mut Chat<'_>, metadata: &mut Members) -> Role {
        match chat.role.get() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("tool") if chat.tool_call_id.filled().is_some() => Role::Tool,
            Some("tool") => {
                self.warn("result-without-call", "is the result of no call; it is shown as a message of the system");
                metadata.text("role", "tool");
                Role::System
            }
            other => {
                let what = other.map_or("no role".to_owned(), |_| "a role that is not known".to_owned());
                self.warn("unknown-role", &format!("has {what}; it counts as one of the system"));
                metadata.maybe("role", other);
                Role::System
            }
        }
    }

    fn answer(&mut self, node: &mut MessageNode, chat: &mut Chat<'_>, metadata: &mut Members) {
        let about = &mut chat.about;
        let metrics = &about.metrics;
        let count = |number: sepia_sdk::json::Number| number.0.filter(|count| *count >= 0.0);
        if metrics.input.0.is_some() || metrics.output.0.is_some() {
            node.usage = Some(TokenUsage {
                input: count(metrics.input).unwrap_or_default(),
                output: count(metrics.output).unwrap_or_default(),
                cache_read: count(metrics.cache_read),
                cache_write: count(metrics.cache_write),
                ..TokenUsage::default()
            });
        }
        node.model = about.generation_model.take_owned().filter(|model| !model.is_empty());
        node.request_id = about.request_id.take_owned();
        node.finish_reason = about.finish_reason.take_owned();
        metadata.maybe_number("acuCost", about.acu_cost.0);
        (node.thinking, node.thinking_signature) = thinking(chat.thinking);
        let (calls, odd) = calls(chat);
        node.tool_calls = calls;
        if odd {
            self.warn("broken-call", "calls tools in a form that is not known; such calls are left out");
        }
        outcome::of_snapshots(chat.about.extensions.get("chisel/tool_call_content"), &mut node.tool_calls);
    }

    /// Content that is no text, as the JSON text that it is, names in their order.
    fn odd_content(&mut self) -> String {
        members! {
            Whole {
                content: Raw<'a> = "content",
            }
        }
        let raw = parse::<Whole<'_>>(self.source)
            .ok()
            .and_then(|whole| whole.content.map(|raw| clean(raw.get()).into_owned()));
        let raw = raw.unwrap_or_default();
        self.warn("odd-content", "has content that is no text; it is shown as JSON");
        sorted(&raw)
    }
}

/// JSON text with the members of every object in the order of their names, as other readers of
/// the store show it.
fn sorted(json: &str) -> String {
    match json.trim_start().chars().next() {
        Some('{') => {
            let members: Object<'_> = parse(json).unwrap_or_default();
            let mut names: Vec<&str> = members.0.iter().map(|(name, _)| name.as_ref()).collect();
            names.sort_unstable();
            names.dedup();
            let mut object = Members::default();
            for name in &names {
                object.raw(name, &members.get(name).map_or_else(json_text::null, |value| sorted(value.get())));
            }
            if names.is_empty() { "{}".to_owned() } else { object.finish() }
        }
        Some('[') => {
            let list: Vec<&RawValue> = parse(json).unwrap_or_default();
            let items: Vec<String> = list.into_iter().map(|item| sorted(item.get())).collect();
            format!("[{}]", items.join(","))
        }
        _ => json.trim().to_owned(),
    }
}

members! {
    Thinking {
        text: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
    }
}

/// Reasoning and its signature.
fn thinking(raw: Raw<'_>) -> (Option<String>, Option<String>) {
    let Some(raw) = raw else { return (None, None) };
    let mut thinking: Thinking<'_> = part(Some(raw));
    let text = thinking.text.take_owned().or_else(|| part::<Str<'_>>(Some(raw)).take_owned());
    let signature = thinking.signature.take_owned().filter(|signature| !signature.is_empty());
    match text {
        Some(text) if text.is_empty() && signature.is_some() => (Some("[redacted]".to_owned()), signature),
        Some(text) if text.is_empty() => (None, None),
        None if signature.is_some() => (Some("[redacted]".to_owned()), signature),
        text => (text, signature),
    }
}

/// The calls of an answer, and whether some could not be read.
pub(crate) fn calls(chat: &mut Chat<'_>) -> (Vec<ToolCall>, bool) {
    let List { items, mut odd } = std::mem::take(&mut chat.tool_calls);
    let mut calls: Vec<ToolCall> = Vec::with_capacity(items.len());
    for mut item in items {
        let (Some(id), Some(name)) = (item.id.filled(), item.name.filled()) else {
            odd = true;
            continue;
        };
        if calls.iter().any(|call| call.id == id) {
            odd = true;
            continue;
        }
        let arguments = item.arguments.map_or_else(json_text::null, |raw| clean(raw.get()).into_owned());
        let mut call = ToolCall::new(id, name, arguments);
        call.index = item.index.0.unwrap_or_else(|| i64::try_from(calls.len()).unwrap_or(i64::MAX));
        if let Some(kind) = item.kind.take_owned().filter(|kind| !kind.is_empty()) {
            call.kind = kind;
        }
        calls.push(call);
    }
    (calls, odd)
}

/// Extensions that have no other place.
fn extensions(chat: &Chat<'_>, metadata: &mut Members) {
    let mut kept = Members::default();
    let mut any = false;
    for (name, value) in &chat.about.extensions.0 {
        if PLACED.contains(&name.as_ref()) || name == KEY {
            continue;
        }
        any = true;
        if value.get().len() > LONGEST_EXTENSION {
            kept.raw(name, &format!("{{\"bytes\":{}}}", value.get().len()));
        } else {
            kept.raw(name, value.get());
        }
    }
    if any {
        metadata.raw("extensions", &kept.finish());
    }
}

/// The outermost member of a message that holds half of a pair.
fn damaged_member(text: &str) -> String {
    let members: Object<'_> = parse(text).unwrap_or_default();
    let damaged = members.0.iter().find(|(_, value)| json_text::replace_lone_surrogates(value.get().as_bytes()).1 > 0);
    damaged.map_or_else(|| "message".to_owned(), |(name, _)| name.to_string())
}
