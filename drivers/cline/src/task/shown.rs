//! What a task showed to the person, as nodes: for tasks of which nothing else can be read.

use crate::nodes::Made;
use crate::time;
use sepia_ir::{Block, ImageBlock, MessageNode, Role, TextBlock, ToolCall};
use sepia_sdk::json::{Flag, Number, Raw, Str, members};
use sepia_sdk::metadata::{self, Members};
use std::borrow::Cow;

members! {
    /// An entry of `ui_messages.json`.
    Shown {
        ts: Raw<'a> = "ts",
        kind: Str<'a> = "type",
        ask: Str<'a> = "ask",
        say: Str<'a> = "say",
        text: Str<'a> = "text",
        reasoning: Str<'a> = "reasoning",
        images: Raw<'a> = "images",
        partial: Flag = "partial",
        /// Position of the latest message to or from the model; −1 before the first.
        api_index: Number = "conversationHistoryIndex",
        checkpoint: Str<'a> = "lastCheckpointHash",
    }
}

members! {
    /// The text of a question or a plan, which is JSON.
    Asked {
        question: Str<'a> = "question",
        response: Str<'a> = "response",
        tool: Str<'a> = "tool",
    }
}

/// What an entry is to a reader.
enum Part<'a> {
    Said(Role, Cow<'a, str>),
    Thought(Cow<'a, str>),
    Called { tool: String, arguments: String },
    Noted(&'static str, Cow<'a, str>),
}

/// The node of an entry; none when it shows nothing of the conversation.
pub(crate) fn nodes(shown: Shown<'_>, first: u32) -> Option<Made> {
    if shown.odd {
        return None;
    }
    let time = time::of(shown.ts);
    let part = part(&shown)?;
    let mut members = Members::default();
    members.maybe("shown", shown.say.get().or(shown.ask.get()));
    members.flag("partial", shown.partial.0);
    let id = i64::from(first.max(1));
    let mut node = MessageNode::new(id, Role::Assistant, time.unwrap_or_default());
    node.parent_node_id = (id > 1).then(|| id - 1);
    match part {
        Part::Said(role, text) => {
            node.role = role;
            node.content = text.into_owned();
            node.blocks = with_images(&node.content, shown.images);
        }
        Part::Thought(text) => node.thinking = Some(text.into_owned()),
        Part::Called { tool, arguments } => {
            let call = format!("shown-{first}");
            node.tool_calls.push(ToolCall::new(call, tool, arguments));
        }
        Part::Noted(kind, text) => {
            node.role = Role::System;
            node.content = text.into_owned();
            members.text("kind", kind);
            members.flag("displayOnly", kind == "error");
        }
    }
    node.metadata = members.finish();
    Some(Made { nodes: vec![node], time, ..Made::default() })
}

fn part<'a>(shown: &Shown<'a>) -> Option<Part<'a>> {
    let text = || shown.text.0.clone().filter(|text| !text.is_empty());
    let said = |role| text().map(|text| Part::Said(role, text));
    match shown.say.get().or(shown.ask.get())? {
        "task" | "user_feedback" | "user_feedback_diff" => {
            let images = shown.images.is_some_and(|raw| raw.get().len() > 2);
            Some(Part::Said(Role::User, text().or(images.then_some(Cow::Borrowed("")))?))
        }
        "text" | "completion_result" => said(Role::Assistant),
        "followup" | "plan_mode_respond" | "plan_mode_response" => {
            let text = text()?;
            let asked = sepia_sdk::json::parse::<Asked<'_>>(&text).ok();
            let asked = asked.and_then(|asked| asked.question.filled().or(asked.response.filled()).map(str::to_owned));
            Some(Part::Said(Role::Assistant, asked.map_or(text, Cow::Owned)))
        }
        "reasoning" => text().or(shown.reasoning.0.clone()).filter(|text| !text.is_empty()).map(Part::Thought),
        "tool" | "use_mcp_server" | "browser_action" | "browser_action_launch" => {
            let text = text()?;
            let named = sepia_sdk::json::parse::<Asked<'_>>(&text).ok().filter(|asked| !asked.odd);
            let tool = named.as_ref().and_then(|asked| asked.tool.filled()).or(shown.say.get()).or(shown.ask.get())?;
            let arguments = if named.is_some() { metadata::clean(&text).into_owned() } else { metadata::string(&text) };
            Some(Part::Called { tool: tool.to_owned(), arguments })
        }
        "command" => {
            let mut arguments = Members::default();
            arguments.text("command", &text()?);
            Some(Part::Called { tool: "command".to_owned(), arguments: arguments.finish() })
        }
        "command_output" => text().map(|text| Part::Noted("command-output", text)),
        "error" | "diff_error" | "clineignore_error" | "api_req_failed" => {
            text().map(|text| Part::Noted("error", text))
        }
        _ => None,
    }
}

/// Text and images as blocks; none when there is only text. Images are `data:` addresses.
fn with_images(text: &str, images: Raw<'_>) -> Vec<Block> {
    let images = images.and_then(|raw| serde_json::from_str::<Vec<Str<'_>>>(raw.get()).ok()).unwrap_or_default();
    let mut blocks: Vec<Block> = images.iter().filter_map(|image| image.filled().map(image_of)).collect();
    if !blocks.is_empty() && !text.is_empty() {
        blocks.insert(0, Block::Text(TextBlock { text: text.to_owned() }));
    }
    blocks
}

fn image_of(address: &str) -> Block {
    let data = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    Block::Image(match data {
        Some((kind, data)) => ImageBlock { data: Some(data.to_owned()), mime_type: Some(kind.to_owned()), uri: None },
        None => ImageBlock { uri: Some(address.to_owned()), ..ImageBlock::default() },
    })
}
