//! Content of a message: what a node says, as blocks.

use super::own::{Item, Own};
use sepia_ir::{Block, FileBlock, ImageBlock, MessageNode, Role, ToolCallStatus};
use sepia_sdk::json::{List, Object, Raw, Str, members, parse};
use sepia_sdk::metadata::{self, Members};
use serde_json::value::RawValue;

/// The blocks of a user or assistant node, as JSON. `mode` is that in which prompts from elsewhere
/// are wrapped. Nothing when the node has none that the model could see.
pub(super) fn blocks(node: &MessageNode, own: &Own<'_>, mode: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    if node.role == Role::Assistant {
        blocks.extend(thinking(node));
    }
    let texts =
        if node.blocks.is_empty() { 1 } else { node.blocks.iter().filter(|b| matches!(b, Block::Text(_))).count() };
    let originals = &own.original_texts.items;
    let mut at = 0;
    let mut say = |text: &str| -> Option<String> {
        at += 1;
        if node.role != Role::User {
            return block_of_text(text);
        }
        if originals.len() == texts {
            return block_of_text(originals[at - 1].get().unwrap_or(text));
        }
        // Of the agent's own, a text without a wrapper had none.
        if text.is_empty() || own.message_id.get().is_some() {
            return block_of_text(text);
        }
        block_of_text(&format!("<user_input mode=\"{mode}\">{text}</user_input>"))
    };
    if node.blocks.is_empty() {
        blocks.extend(say(&node.content));
    }
    for block in &node.blocks {
        blocks.extend(match block {
            Block::Text(text) => say(&text.text),
            // An answer that shows something is not for every provider.
            other if node.role == Role::Assistant => block_of_text(&note(other)),
            other => Some(shown(other)),
        });
    }
    if node.role == Role::Assistant {
        blocks.extend(node.tool_calls.iter().map(call));
    }
    blocks
}

fn block_of_text(text: &str) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let mut members = Members::default();
    members.text("type", "text");
    members.text("text", text);
    Some(members.finish())
}

fn thinking(node: &MessageNode) -> Option<String> {
    let text = node.thinking.as_deref()?;
    let mut members = Members::default();
    match &node.thinking_signature {
        Some(sealed) if text == "[redacted]" => {
            members.text("type", "redacted_thinking");
            members.text("data", sealed);
        }
        signature => {
            members.text("type", "thinking");
            members.text("thinking", text);
            members.maybe("signature", signature.as_deref());
        }
    }
    Some(members.finish())
}

fn call(call: &sepia_ir::ToolCall) -> String {
    let mut members = Members::default();
    members.text("type", "tool_use");
    members.text("id", &call.id);
    members.text("name", &call.name);
    members.raw("input", &input(&call.arguments));
    members.finish()
}

/// Arguments as the object that they have to be.
fn input(arguments: &str) -> String {
    let object = |json: &str| json.trim_start().starts_with('{') && parse::<&RawValue>(json).is_ok();
    if object(arguments) {
        return arguments.to_owned();
    }
    // Some agents keep the object as text.
    let text = parse::<Str<'_>>(arguments).unwrap_or_default();
    if let Some(inner) = text.get().filter(|inner| object(inner)) {
        return inner.to_owned();
    }
    let mut members = Members::default();
    match text.get() {
        Some(text) => members.text("input", text),
        None if parse::<&RawValue>(arguments).is_err() => members.text("input", arguments),
        None if arguments.trim() != "null" => members.raw("input", arguments),
        None => return "{}".to_owned(),
    }
    members.finish()
}

/// A block that shows something else than text; a note where the agent has no such block.
fn shown(block: &Block) -> String {
    let mut members = Members::default();
    match block {
        Block::Image(ImageBlock { data: Some(data), mime_type, .. }) => {
            members.text("type", "image");
            members.text("data", data);
            members.text("mediaType", mime_type.as_deref().unwrap_or("image/png"));
        }
        Block::File(FileBlock { uri, name, text: Some(text), .. }) => {
            let path = uri.as_deref().map(|uri| uri.strip_prefix("file://").unwrap_or(uri)).or(name.as_deref());
            members.text("type", "file");
            members.text("path", path.unwrap_or("file"));
            members.text("content", text);
        }
        other => {
            members.text("type", "text");
            members.text("text", &note(other));
        }
    }
    members.finish()
}

/// What is said of something that can't be shown.
fn note(block: &Block) -> String {
    let (kind, name) = match block {
        Block::Text(text) => return text.text.clone(),
        Block::Image(image) => ("image", image.uri.as_deref()),
        Block::Audio(_) => ("audio", None),
        Block::File(file) => ("file", file.uri.as_deref().or(file.name.as_deref())),
    };
    match name.filter(|name| !name.starts_with("data:")) {
        Some(name) => format!("[{kind}: {name}]"),
        None => format!("[{kind}]"),
    }
}

/// Whether a block stands in the agent's form as it is.
pub(super) fn has_place(block: &Block, role: Role) -> bool {
    match block {
        Block::Text(_) => true,
        Block::Image(image) => role != Role::Assistant && image.data.is_some(),
        Block::File(file) => role != Role::Assistant && file.text.is_some(),
        Block::Audio(_) => false,
    }
}

/// Tools whose results are lists of items, one for each thing that was asked for.
const BATCHES: [&str; 4] = ["read_files", "run_commands", "search_codebase", "fetch_web_content"];

members! {
    Asked {
        files: List<Object<'a>> = "files",
        commands: List<Str<'a>> = "commands",
        queries: List<Str<'a>> = "queries",
        requests: List<Object<'a>> = "requests",
    }
}

/// What a call of a tool with such results asks for, if that is one thing.
pub(super) fn query(tool: &str, arguments: &str) -> Option<String> {
    if !BATCHES.contains(&tool) {
        return None;
    }
    let asked = parse::<Asked<'_>>(arguments).ok()?;
    let text = |raw: Raw<'_>| sepia_sdk::json::text_of(raw).map(std::borrow::Cow::into_owned);
    match (&asked.files.items[..], &asked.commands.items[..], &asked.queries.items[..], &asked.requests.items[..]) {
        ([file], [], [], []) => {
            let path = text(file.get("path"))?;
            let line = |name: &str| file.get(name).map(RawValue::get).filter(|line| *line != "null");
            Some(match (line("start_line"), line("end_line")) {
                (None, None) => path,
                (start, end) => format!("{path}:{}-{}", start.unwrap_or("1"), end.unwrap_or("EOF")),
            })
        }
        ([], [command], [], []) => command.get().map(str::to_owned),
        ([], [], [query], []) => query.get().map(str::to_owned),
        ([], [], [], [request]) => text(request.get("url")),
        _ => None,
    }
}

/// Forms that the content of a result may have, as JSON, the likeliest first, and whether the call
/// counts as refused. `asked` is what the call asked for.
pub(super) fn results(node: &MessageNode, own: &Own<'_>, asked: Option<&str>) -> Vec<(String, bool)> {
    let failed = node.tool_result.is_some_and(|result| result.status == ToolCallStatus::Error);
    let mut forms = Vec::new();
    if !own.items.items.is_empty() {
        forms.extend(items(node, own).map(|content| (content, own.refused.0)));
    } else if let Some(asked) = asked.filter(|_| own.message_id.get().is_none()) {
        let item = item(Some(asked), &result(node), None, !failed);
        forms.push((format!("[{item}]"), false));
    }
    let plain = if node.blocks.is_empty() { metadata::string(&node.content) } else { list(&node.blocks) };
    forms.push((plain, failed));
    forms
}

fn result(node: &MessageNode) -> String {
    if node.blocks.is_empty() { metadata::string(&node.content) } else { list(&node.blocks) }
}

fn list(blocks: &[Block]) -> String {
    let blocks: Vec<String> = blocks.iter().map(shown).collect();
    format!("[{}]", blocks.join(","))
}

/// An item, its members in the order of the agent.
fn item(query: Option<&str>, result: &str, error: Option<&str>, success: bool) -> String {
    let mut members = Members::default();
    if let Some(query) = query {
        members.text("query", query);
    }
    members.raw("result", result);
    members.maybe("error", error);
    members.raw("success", if success { "true" } else { "false" });
    members.finish()
}

/// The items that a result of the agent's own was made of.
fn items(node: &MessageNode, own: &Own<'_>) -> Option<String> {
    let items = &own.items.items[..];
    if let ([told], true) = (items, own.refused.0)
        && let (None, Some(error)) = (told.query.get(), told.error.filled())
        && node.content == error
    {
        // A call that was not made at all answers with the reason alone.
        let mut members = Members::default();
        members.text("error", error);
        return Some(metadata::string(&members.finish()));
    }
    let one = |told: &Item<'_>, result: &str| item(told.query.get(), result, told.error.get(), told.success.0);
    if let [told] = items {
        let result = if node.blocks.is_empty() {
            metadata::string(without_error(&node.content, told))
        } else {
            list(&node.blocks)
        };
        let only = one(told, &result);
        let batch = node.tool_name.as_deref().is_none_or(|tool| BATCHES.contains(&tool));
        return Some(if batch { format!("[{only}]") } else { metadata::string(&only) });
    }
    if !node.blocks.is_empty() {
        return None;
    }
    // Each begins with what was asked for.
    let mut rest = node.content.strip_prefix(&format!("{}:", items.first()?.query.filled()?))?;
    let mut list = Vec::new();
    for (at, told) in items.iter().enumerate() {
        let said = match items.get(at + 1) {
            Some(next) => {
                let next = format!("\n{}:", next.query.filled()?);
                let (said, behind) = rest.split_once(&next)?;
                rest = behind;
                said
            }
            None => rest,
        };
        let said = said.strip_prefix('\n').unwrap_or(said);
        list.push(one(told, &metadata::string(without_error(said, told))));
    }
    Some(format!("[{}]", list.join(",")))
}

/// What an item said, without the error that is told behind it.
fn without_error<'a>(said: &'a str, told: &Item<'_>) -> &'a str {
    let Some(error) = told.error.filled().filter(|_| !told.success.0) else { return said };
    match said.strip_suffix(error) {
        Some("") => "",
        Some(before) => before.strip_suffix('\n').unwrap_or(said),
        None => said,
    }
}
