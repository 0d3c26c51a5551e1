//! Nodes as the agent's records.
//!
//! An answer is a record for each of its blocks, all with the id of the message; the results of its calls follow
//! one under the other, each a record of its own. The agent itself hangs parallel results side by side, and loses
//! all but the last of them when it reads a file of more than 5 MiB; in a row none is lost.

use super::content::{self, NOTHING, is_blank};
use super::fresh::{Fresh, tool_name};
use super::own::{ApiError, Own};
use super::record::Records;
use super::riding::{self, Marks};
use super::tree::{Placed, Tree};
use crate::ids::{IdMap, id};
use crate::json::{Raw, Str, members, parse};
use crate::lines::MAX_LINE;
use crate::metadata::{self, Members};
use crate::outcome::{Outcome, locations};
use crate::prompt::{self, Spoken};
use crate::time;
use sepia_ir::{Loss, LossKind, MessageNode, PromptHistoryEntry, Role, TokenUsage, ToolCall, ToolCallStatus};
use std::borrow::Cow;

/// Model of answers whose maker is not known; the agent takes its default then. Without any it hangs.
pub(crate) const SYNTHETIC: &str = "<synthetic>";
/// Shorter signatures can't be valid, and a provider refuses the whole session for one.
const SHORTEST_SIGNATURE: usize = 40;
/// Characters of a prompt that the agent notes.
const LONGEST_PROMPT: usize = 200;
/// Text of reasoning that is sealed.
const REDACTED: &str = "[redacted]";
/// Why a message of this agent's providers ended.
const STOPS: [&str; 7] =
    ["end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded"];

/// What is written of a session so far.
pub(crate) struct Turns {
    pub(crate) records: Records,
    pub(crate) tree: Tree,
    pub(crate) losses: Vec<Loss>,
    pub(crate) told: Told,
    fresh: Fresh,
    calls: IdMap<Called>,
    prompt_id: String,
    model: String,
    /// Time of the latest record, epoch milliseconds.
    time: i64,
}

/// A call that waits for its result.
#[derive(Debug)]
struct Called {
    /// Its id in the file.
    id: String,
    tool: String,
    /// Its record.
    uuid: u128,
    /// Number of its node.
    node: u32,
}

/// What a reader will say of the session from its records.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// There is a message.
    pub(crate) spoken: bool,
    /// What the person is to have typed.
    wanted: Vec<PromptHistoryEntry>,
    /// Prompts so far, and whether they are those.
    prompts: usize,
    differs: bool,
    pub(crate) prompt: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) last_prompt: Option<String>,
}

members! {
    /// A block of reasoning, as metadata keeps it.
    Reasoning {
        thinking: Str<'a> = "thinking",
        signature: Str<'a> = "signature",
    }
}

impl Turns {
    /// `model` stands where a node tells none, `created` where the first has no time, epoch seconds.
    pub(crate) fn new(records: Records, model: &str, created: f64, prompts: Vec<PromptHistoryEntry>) -> Self {
        let model = if model.is_empty() { SYNTHETIC } else { model };
        Self {
            records,
            tree: Tree::default(),
            losses: Vec::new(),
            told: Told { wanted: prompts, ..Told::default() },
            fresh: Fresh::default(),
            calls: IdMap::default(),
            prompt_id: String::new(),
            model: model.to_owned(),
            time: milliseconds(created).unwrap_or(1),
        }
    }

    /// Writes a node that is no answer, and no result of the answer before it.
    pub(crate) fn node(&mut self, node: MessageNode) {
        match node.role {
            Role::User => self.user(node),
            Role::Assistant => self.assistant(node, Vec::new()),
            Role::Tool => self.result(node),
            Role::System => self.system(node),
        }
    }

    /// Writes an answer and, in their order, the results of its calls that follow it.
    pub(crate) fn answer(&mut self, node: MessageNode, results: Vec<MessageNode>) {
        self.assistant(node, results);
    }

    fn lose(&mut self, kind: LossKind, node: i64, message: impl Into<String>) {
        self.losses.push(Loss { kind, node_id: Some(node), message: message.into() });
    }

    fn parent(&self, node: &MessageNode) -> Option<Placed> {
        node.parent_node_id.and_then(|parent| self.tree.get(parent))
    }

    /// The time of a node as its record has it, and as the reader takes that.
    fn time(&mut self, node: &MessageNode) -> (String, f64) {
        let told = milliseconds(node.created_at).and_then(|ms| Some((ms, time::rfc3339(ms)?)));
        let (ms, text) = told.unwrap_or_else(|| (self.time, time::rfc3339(self.time).unwrap_or_default()));
        self.time = ms;
        #[expect(clippy::cast_precision_loss, reason = "of any year far below 2^53")]
        let seconds = ms as f64 / 1000.0;
        (text, seconds)
    }

    fn user(&mut self, mut node: MessageNode) {
        let text = std::mem::take(&mut node.metadata);
        let own = Own::of(&text);
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let uuid = self.fresh.uuid(own.uuids().next());
        let exact = self.tree.would_be_mended(parent, 0);
        self.prompt_id = match own.prompt_id.filled() {
            Some(id) => id.to_owned(),
            None if own.is_own() => String::new(),
            None => uuid::Uuid::new_v4().to_string(),
        };
        let prompt_id = self.prompt_id.clone();
        let prompt_id = Some(prompt_id.as_str()).filter(|id| !id.is_empty());
        let records = &mut self.records;
        records.begin(parent.map(|parent| parent.uuid));
        records.json(",\"isSidechain\":false");
        maybe(records, "promptId", prompt_id);
        records.json(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":");
        let written = content::write(records, &node, NOTHING);
        records.json("}");
        flag(records, "isMeta", own.is_meta.0);
        flag(records, "isVisibleInTranscriptOnly", own.is_compact_summary.0);
        flag(records, "isCompactSummary", own.is_compact_summary.0);
        records.identity(uuid, &time);
        if own.is_own() {
            maybe(records, "permissionMode", own.permission_mode.get());
            maybe(records, "promptSource", own.prompt_source.get());
            maybe(records, "interruptedMessageId", own.interrupted_message_id.get());
        } else {
            records.json(",\"permissionMode\":\"default\",\"promptSource\":\"sdk\"");
        }
        let mut native = MessageNode::new(node.node_id, Role::User, seconds);
        let shown = if written.same_text { node.content.as_str() } else { written.text.as_str() };
        if own.is_own() {
            let mut members = Members::default();
            members.flag("isMeta", own.is_meta.0);
            members.flag("isCompactSummary", own.is_compact_summary.0);
            members.maybe("promptId", prompt_id);
            members.maybe("promptSource", own.prompt_source.get());
            members.maybe("permissionMode", own.permission_mode.get());
            members.maybe("interruptedMessageId", own.interrupted_message_id.get());
            match prompt::classify(shown) {
                Spoken::Typed(_) => {}
                Spoken::Command(_) => members.text("kind", "command"),
                Spoken::Shell(_) => members.text("kind", "shell-input"),
                Spoken::Machine(kind) => members.text("kind", kind),
            }
            native.metadata = identified(members, &[uuid], parent);
        } else {
            native.metadata = String::new();
        }
        if !own.is_meta.0 && !own.is_compact_summary.0 {
            self.told.say(&node, shown, &written.texts, seconds);
        }
        self.told.spoken = true;
        self.unseen(&node, written.unseen, &own);
        settle(&mut node, &mut native, &written);
        node.metadata = text;
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: false, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, 0, exact);
    }

    fn assistant(&mut self, mut node: MessageNode, results: Vec<MessageNode>) {
        let text = std::mem::take(&mut node.metadata);
        let own = Own::of(&text);
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let exact = self.tree.would_be_mended(parent, 0);
        let number = self.tree.next();
        let mut native = MessageNode::new(node.node_id, Role::Assistant, seconds);

        // The blocks, one JSON text each.
        let mut blocks = self.reasoning(&node, &own, &mut native);
        if !is_blank(&node.content) {
            let mut text = Records::default();
            text.json("{\"type\":\"text\"");
            text.text("text", &node.content);
            text.json("}");
            blocks.push(text.bytes);
            std::mem::take(&mut node.content);
        }
        if !node.blocks.is_empty() {
            self.lose(
                LossKind::MetadataOnly,
                node.node_id,
                "pictures and files of an answer are not shown to the model",
            );
        }
        let mut calls = Vec::new();
        let mut called = Vec::new();
        for call in &node.tool_calls {
            let (block, one) = self.call(call, &results, calls.len(), node.node_id);
            calls.push(one.0);
            called.push((id(call.id.as_bytes()), one.1, blocks.len()));
            blocks.push(block);
        }
        native.tool_calls = calls;
        if blocks.is_empty() {
            blocks.push(format!("{{\"type\":\"text\",\"text\":\"{NOTHING}\"}}").into_bytes());
            NOTHING.clone_into(&mut native.content);
        }
        let mut uuids: Vec<Option<u128>> = own.uuids().map(Some).collect();
        uuids.resize(blocks.len(), None);
        let uuids: Vec<u128> = uuids.into_iter().map(|uuid| self.fresh.uuid(uuid)).collect();

        // What is the same in all of its records.
        let message = self.fresh.other(own.message_id.filled(), "msg_");
        let synthetic = own.synthetic.0;
        let model = match &node.model {
            _ if synthetic => SYNTHETIC.to_owned(),
            Some(model) if !model.is_empty() => model.clone(),
            _ => self.model.clone(),
        };
        let usage = node.usage.unwrap_or_default();
        let stop = match node.finish_reason.as_deref() {
            Some(reason) if own.is_own() || STOPS.contains(&reason) => Some(reason),
            None if own.is_own() => None,
            _ => Some(if node.tool_calls.is_empty() { "end_turn" } else { "tool_use" }),
        };
        native.finish_reason = stop.map(str::to_owned);
        if model != SYNTHETIC {
            native.model = Some(model.clone());
            native.usage = Some(counted(&usage));
        }
        native.metadata = if own.is_own() {
            let mut members = Members::default();
            members.text("messageId", &message);
            members.flag("isMeta", own.is_meta.0);
            members.flag("synthetic", model == SYNTHETIC);
            if let Some(error) = own.api_error {
                members.raw("apiError", error.get());
            }
            identified(members, &uuids, parent)
        } else {
            String::new()
        };
        let node_id = node.node_id;
        let head = message_head(&message, &model);
        let tail = message_tail(stop, &usage);
        let request = node.request_id.take_if(|id| !id.is_empty());
        self.unseen(&node, 0, &own);
        std::mem::take(&mut node.metadata);
        node.metadata.clone_from(&text);
        let carried = riding::text(node, native, Marks { node: false, exact });
        let mut above = parent.map(|parent| parent.uuid);
        for (at, block) in blocks.iter().enumerate() {
            let records = &mut self.records;
            records.begin(above);
            records.json(",\"isSidechain\":false,\"message\":");
            records.json(&head);
            records.bytes.extend_from_slice(block);
            records.json(&tail);
            maybe(records, "requestId", request.as_deref());
            records.json(",\"type\":\"assistant\"");
            records.identity(uuids[at], &time);
            if let Some(error) = own.api_error {
                let error: ApiError<'_> = parse(error.get()).unwrap_or_default();
                flag(records, "isApiErrorMessage", true);
                raw(records, "error", error.error);
                raw(records, "apiErrorStatus", error.status);
            }
            flag(records, "isMeta", own.is_meta.0);
            above = Some(uuids[at]);
            self.end(node_id, carried.as_deref().filter(|_| at == 0));
        }
        let last = uuids.last().copied().unwrap_or_default();
        self.told.spoken = true;
        self.tree.add(node_id, parent, last, 0, exact);
        for (wanted, mut call, block) in called {
            call.node = number;
            call.uuid = uuids[block];
            self.calls.insert(wanted, call);
        }
        for result in results {
            self.result(result);
        }
    }

    /// Reasoning as blocks: sealed by this agent's provider only, anything else is refused.
    fn reasoning(&mut self, node: &MessageNode, own: &Own<'_>, native: &mut MessageNode) -> Vec<Vec<u8>> {
        let Some(thinking) = &node.thinking else { return Vec::new() };
        let seal = node.thinking_signature.as_deref().unwrap_or_default();
        let several = own.thinking_blocks.map(|raw| serde_json::from_str::<Vec<Reasoning<'_>>>(raw.get()));
        let several = several.and_then(Result::ok).unwrap_or_default();
        let texts = several.iter().map(|block| Cow::Borrowed(block.thinking.get().unwrap_or_default()));
        let parts: Vec<(&str, &str)> = if !several.is_empty() && prompt::joined(texts) == thinking.as_str() {
            several
                .iter()
                .map(|block| (block.thinking.get().unwrap_or_default(), block.signature.get().unwrap_or_default()))
                .collect()
        } else if several.is_empty() {
            vec![(thinking.as_str(), seal)]
        } else {
            Vec::new()
        };
        let is_valid =
            |(text, seal): &(&str, &str)| seal.len() >= SHORTEST_SIGNATURE || *text == REDACTED && !seal.is_empty();
        if parts.is_empty() || !parts.iter().all(is_valid) {
            let why = if seal.is_empty() {
                "reasoning without a signature is not shown to the model: its provider would refuse it"
            } else {
                "reasoning whose signature can't be valid is not shown to the model: its provider would refuse it"
            };
            self.lose(LossKind::MetadataOnly, node.node_id, why);
            return Vec::new();
        }
        native.thinking = Some(thinking.clone());
        native.thinking_signature.clone_from(&node.thinking_signature);
        let block = |(text, seal): (&str, &str)| {
            let mut block = Records::default();
            if text == REDACTED {
                block.json("{\"type\":\"redacted_thinking\"");
                block.text("data", seal);
            } else {
                block.json("{\"type\":\"thinking\"");
                block.text("thinking", text);
                block.text("signature", seal);
            }
            block.json("}");
            block.bytes
        };
        parts.into_iter().map(block).collect()
    }

    /// A call as a block, what the reader will make of it, and what its result has to know.
    fn call(
        &mut self,
        call: &ToolCall,
        results: &[MessageNode],
        position: usize,
        node: i64,
    ) -> (Vec<u8>, (ToolCall, Called)) {
        let fresh = self.fresh.other(Some(&call.id), "toolu_");
        let tool = tool_name(&call.name);
        let arguments = object(&call.arguments);
        if tool != call.name {
            self.lose(LossKind::Mapped, node, format!("the tool `{}` is called `{tool}` here", shown(&call.name)));
        }
        let mut block = Records::default();
        block.json("{\"type\":\"tool_use\"");
        block.text("id", &fresh);
        block.text("name", &tool);
        block.raw("input", &arguments);
        block.json("}");
        let mut native = ToolCall::new(fresh.clone(), tool.clone(), metadata::clean(&arguments).into_owned());
        native.index = i64::try_from(position).unwrap_or(i64::MAX);
        native.locations = locations(&tool, &native.arguments);
        if let Some(result) = results.iter().find(|result| result.tool_call_id.as_ref() == Some(&call.id)) {
            Outcome::of(Some(&tool), &result.content, failed(result), None).fold(&mut native);
        } else {
            // What a later result makes of it isn't known yet: the call is carried, whatever it is.
            native.kind = String::new();
        }
        (block.bytes, (native, Called { id: fresh, tool, uuid: 0, node: 0 }))
    }

    fn result(&mut self, mut node: MessageNode) {
        let called = node.tool_call_id.as_ref().and_then(|call| self.calls.remove(&id(call.as_bytes())));
        let Some(called) = called else {
            self.lose(
                LossKind::MetadataOnly,
                node.node_id,
                "a result whose call is not in the session is not shown to the model",
            );
            return self.apart(node, "");
        };
        let text = std::mem::take(&mut node.metadata);
        let own = Own::of(&text);
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let uuid = self.fresh.uuid(own.uuids().next());
        let exact = self.tree.would_be_mended(parent, called.node);
        let failed = failed(&node);
        let records = &mut self.records;
        records.begin(parent.map(|parent| parent.uuid));
        records.json(",\"isSidechain\":false");
        maybe(records, "promptId", Some(self.prompt_id.as_str()));
        records.json(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"");
        records.text("tool_use_id", &called.id);
        records.json(",\"content\":");
        let written = content::write(records, &node, "");
        flag(records, "is_error", failed);
        records.json("}]}");
        records.identity(uuid, &time);
        records.json(",\"sourceToolAssistantUUID\":");
        records.uuid(called.uuid);
        let mut native = MessageNode::new(node.node_id, Role::Tool, seconds);
        let shown = if written.same_text { node.content.as_str() } else { written.text.as_str() };
        native.tool_result = Some(Outcome::of(Some(&called.tool), shown, failed, None).result());
        native.tool_call_id = Some(called.id);
        native.tool_name = Some(called.tool);
        native.metadata = if own.is_own() { identified(Members::default(), &[uuid], parent) } else { String::new() };
        self.told.spoken = true;
        self.unseen(&node, written.unseen, &own);
        settle(&mut node, &mut native, &written);
        node.metadata = text;
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: false, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, called.node, exact);
    }

    fn system(&mut self, node: MessageNode) {
        let text = node.metadata.clone();
        let own = Own::of(&text);
        match own.kind.get() {
            Some("compact-boundary") => self.own_system(node, &own, "compact_boundary"),
            Some("local-command") => self.own_system(node, &own, "local_command"),
            _ => {
                self.lose(LossKind::MetadataOnly, node.node_id, "a system message is not shown to the model");
                let content = node.content.clone();
                self.apart(node, &content);
            }
        }
    }

    /// A note of the agent itself, as it had it.
    fn own_system(&mut self, mut node: MessageNode, own: &Own<'_>, subtype: &str) {
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let uuid = self.fresh.uuid(own.uuids().next());
        let exact = self.tree.would_be_mended(parent, 0);
        let boundary = subtype == "compact_boundary";
        let records = &mut self.records;
        records.begin(parent.filter(|_| !boundary).map(|parent| parent.uuid));
        if let Some(parent) = parent.filter(|_| boundary) {
            records.json(",\"logicalParentUuid\":");
            records.uuid(parent.uuid);
        }
        records.json(",\"isSidechain\":false,\"type\":\"system\"");
        records.text("subtype", subtype);
        records.text("content", &node.content);
        records.json(",\"isMeta\":false");
        records.identity(uuid, &time);
        records.json(",\"level\":\"info\"");
        raw(records, "compactMetadata", own.compact_metadata);
        let mut native = MessageNode::new(node.node_id, Role::System, seconds);
        native.metadata = String::new();
        std::mem::take(&mut node.content);
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: false, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, 0, exact);
    }

    /// A node that the agent has no place for: a note between the messages, which a person sees and no model.
    fn apart(&mut self, mut node: MessageNode, content: &str) {
        let parent = self.parent(&node);
        let (time, seconds) = self.time(&node);
        let uuid = self.fresh.uuid(Own::of(&node.metadata).uuids().next());
        let exact = self.tree.would_be_mended(parent, 0);
        let records = &mut self.records;
        records.begin(parent.map(|parent| parent.uuid));
        records.json(",\"isSidechain\":false,\"type\":\"system\",\"subtype\":\"informational\"");
        records.text("content", content);
        records.json(",\"isMeta\":false");
        records.identity(uuid, &time);
        records.json(",\"level\":\"info\"");
        let mut native = MessageNode::new(node.node_id, Role::System, seconds);
        native.metadata = String::new();
        if node.content == content {
            std::mem::take(&mut node.content);
        } else {
            content.clone_into(&mut native.content);
        }
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: true, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, 0, exact);
    }

    /// Ends a record, and says so when it is one that can't be read back whole.
    fn end(&mut self, node: i64, carried: Option<&str>) {
        let deep = carried.filter(|carried| matches!(metadata::clean(carried), Cow::Owned(_)));
        let bytes = self.records.end(carried);
        if deep.is_some() || bytes > MAX_LINE as usize {
            let why = if deep.is_some() {
                "what the agent has no place for is nested too deeply to be carried"
            } else {
                "the record of this message is longer than what sepia reads; the agent reads it"
            };
            self.lose(LossKind::Mapped, node, why);
        }
    }

    fn unseen(&mut self, node: &MessageNode, blocks: usize, own: &Own<'_>) {
        if blocks > 0 {
            let message = format!("{blocks} pictures or files are named to the model, and not shown");
            self.lose(LossKind::MetadataOnly, node.node_id, message);
        }
        if own.opaque_blocks.is_some() {
            self.lose(
                LossKind::MetadataOnly,
                node.node_id,
                "blocks of kinds that sepia doesn't know are kept in metadata only",
            );
        }
    }
}

impl Told {
    /// Notes what the reader takes for typed by the person.
    fn say(&mut self, node: &MessageNode, shown: &str, texts: &[String], seconds: f64) {
        let spoken = if node.blocks.is_empty() {
            Some(prompt::classify(shown))
        } else {
            prompt::of_texts(texts.iter().map(String::as_str))
        };
        let (content, is_shell) = match spoken {
            Some(Spoken::Machine(_)) => return,
            Some(Spoken::Typed(text)) => {
                self.last_prompt = Some(text.chars().take(LONGEST_PROMPT).collect());
                if !text.is_empty() && self.prompt.is_none() {
                    self.prompt = Some(text.to_owned());
                }
                (text.to_owned(), false)
            }
            Some(Spoken::Command(text)) => {
                self.command.get_or_insert_with(|| text.clone());
                (text, false)
            }
            Some(Spoken::Shell(text)) => {
                self.command.get_or_insert_with(|| format!("!{text}"));
                (text.to_owned(), true)
            }
            None => (String::new(), false),
        };
        let entry = PromptHistoryEntry { content, timestamp: time::milliseconds(seconds), is_shell };
        self.differs |= self.wanted.get(self.prompts) != Some(&entry);
        self.prompts += 1;
    }

    /// The prompts that were wanted, when the reader will find others.
    pub(crate) fn other_prompts(&mut self) -> Option<Vec<PromptHistoryEntry>> {
        let same = !self.differs && self.prompts == self.wanted.len();
        (!same).then(|| std::mem::take(&mut self.wanted))
    }
}

/// Leaves out of the comparison what is the same on both sides.
fn settle(node: &mut MessageNode, native: &mut MessageNode, written: &content::Written) {
    if written.same_text {
        std::mem::take(&mut node.content);
    } else {
        native.content.clone_from(&written.text);
    }
    if written.same_blocks {
        std::mem::take(&mut node.blocks);
    }
}

/// Metadata with the ids of the records at its end, as the reader writes it.
fn identified(mut members: Members, uuids: &[u128], parent: Option<Placed>) -> String {
    let text = |uuid: u128| uuid::Uuid::from_u128(uuid).to_string();
    match uuids {
        [uuid] => members.text("uuid", &text(*uuid)),
        several => {
            let quoted: Vec<String> = several.iter().map(|uuid| metadata::string(&text(*uuid))).collect();
            members.list("uuids", &quoted);
        }
    }
    if let Some(parent) = parent {
        members.text("parentUuid", &text(parent.uuid));
    }
    members.finish()
}

fn message_head(id: &str, model: &str) -> String {
    let mut head = Records::default();
    head.json("{\"id\":");
    head.string(id);
    head.json(",\"type\":\"message\",\"role\":\"assistant\"");
    head.text("model", model);
    head.json(",\"content\":[");
    String::from_utf8(head.bytes).unwrap_or_default()
}

fn message_tail(stop: Option<&str>, usage: &TokenUsage) -> String {
    let stop = stop.map_or_else(|| "null".to_owned(), metadata::string);
    let of = |count: Option<f64>| whole(count.unwrap_or_default());
    format!(
        concat!(
            "],\"stop_reason\":{},\"stop_sequence\":null,\"usage\":{{\"input_tokens\":{},",
            "\"cache_creation_input_tokens\":{},\"cache_read_input_tokens\":{},\"output_tokens\":{},",
            "\"server_tool_use\":{{\"web_search_requests\":0,\"web_fetch_requests\":0}},\"service_tier\":\"standard\",",
            "\"cache_creation\":{{\"ephemeral_1h_input_tokens\":0,\"ephemeral_5m_input_tokens\":0}}}},",
            "\"stop_details\":null}}"
        ),
        stop,
        whole(usage.input),
        of(usage.cache_write),
        of(usage.cache_read),
        whole(usage.output),
    )
}

/// Tokens as the reader gives them back.
fn counted(usage: &TokenUsage) -> TokenUsage {
    #[expect(clippy::cast_precision_loss, reason = "at most 2^48")]
    let of = |count: f64| whole(count) as f64;
    TokenUsage {
        input: of(usage.input),
        output: of(usage.output),
        cache_read: Some(of(usage.cache_read.unwrap_or_default())),
        cache_write: Some(of(usage.cache_write.unwrap_or_default())),
        ..TokenUsage::default()
    }
}

/// A count of tokens.
fn whole(count: f64) -> u64 {
    crate::projection::count(count)
}

/// Arguments as the object that a provider demands.
fn object(arguments: &str) -> Cow<'_, str> {
    let is_object = |text: &str| {
        text.trim_start().starts_with('{') && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
    };
    if is_object(arguments) {
        return Cow::Borrowed(arguments);
    }
    // Some agents keep the object as a text.
    match serde_json::from_str::<String>(arguments) {
        Ok(inner) if is_object(&inner) => return Cow::Owned(inner),
        _ => {}
    }
    match serde_json::from_str::<&serde_json::value::RawValue>(arguments) {
        Ok(value) if value.get() != "null" => Cow::Owned(format!("{{\"input\":{}}}", value.get())),
        _ => Cow::Borrowed("{}"),
    }
}

fn failed(result: &MessageNode) -> bool {
    result.tool_result.is_some_and(|result| result.status == ToolCallStatus::Error)
}

fn maybe(records: &mut Records, name: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        records.text(name, value);
    }
}

fn flag(records: &mut Records, name: &str, set: bool) {
    if set {
        records.raw(name, "true");
    }
}

fn raw(records: &mut Records, name: &str, value: Raw<'_>) {
    if let Some(value) = value {
        records.raw(name, value.get());
    }
}

/// The start of a name, for a message.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}

/// Epoch milliseconds of a time that the agent can write.
#[expect(clippy::cast_possible_truncation, reason = "checked")]
fn milliseconds(seconds: f64) -> Option<i64> {
    let milliseconds = (seconds * 1000.0).round();
    (1.0..2.5e14).contains(&milliseconds).then_some(milliseconds as i64)
}
