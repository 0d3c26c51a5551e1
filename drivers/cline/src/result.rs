//! What a tool answered, as text, and whether it worked.
//!
//! A call may ask for several things at once. Its result is then a list of items `{query,
//! result, success, error?}`; some tools put one such item into a string of JSON. Only calls
//! that were refused carry `is_error`: a command that failed says so in its item.

use crate::content::{Gatherer, raw_elements};
use crate::record::{Content, ContentBlock};
use sepia_ir::ToolCallStatus;
use sepia_sdk::json::{Raw, text_of};
use sepia_sdk::metadata::Members;
use std::borrow::Cow;

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: ToolCallStatus,
    pub(crate) exit_code: Option<i64>,
}

/// A result, decoded.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) content: Gatherer,
    pub(crate) outcome: Outcome,
    /// JSON texts of `{query, success, error?}`, one for each thing that was asked for.
    pub(crate) items: Vec<String>,
}

/// Decodes the content of a `tool_result` block.
pub(crate) fn decode(content: Raw<'_>, is_error: bool) -> Answer {
    let mut decoder = Decoder::default();
    match parsed(content) {
        Content::Text(text) => {
            if let Some(item) = item_in(&text) {
                decoder.items(vec![item], None);
            } else {
                decoder.content.text(text);
            }
        }
        Content::Blocks(blocks) => decoder.items(blocks, content),
        Content::Missing => {}
        Content::Odd => {
            decoder.content.opaque.extend(content.map(|raw| sepia_sdk::metadata::clean(raw.get()).into_owned()));
        }
    }
    let failed = is_error || decoder.failed;
    let status = if failed { ToolCallStatus::Error } else { ToolCallStatus::Success };
    let outcome = Outcome { status, exit_code: decoder.exit_code.filter(|_| failed) };
    Answer { content: decoder.content, outcome, items: decoder.items }
}

impl Answer {
    /// What [`decode`] makes of a list of one item, which has a text and no error.
    pub(crate) fn of_item(query: &str, text: &str, success: bool) -> Self {
        let mut told = Members::default();
        told.maybe("query", Some(query));
        told.raw("success", if success { "true" } else { "false" });
        let exit_code = if success { None } else { exit_code(text) };
        Self::of(text, success, exit_code, vec![told.finish()])
    }

    /// What [`decode`] makes of a text; none when that may be an item.
    pub(crate) fn of_text(text: &str, is_error: bool) -> Option<Self> {
        (!text.starts_with('{')).then(|| Self::of(text, !is_error, None, Vec::new()))
    }

    fn of(text: &str, success: bool, exit_code: Option<i64>, items: Vec<String>) -> Self {
        let status = if success { ToolCallStatus::Success } else { ToolCallStatus::Error };
        let mut content = Gatherer::default();
        content.text(Cow::Borrowed(text));
        Self { content, outcome: Outcome { status, exit_code }, items }
    }
}

fn parsed(content: Raw<'_>) -> Content<'_> {
    content.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// The item in a string of JSON. A string of other JSON is text.
fn item_in(text: &str) -> Option<ContentBlock<'_>> {
    if !text.starts_with('{') {
        return None;
    }
    let item = serde_json::from_str::<ContentBlock<'_>>(text).ok()?;
    is_item(&item).then_some(item)
}

fn is_item(block: &ContentBlock<'_>) -> bool {
    block.kind.get().is_none()
        && (block.success.is_some() || block.error.is_some() || (block.query.get().is_some() && block.result.is_some()))
}

#[derive(Default)]
struct Decoder {
    content: Gatherer,
    failed: bool,
    exit_code: Option<i64>,
    items: Vec<String>,
}

impl Decoder {
    fn items(&mut self, blocks: Vec<ContentBlock<'_>>, list: Raw<'_>) {
        let several = blocks.len() > 1;
        for (at, mut block) in blocks.into_iter().enumerate() {
            if is_item(&block) {
                self.item(&block, several);
            } else if !self.block(&mut block) {
                let raw = list.and_then(|list| raw_elements(list.get()).into_iter().nth(at));
                self.content.opaque.extend(raw);
            }
        }
    }

    fn block(&mut self, block: &mut ContentBlock<'_>) -> bool {
        if !block.kind.is("text") {
            return self.content.shown(block);
        }
        block.text.take().map(|text| self.content.text(text)).is_some()
    }

    fn item(&mut self, item: &ContentBlock<'_>, several: bool) {
        let error = item.error.filter(|raw| raw.get() != "null");
        let error = error.map(|raw| text_of(Some(raw)).unwrap_or(Cow::Borrowed(raw.get())));
        let success = item.success.map_or(error.is_none(), |raw| raw.get() != "false");
        let mut told = Members::default();
        told.maybe("query", item.query.get());
        told.raw("success", if success { "true" } else { "false" });
        told.maybe("error", error.as_deref());
        self.items.push(told.finish());
        if several && let Some(query) = item.query.filled() {
            self.content.text(Cow::Owned(format!("{query}:")));
        }
        let mut said = String::new();
        match parsed(item.result) {
            Content::Text(text) => {
                if !success {
                    text.as_ref().clone_into(&mut said);
                }
                self.content.text(text);
            }
            Content::Blocks(blocks) => self.items_of_result(blocks, item.result),
            Content::Missing => {}
            Content::Odd => self.content.text(Cow::Borrowed(item.result.map_or("", |raw| raw.get()))),
        }
        if !success {
            self.failed = true;
            let error = error.unwrap_or_default();
            self.exit_code = self.exit_code.or_else(|| exit_code(&said)).or_else(|| exit_code(&error));
            if !said.contains(error.as_ref()) {
                self.content.text(error);
            }
        }
    }

    /// Blocks in an item; items are not nested deeper.
    fn items_of_result(&mut self, blocks: Vec<ContentBlock<'_>>, list: Raw<'_>) {
        for (at, mut block) in blocks.into_iter().enumerate() {
            if !self.block(&mut block) {
                let raw = list.and_then(|list| raw_elements(list.get()).into_iter().nth(at));
                self.content.opaque.extend(raw);
            }
        }
    }
}

/// The number in `Command exited with code 3`, which the text of a failed command begins with.
fn exit_code(text: &str) -> Option<i64> {
    let rest = text.strip_prefix('[').unwrap_or(text).strip_prefix("Command exited with code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}
