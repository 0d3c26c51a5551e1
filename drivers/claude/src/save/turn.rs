//! Nodes as the agent's records.
//!
//! An answer is a record for each of its blocks, all with the id of the message; the results of its calls follow
//! one under the other, each a record of its own. The agent itself hangs parallel results side by side, and loses
//! all but the last of them when it reads a file of more than 5 MiB; in a row none is lost.

use super::content::{self, NOTHING};
use super::fresh::Fresh;
use super::own::Own;
use super::prompts::Prompts;
use super::record::Records;
use super::riding::{self, Marks};
use super::tree::{Placed, Tree};
use crate::ids::{IdMap, id};
use crate::json::Raw;
use crate::lines::MAX_LINE;
use crate::metadata::{self, Members};
use crate::outcome::Outcome;
use crate::prompt::{self, Spoken};
use crate::time;
use sepia_ir::{Loss, LossKind, MessageNode, PromptHistoryEntry, Role, ToolCallStatus};
use std::borrow::Cow;

/// Model of answers whose maker is not known; the agent takes its default then. Without any it hangs.
pub(crate) const SYNTHETIC: &str = "<synthetic>";
/// What is written of a session so far.
pub(crate) struct Turns {
    pub(crate) records: Records,
    pub(crate) tree: Tree,
    pub(crate) losses: Vec<Loss>,
    pub(crate) prompts: Prompts,
    /// There is a message.
    pub(crate) spoken: bool,
    pub(crate) fresh: Fresh,
    pub(crate) calls: IdMap<Called>,
    prompt_id: String,
    pub(crate) model: String,
    /// Time of the latest record, epoch milliseconds.
    time: i64,
}

/// A call that waits for its result.
#[derive(Debug)]
pub(crate) struct Called {
    /// Its id in the file.
    pub(crate) id: String,
    pub(crate) tool: String,
    /// Its record.
    pub(crate) uuid: u128,
    /// Number of its node.
    pub(crate) node: u32,
}

impl Turns {
    /// `model` stands where a node tells none, `created` where the first has no time, epoch seconds.
    pub(crate) fn new(records: Records, model: &str, created: f64, prompts: Vec<PromptHistoryEntry>) -> Self {
        let model = if model.is_empty() { SYNTHETIC } else { model };
        Self {
            records,
            tree: Tree::default(),
            losses: Vec::new(),
            prompts: Prompts::new(prompts),
            spoken: false,
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
            Role::Assistant => self.answer(node, Vec::new()),
            Role::Tool => self.result(node),
            Role::System => self.system(node),
        }
    }

    pub(crate) fn lose(&mut self, kind: LossKind, node: i64, message: impl Into<String>) {
        self.losses.push(Loss { kind, node_id: Some(node), message: message.into() });
    }

    pub(crate) fn parent(&self, node: &MessageNode) -> Option<Placed> {
        node.parent_node_id.and_then(|parent| self.tree.get(parent))
    }

    /// The time of a node as its record has it, and as the reader takes that.
    pub(crate) fn time(&mut self, node: &MessageNode) -> (String, f64) {
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
            self.prompts.say(&node, shown, &written, seconds);
        }
        self.spoken = true;
        self.unseen(&node, written.unseen, &own);
        settle(&mut node, &mut native, &written);
        node.metadata = text;
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: false, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, 0, exact);
    }

    pub(crate) fn result(&mut self, mut node: MessageNode) {
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
        self.spoken = true;
        self.unseen(&node, written.unseen, &own);
        settle(&mut node, &mut native, &written);
        node.metadata = text;
        let node_id = node.node_id;
        let carried = riding::text(node, native, Marks { node: false, exact });
        self.end(node_id, carried.as_deref());
        self.tree.add(node_id, parent, uuid, called.node, exact);
    }

    /// Ends a record, and says so when it is one that can't be read back whole.
    pub(crate) fn end(&mut self, node: i64, carried: Option<&str>) {
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

    pub(crate) fn unseen(&mut self, node: &MessageNode, blocks: usize, own: &Own<'_>) {
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
pub(crate) fn identified(mut members: Members, uuids: &[u128], parent: Option<Placed>) -> String {
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

pub(crate) fn failed(result: &MessageNode) -> bool {
    result.tool_result.is_some_and(|result| result.status == ToolCallStatus::Error)
}

pub(crate) fn maybe(records: &mut Records, name: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        records.text(name, value);
    }
}

pub(crate) fn flag(records: &mut Records, name: &str, set: bool) {
    if set {
        records.raw(name, "true");
    }
}

pub(crate) fn raw(records: &mut Records, name: &str, value: Raw<'_>) {
    if let Some(value) = value {
        records.raw(name, value.get());
    }
}

/// Epoch milliseconds of a time that the agent can write.
#[expect(clippy::cast_possible_truncation, reason = "checked")]
fn milliseconds(seconds: f64) -> Option<i64> {
    let milliseconds = (seconds * 1000.0).round();
    (1.0..2.5e14).contains(&milliseconds).then_some(milliseconds as i64)
}
