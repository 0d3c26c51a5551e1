//! The texts of a node that a reader sees: no key, no id, no number, no sealed payload.

use sepia_ir::{Block, MessageNode, Role, SearchPart, SearchQuery};
use serde_json::Value;
use std::borrow::Cow;

/// Stands where reasoning is sealed; see `MessageNode::thinking`.
const SEALED: &str = "[redacted]";

/// One of them.
pub(super) struct Passage<'a> {
    pub(super) part: SearchPart,
    /// The tool of calls and results.
    pub(super) tool: Option<&'a str>,
    pub(super) text: Cow<'a, str>,
}

impl<'a> Passage<'a> {
    pub(super) fn new(part: SearchPart, text: impl Into<Cow<'a, str>>) -> Self {
        Self { part, tool: None, text: text.into() }
    }
}

/// Those that the query looks at, in the order in which they are read.
pub(super) fn of<'a>(node: &'a MessageNode, query: &SearchQuery) -> Vec<Passage<'a>> {
    let mut texts = Vec::new();
    if let Some(thinking) =
        node.thinking.as_deref().filter(|text| *text != SEALED && query.looks_at(SearchPart::Thinking))
    {
        texts.push(Passage::new(SearchPart::Thinking, thinking));
    }
    let part = match node.role {
        Role::System => SearchPart::System,
        Role::User => SearchPart::User,
        Role::Assistant => SearchPart::Assistant,
        Role::Tool => SearchPart::Result,
    };
    if query.looks_at(part) {
        let tool = node.tool_name.as_deref().filter(|_| part == SearchPart::Result);
        let attached = node.blocks.iter().filter_map(|block| match block {
            Block::File(file) => file.text.as_deref(),
            _ => None,
        });
        let shown = std::iter::once(node.content.as_str()).chain(attached).filter(|text| !text.is_empty());
        texts.extend(shown.map(|text| Passage { part, tool, text: text.into() }));
    }
    if query.looks_at(SearchPart::Call) {
        for call in &node.tool_calls {
            // Arguments that are no JSON are not shown as text either.
            let value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
            let tool = Some(call.name.as_str());
            values(value, &mut |text| texts.push(Passage { part: SearchPart::Call, tool, text: text.into() }));
        }
    }
    texts
}

/// The text values in a JSON value, whose depth the parser has bounded.
fn values(value: Value, take: &mut dyn FnMut(String)) {
    match value {
        Value::String(text) if !text.is_empty() => take(text),
        Value::Array(items) => items.into_iter().for_each(|item| values(item, take)),
        Value::Object(members) => members.into_iter().for_each(|(_, member)| values(member, take)),
        _ => {}
    }
}
