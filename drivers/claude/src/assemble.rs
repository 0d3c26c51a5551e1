//! Nodes from lines: each line is parsed once and adds to the nodes that the index says it
//! makes; outcomes of tools are written back onto the calls that are still in hand.

use crate::content::{Gatherer, raw_blocks};
use crate::entry::{Content, Entry, ToolUseResult, Usage};
use crate::index::{COUNTED_ELSEWHERE, GUESSED_PARENT, Index, LOGICAL_PARENT, NodeKind, PARALLEL, position};
use crate::json::parse;
use crate::lines::{self, Repair};
use crate::metadata::{self, Members};
use crate::outcome::{Outcome, locations};
use crate::prompt::{self, Spoken};
use crate::restoring;
use crate::stub::Stub;
use crate::time;
use sepia_ir::{MessageNode, Role, TokenUsage, ToolCall};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// What most records of a session say alike; a node tells it only when it differs.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) cwd: String,
    pub(crate) version: String,
    pub(crate) git_branch: String,
    pub(crate) entrypoint: String,
}

/// Builds nodes of one session.
pub(crate) struct Assembler {
    pub(crate) index: Rc<Index>,
    envelope: Envelope,
    /// Path of the transcript, for messages.
    path: String,
    /// Nodes to build, from 0; all when absent.
    wanted: Option<HashSet<u32>>,
    slots: BTreeMap<u32, Slot>,
    /// Tool of each call whose node was handed out before its results came.
    names: HashMap<String, String>,
}

/// A node being built.
#[derive(Debug)]
struct Slot {
    node: MessageNode,
    content: Gatherer,
    uuids: Vec<String>,
    parent_uuid: Option<String>,
    members: Members,
    /// Output tokens of the line whose usage stands on the node.
    counted: Option<f64>,
    thinking: Vec<String>,
    /// Signature, or sealed payload, of each of them.
    seals: Vec<Option<String>>,
    warnings: Vec<String>,
    /// What the record carries of the node, as JSON text.
    carried: Option<String>,
}

impl Assembler {
    pub(crate) fn new(index: Rc<Index>, envelope: Envelope, path: String, wanted: Option<HashSet<u32>>) -> Self {
        Self { index, envelope, path, wanted, slots: BTreeMap::new(), names: HashMap::new() }
    }

    /// The first node in hand, from 0.
    pub(crate) fn first(&self) -> Option<u32> {
        self.slots.first_key_value().map(|(node, _)| *node)
    }

    /// Hands out the first node in hand. Results of its calls that come later find its tools'
    /// names still.
    pub(crate) fn pop(&mut self, early: bool) -> Option<MessageNode> {
        let (at, slot) = self.slots.pop_first()?;
        if early {
            self.names.extend(slot.node.tool_calls.iter().map(|call| (call.id.clone(), call.name.clone())));
        }
        Some(slot.finish(self.index.nodes[at as usize]))
    }

    /// Takes a line of the index.
    pub(crate) fn feed(&mut self, line: u32, bytes: &[u8]) {
        self.take(line, bytes, None);
    }

    /// Takes from a line only the outcomes of calls of one node, from 0.
    pub(crate) fn feed_outcomes(&mut self, line: u32, bytes: &[u8], of: u32) {
        self.take(line, bytes, Some(of));
    }

    fn take(&mut self, line: u32, bytes: &[u8], only: Option<u32>) {
        let (text, mut repair) = lines::text(bytes);
        let mut repaired = None;
        let parsed = match parse::<Entry<'_>>(&text) {
            Ok(entry) => Ok(entry),
            Err(error) => {
                let (cleaned, count) = sepia_ir::json_text::replace_lone_surrogates(text.as_bytes());
                if count > 0 {
                    repair = Some(Repair::Surrogates(count));
                    repaired = Some(String::from_utf8_lossy(&cleaned).into_owned());
                }
                repaired.as_deref().map_or(Err(error), parse)
            }
        };
        let source = repaired.as_deref().unwrap_or(&text);
        match parsed {
            Ok(entry) => self.entry(line, entry, source, repair, only),
            Err(error) => {
                if only.is_none() {
                    self.unreadable(line, &error);
                }
            }
        }
    }

    fn wants(&self, node: u32) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&node))
    }

    /// Nodes, from 0, that a line makes or adds to.
    fn nodes_of(&self, line: u32) -> std::ops::Range<u32> {
        let from = self.index.lines[line as usize].node;
        let nodes = &self.index.nodes[from as usize..];
        if nodes.first().is_some_and(|node| node.kind == NodeKind::Assistant) {
            return from..from + 1;
        }
        from..from + position(nodes.iter().take_while(|node| node.first_line == line).count())
    }

    fn entry(&mut self, line: u32, entry: Entry<'_>, source: &str, repair: Option<Repair>, only: Option<u32>) {
        let nodes = self.nodes_of(line);
        let Some(first) = nodes.clone().next() else { return };
        match self.index.nodes[first as usize].kind {
            NodeKind::Assistant if only.is_none() => self.assistant(line, first, entry, source, repair),
            NodeKind::System if only.is_none() => self.system(line, first, &entry, source, repair),
            NodeKind::Assistant | NodeKind::System => {}
            NodeKind::User | NodeKind::Tool => self.user(line, nodes, entry, source, repair, only),
        }
    }

    /// The slot of a node, made when it isn't there. None when the node is not wanted.
    fn slot(&mut self, node: u32, role: Role, entry: &Entry<'_>) -> Option<&mut Slot> {
        if !self.wants(node) {
            return None;
        }
        let plan = self.index.nodes[node as usize];
        let envelope = &self.envelope;
        Some(self.slots.entry(node).or_insert_with(|| {
            let mut slot = Slot::new(node, role, time::of(entry.timestamp).unwrap_or_default());
            slot.node.parent_node_id = (plan.parent > 0).then(|| plan.parent.into());
            slot.parent_uuid = entry.parent_uuid.get().map(str::to_owned);
            slot.envelope(envelope, entry);
            slot
        }))
    }

    fn assistant(&mut self, line: u32, at: u32, mut entry: Entry<'_>, source: &str, repair: Option<Repair>) {
        let warning = repair.map(|repair| self.warning(line, repair, source));
        let marks = self.index.nodes[at as usize].marks;
        let Some(slot) = self.slot(at, Role::Assistant, &entry) else { return };
        slot.line(&entry, warning);
        let first = slot.uuids.len() <= 1;
        let message = &mut entry.message;
        let synthetic = message.model.is("<synthetic>");
        if first {
            slot.members.maybe("messageId", message.id.get());
            slot.members.flag("isMeta", entry.is_meta.0);
            slot.members.flag("synthetic", synthetic);
            if entry.is_api_error.0 {
                let mut error = Members::default();
                if let Some(kind) = entry.error {
                    error.raw("error", kind.get());
                }
                if let Some(status) = entry.api_error_status {
                    error.raw("status", status.get());
                }
                slot.members.raw("apiError", &error.finish());
            }
            slot.node.request_id = entry.request_id.take().map(Cow::into_owned);
        }
        if let Some(reason) = message.stop_reason.take() {
            slot.node.finish_reason = Some(reason.into_owned());
        }
        let output = message.usage.output.0.unwrap_or_default();
        if slot.counted.is_none_or(|counted| output >= counted) {
            slot.counted = Some(output);
            if !synthetic {
                slot.node.model = message.model.take().filter(|model| !model.is_empty()).map(Cow::into_owned);
                slot.node.usage = if marks & COUNTED_ELSEWHERE == 0 { usage(&message.usage) } else { None };
            }
        }
        match std::mem::take(&mut message.content) {
            Content::Text(text) => slot.content.text(text),
            Content::Blocks(blocks) => {
                for (position, mut block) in blocks.into_iter().enumerate() {
                    match block.kind.get() {
                        Some("tool_use") => slot.call(&block),
                        Some("thinking") => {
                            slot.thinking.push(block.thinking.take().unwrap_or_default().into_owned());
                            slot.sealed(block.signature.take().map(Cow::into_owned));
                        }
                        Some("redacted_thinking") => {
                            slot.thinking.push("[redacted]".to_owned());
                            slot.sealed(block.data.take().map(Cow::into_owned));
                        }
                        _ => {
                            if !slot.content.shown(&mut block) {
                                let raw = raw_blocks(source, &["message", "content"]);
                                slot.content.opaque.extend(raw.into_iter().nth(position));
                            }
                        }
                    }
                }
            }
            Content::Odd => slot.opaque_content(source),
            Content::Missing => {}
        }
    }

    fn user(
        &mut self,
        line: u32,
        nodes: std::ops::Range<u32>,
        mut entry: Entry<'_>,
        source: &str,
        repair: Option<Repair>,
        only: Option<u32>,
    ) {
        let content = std::mem::take(&mut entry.message.content);
        let mut free = nodes.clone();
        let mut said = Gatherer::default();
        let mut odd = false;
        match content {
            Content::Text(text) => said.text(text),
            Content::Blocks(blocks) => {
                let several = blocks.iter().filter(|block| block.kind.is("tool_result")).count() > 1;
                for (position, mut block) in blocks.into_iter().enumerate() {
                    let next_is_tool =
                        free.clone().next().is_some_and(|node| self.index.nodes[node as usize].kind == NodeKind::Tool);
                    if block.kind.is("tool_result") && next_is_tool {
                        let Some(node) = free.next() else { continue };
                        let noted = (!several && !entry.tool_use_result.odd)
                            .then(|| std::mem::take(&mut entry.tool_use_result));
                        let raw = |at: usize| {
                            let blocks = raw_blocks(source, &["message", "content"]);
                            raw_blocks(&format!("{{\"x\":{}}}", blocks.get(position)?), &["x", "content"])
                                .into_iter()
                                .nth(at)
                        };
                        self.result(line, node, &entry, Result { block, noted, raw: &raw, source }, repair, only);
                    } else if !said.shown(&mut block) {
                        said.opaque.extend(raw_blocks(source, &["message", "content"]).into_iter().nth(position));
                    }
                }
            }
            Content::Odd => odd = true,
            Content::Missing => {}
        }
        let Some(node) = free.next().filter(|_| only.is_none()) else { return };
        let warning = repair.map(|repair| self.warning(line, repair, source));
        let from = nodes.start;
        let Some(slot) = self.slot(node, Role::User, &entry) else { return };
        slot.line(&entry, warning);
        slot.content = said;
        if odd {
            slot.opaque_content(source);
        }
        slot.members.flag("isMeta", entry.is_meta.0);
        slot.members.flag("isCompactSummary", entry.is_compact_summary.0);
        slot.members.maybe("promptId", entry.prompt_id.get());
        slot.members.maybe("promptSource", entry.prompt_source.get());
        slot.members.maybe("permissionMode", entry.permission_mode.get());
        slot.members.maybe("interruptedMessageId", entry.interrupted_message_id.get());
        slot.members.flag("withToolResults", from != node);
    }

    fn result(
        &mut self,
        line: u32,
        at: u32,
        entry: &Entry<'_>,
        result: Result<'_, '_>,
        repair: Option<Repair>,
        only: Option<u32>,
    ) {
        let Result { mut block, noted, raw, source } = result;
        let plan = self.index.nodes[at as usize];
        if only.is_some_and(|only| plan.call != only + 1) {
            return;
        }
        let id = block.tool_use_id.take().map(Cow::into_owned);
        let call = plan.call.checked_sub(1).and_then(|call| self.slots.get(&call));
        let tool = id.as_deref().and_then(|id| {
            let call = call.and_then(|slot| slot.node.tool_calls.iter().find(|call| call.id == id));
            call.map(|call| call.name.clone()).or_else(|| self.names.get(id).cloned())
        });
        let mut content = Gatherer::default();
        content.content(std::mem::take(&mut block.content), raw);
        let mut shown = MessageNode::new(0, Role::Tool, 0.0);
        let opaque = content.give(&mut shown);
        let outcome = Outcome::of(tool.as_deref(), &shown.content, block.is_error.0, noted.as_ref());
        let told = outcome.result();
        if let (Some(id), Some(call)) = (&id, plan.call.checked_sub(1)) {
            let slot = self.slots.get_mut(&call);
            if let Some(call) = slot.and_then(|slot| slot.node.tool_calls.iter_mut().find(|call| call.id == *id)) {
                outcome.fold(call);
            }
        }
        if only.is_some() {
            return;
        }
        let warning = repair.map(|repair| self.warning(line, repair, source));
        let Some(slot) = self.slot(at, Role::Tool, entry) else { return };
        slot.line(entry, warning);
        slot.node.content = shown.content;
        slot.node.blocks = shown.blocks;
        slot.content.opaque = opaque;
        slot.node.tool_call_id = id;
        slot.node.tool_name = tool;
        slot.node.tool_result = Some(told);
        if let Some(noted) = noted {
            slot.noted(&noted);
        }
    }

    fn system(&mut self, line: u32, at: u32, entry: &Entry<'_>, source: &str, repair: Option<Repair>) {
        let warning = repair.map(|repair| self.warning(line, repair, source));
        let Some(slot) = self.slot(at, Role::System, entry) else { return };
        slot.line(entry, warning);
        entry.content.get().unwrap_or_default().clone_into(&mut slot.node.content);
        let boundary = entry.subtype.is("compact_boundary");
        slot.members.text("kind", if boundary { "compact-boundary" } else { "local-command" });
        slot.members.maybe("logicalParentUuid", entry.logical_parent_uuid.get());
        if let Some(compact) = entry.compact_metadata {
            slot.members.raw("compactMetadata", compact.get());
        }
    }

    fn warning(&self, line: u32, repair: Repair, source: &str) -> String {
        let (code, what) = repair.told();
        let member = lines::repaired_member(source).map(|member| format!(" of `{member}`")).unwrap_or_default();
        let plan = self.index.lines[line as usize];
        let mut members = Members::default();
        members.text("code", code);
        members.text("message", &format!("{what}{member} in line {} of `{}`", plan.number, self.path));
        self.place(line, &mut members);
        members.finish()
    }

    fn place(&self, line: u32, members: &mut Members) {
        let plan = self.index.lines[line as usize];
        members.text("path", &self.path);
        members.number("line", plan.number);
        members.number("offset", plan.offset);
    }

    /// A line that looked like a record and is none.
    fn unreadable(&mut self, line: u32, error: &serde_json::Error) {
        let mut members = Members::default();
        members.text("code", "broken-record");
        let number = self.index.lines[line as usize].number;
        members.text("message", &format!("line {number} of `{}` could not be read: {error}", self.path));
        self.place(line, &mut members);
        let warning = members.finish();
        self.stand_ins(line, |slot| slot.warnings.push(warning.clone()));
    }

    /// A line that is too long to be read: its nodes say where it is.
    pub(crate) fn stub(&mut self, line: u32, stub: &Stub) {
        let plan = self.index.lines[line as usize];
        let mut members = Members::default();
        members.text("path", &self.path);
        members.number("line", plan.number);
        members.number("offset", plan.offset);
        members.number("bytes", plan.length);
        let stub_json = members.finish();
        let mut warning = Members::default();
        warning.text("code", "oversized-record");
        let most = lines::MAX_LINE >> 20;
        warning.text(
            "message",
            &format!(
                "line {} of `{}` is longer than {most} MiB; its bytes are in the native export",
                plan.number, self.path
            ),
        );
        self.place(line, &mut warning);
        warning.number("bytes", plan.length);
        let warning = warning.finish();
        let calls: Vec<(String, String)> = self
            .slots
            .values()
            .flat_map(|slot| &slot.node.tool_calls)
            .map(|call| (call.id.clone(), call.name.clone()))
            .collect();
        self.stand_ins(line, |slot| {
            slot.warnings.push(warning.clone());
            slot.members.raw("stub", &stub_json);
            slot.uuids.extend(stub.uuid.clone());
            slot.node.created_at = stub.time.unwrap_or(slot.node.created_at);
            if slot.node.role == Role::Tool {
                slot.node.tool_call_id.clone_from(&stub.tool_use_id);
                let known = calls.iter().find(|(id, _)| Some(id) == stub.tool_use_id.as_ref());
                slot.node.tool_name = known.map(|(_, name)| name.clone());
            }
        });
    }

    fn stand_ins(&mut self, line: u32, mark: impl Fn(&mut Slot)) {
        let nothing = Entry::default();
        for node in self.nodes_of(line) {
            let role = match self.index.nodes[node as usize].kind {
                NodeKind::User => Role::User,
                NodeKind::Assistant => Role::Assistant,
                NodeKind::Tool => Role::Tool,
                NodeKind::System => Role::System,
            };
            if let Some(slot) = self.slot(node, role, &nothing) {
                mark(slot);
            }
        }
    }
}

/// A tool result of a record.
struct Result<'a, 'r> {
    block: crate::entry::ContentBlock<'a>,
    noted: Option<ToolUseResult<'a>>,
    /// JSON text of a block of its content.
    raw: &'r dyn Fn(usize) -> Option<String>,
    /// The record that it is in.
    source: &'r str,
}

impl Slot {
    fn new(at: u32, role: Role, created_at: f64) -> Self {
        Self {
            node: MessageNode::new(i64::from(at) + 1, role, created_at),
            content: Gatherer::default(),
            uuids: Vec::new(),
            parent_uuid: None,
            members: Members::default(),
            counted: None,
            thinking: Vec::new(),
            seals: Vec::new(),
            warnings: Vec::new(),
            carried: None,
        }
    }

    fn envelope(&mut self, envelope: &Envelope, entry: &Entry<'_>) {
        let differs = |found: Option<&str>, known: &str| found.is_some_and(|found| found != known);
        let all = [
            ("cwd", &entry.cwd, &envelope.cwd),
            ("version", &entry.version, &envelope.version),
            ("gitBranch", &entry.git_branch, &envelope.git_branch),
            ("entrypoint", &entry.entrypoint, &envelope.entrypoint),
        ];
        for (key, found, known) in all {
            if differs(found.filled(), known) {
                self.members.maybe(key, found.get());
            }
        }
        if let Some(forked) = entry.forked_from {
            self.members.raw("forkedFrom", forked.get());
        }
    }

    fn line(&mut self, entry: &Entry<'_>, warning: Option<String>) {
        self.uuids.extend(entry.uuid.get().map(str::to_owned));
        self.warnings.extend(warning);
        if self.carried.is_none() {
            self.carried = entry.carried.map(|raw| raw.get().to_owned());
        }
    }

    /// Notes the seal of a block of reasoning.
    fn sealed(&mut self, seal: Option<String>) {
        self.node.thinking_signature.clone_from(&seal);
        self.seals.push(seal);
    }

    /// Seals of several blocks of reasoning stand one under the other, as their texts do; the lengths of the texts, in
    /// bytes, tell where one ends. No seal fits the texts together.
    fn parts_of_reasoning(&mut self) -> Vec<String> {
        if self.thinking.len() < 2 {
            return Vec::new();
        }
        if self.seals.iter().any(Option::is_some) {
            let seals: Vec<&str> = self.seals.iter().map(|seal| seal.as_deref().unwrap_or_default()).collect();
            self.node.thinking_signature = Some(seals.join("\n"));
        }
        self.thinking.iter().map(|text| text.len().to_string()).collect()
    }

    fn call(&mut self, block: &crate::entry::ContentBlock<'_>) {
        let name = block.name.get().unwrap_or_default();
        let arguments =
            block.input.map_or_else(sepia_ir::json_text::null, |raw| metadata::clean(raw.get()).into_owned());
        let mut call = ToolCall::new(block.id.get().unwrap_or_default(), name, arguments);
        call.index = i64::try_from(self.node.tool_calls.len()).unwrap_or(i64::MAX);
        call.locations = locations(name, &call.arguments);
        self.node.tool_calls.push(call);
    }

    /// Content that is neither text nor a list of blocks.
    fn opaque_content(&mut self, source: &str) {
        if let Some(raw) = crate::content::raw_member(source, &["message", "content"]) {
            self.members.raw("opaqueContent", &raw);
        }
    }

    fn noted(&mut self, noted: &ToolUseResult<'_>) {
        self.members.flag("interrupted", noted.interrupted.0);
        if let Some(agent) = noted.agent_id.filled() {
            self.members.text("agentSession", &format!("agent-{agent}"));
        }
        self.members.maybe("backgroundTaskId", noted.background_task_id.get());
        if let Some(path) = noted.persisted_output_path.filled() {
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            self.members.text("persistedOutput", &format!("tool-results/{name}"));
            if let Some(size) = noted.persisted_output_size.0 {
                self.members.number("persistedOutputBytes", crate::projection::count(size));
            }
        }
    }

    fn finish(mut self, plan: crate::index::NodePlan) -> MessageNode {
        let reasoning = self.parts_of_reasoning();
        let Self { mut node, content, uuids, parent_uuid, mut members, thinking, warnings, carried, .. } = self;
        let opaque =
            if node.role == Role::Tool || node.role == Role::System { content.opaque } else { content.give(&mut node) };
        if node.role == Role::User {
            match prompt::classify(&node.content) {
                Spoken::Typed(_) => {}
                Spoken::Command(_) => members.text("kind", "command"),
                Spoken::Shell(_) => members.text("kind", "shell-input"),
                Spoken::Machine(kind) => members.text("kind", kind),
            }
        }
        if !thinking.is_empty() {
            node.thinking = Some(prompt::joined(thinking.iter().map(|t| Cow::Borrowed(t.as_str()))).into_owned());
        }
        match &uuids[..] {
            [] => {}
            [uuid] => members.text("uuid", uuid),
            several => {
                let quoted: Vec<String> = several.iter().map(|uuid| metadata::string(uuid)).collect();
                members.list("uuids", &quoted);
            }
        }
        members.maybe("parentUuid", parent_uuid.as_deref());
        members.flag("parentGuessed", plan.marks & GUESSED_PARENT != 0);
        members.flag("logicalParent", plan.marks & LOGICAL_PARENT != 0);
        members.flag("parallel", plan.marks & PARALLEL != 0);
        members.list("thinkingBytes", &reasoning);
        members.list("opaqueBlocks", &opaque);
        members.list("warnings", &warnings);
        node.metadata = members.finish();
        if let Some(carried) = carried {
            restoring::node(&mut node, &carried, !warnings.is_empty());
        }
        node
    }
}

fn usage(usage: &Usage<'_>) -> Option<TokenUsage> {
    if usage.input.0.is_none() && usage.output.0.is_none() {
        return None;
    }
    Some(TokenUsage {
        input: usage.input.0.unwrap_or_default(),
        output: usage.output.0.unwrap_or_default(),
        cache_read: usage.cache_read.0,
        cache_write: usage.cache_write.0,
        ..TokenUsage::default()
    })
}
