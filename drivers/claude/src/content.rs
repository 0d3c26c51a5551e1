//! Content blocks of a record as text, blocks and thinking of a node.

use crate::entry::{Content, ContentBlock, Source};
use crate::metadata;
use sepia_ir::{Block, FileBlock, ImageBlock, MessageNode, TextBlock};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// What the content of a node is gathered in.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    blocks: Vec<Block>,
    /// There is more than text, so the blocks are told in full.
    mixed: bool,
    /// JSON text of blocks that are not understood.
    pub(crate) opaque: Vec<String>,
}

impl Gatherer {
    /// Adds a piece of text. Of blocks without text nothing is told.
    pub(crate) fn text(&mut self, text: Cow<'_, str>) {
        if !text.is_empty() {
            self.blocks.push(Block::Text(TextBlock { text: text.into_owned() }));
        }
    }

    /// Adds a block that shows something; false when it is of another kind.
    pub(crate) fn shown(&mut self, block: &mut ContentBlock<'_>) -> bool {
        match block.kind.get() {
            Some("text") => match block.text.take() {
                Some(text) => self.text(text),
                None => return false,
            },
            Some("image") => {
                self.mixed = true;
                self.blocks.push(image(&mut block.source));
            }
            Some("document") => {
                self.mixed = true;
                let name = block.title.take().map(Cow::into_owned);
                self.blocks.push(document(&mut block.source, name));
            }
            _ => return false,
        }
        true
    }

    /// Adds all that a tool result shows; `raw` gives the JSON text of a block by position.
    pub(crate) fn content(&mut self, content: Content<'_>, raw: impl Fn(usize) -> Option<String>) {
        match content {
            Content::Text(text) => self.text(text),
            Content::Blocks(blocks) => {
                for (at, mut block) in blocks.into_iter().enumerate() {
                    if !self.shown(&mut block) {
                        self.opaque.extend(raw(at));
                    }
                }
            }
            Content::Missing | Content::Odd => {}
        }
    }

    /// Puts everything into the node.
    pub(crate) fn give(self, node: &mut MessageNode) -> Vec<String> {
        let Self { mut blocks, mixed, opaque } = self;
        if !mixed && blocks.len() == 1 {
            if let Some(Block::Text(text)) = blocks.pop() {
                node.content = text.text;
            }
            return opaque;
        }
        let texts = blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        node.content = crate::prompt::joined(texts.map(Cow::Borrowed)).into_owned();
        if mixed {
            node.blocks = blocks;
        }
        opaque
    }
}

fn image(source: &mut Source<'_>) -> Block {
    Block::Image(ImageBlock {
        data: source.data.take().map(Cow::into_owned),
        mime_type: source.media_type.take().map(Cow::into_owned),
        uri: source.url.take().map(Cow::into_owned),
    })
}

fn document(source: &mut Source<'_>, name: Option<String>) -> Block {
    let data = source.data.take().map(Cow::into_owned);
    let (text, data) = if source.kind.is("text") { (data, None) } else { (None, data) };
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let size = data.as_deref().map(|data| decoded_length(data) as f64);
    Block::File(FileBlock {
        uri: source.url.take().map(Cow::into_owned),
        name,
        mime_type: source.media_type.take().map(Cow::into_owned),
        size,
        text,
        data,
    })
}

/// Bytes that base64 text stands for.
pub(crate) fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

/// The JSON text of a member of a member … of a record. Slow, and only asked for when there is
/// something that is to be kept as it is.
pub(crate) fn raw_member(line: &str, pointer: &[&str]) -> Option<String> {
    member(line, pointer).map(|raw| metadata::clean(raw.get()).into_owned())
}

/// The JSON texts of the elements of such a member.
pub(crate) fn raw_blocks(line: &str, pointer: &[&str]) -> Vec<String> {
    let list = member(line, pointer).and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    list.unwrap_or_default().into_iter().map(|raw| metadata::clean(raw.get()).into_owned()).collect()
}

fn member<'a>(line: &'a str, pointer: &[&str]) -> Option<&'a RawValue> {
    let mut value: &RawValue = serde_json::from_str(line).ok()?;
    for name in pointer {
        value = serde_json::from_str::<HashMap<Cow<'a, str>, &'a RawValue>>(value.get()).ok()?.get(*name)?;
    }
    Some(value)
}
