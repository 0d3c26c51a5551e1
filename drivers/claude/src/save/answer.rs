//! Answers of the model as records: one for each block, all with the id of the message.

use super::content::{NOTHING, is_blank};
use super::fresh::tool_name;
use super::own::{ApiError, Own};
use super::record::Records;
use super::riding::{self, Marks};
use super::turn::{Called, SYNTHETIC, Turns, failed, flag, identified, maybe, raw};
use crate::ids::id;
use crate::json::parse;
use crate::metadata::{self, Members};
use crate::outcome::{Outcome, locations};
use sepia_ir::{LossKind, MessageNode, Role, TokenUsage, ToolCall};
use std::borrow::Cow;

/// Shorter signatures can't be valid, and a provider refuses the whole session for one.
const SHORTEST_SIGNATURE: usize = 40;
/// Text of reasoning that is sealed.
const REDACTED: &str = "[redacted]";
/// Why a message of this agent's providers ended.
const STOPS: [&str; 7] =
    ["end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded"];

impl Turns {
    /// Writes an answer and, in their order, the results of its calls that follow it.
    pub(crate) fn answer(&mut self, mut node: MessageNode, results: Vec<MessageNode>) {
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
        self.spoken = true;
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
        let parts = parts_of_reasoning(thinking, seal, own);
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
}

/// Blocks of reasoning, each with its seal; none when they can't be told apart.
fn parts_of_reasoning<'n>(thinking: &'n str, seal: &'n str, own: &Own<'_>) -> Vec<(&'n str, &'n str)> {
    let lengths = &own.thinking_bytes.items;
    if lengths.is_empty() {
        return vec![(thinking, seal)];
    }
    let mut rest = Some(thinking);
    let mut parts = Vec::new();
    for (length, seal) in lengths.iter().zip(seal.split('\n')) {
        let part = length.0.and_then(|length| rest?.split_at_checked(usize::try_from(length).ok()?));
        let Some((text, more)) = part else { return Vec::new() };
        parts.push((text, seal));
        rest = more.strip_prefix('\n');
    }
    let whole = parts.len() == lengths.len() && seal.split('\n').count() == lengths.len() && rest.is_none();
    if whole { parts } else { Vec::new() }
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

/// The start of a name, for a message.
fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(60).collect()
}
