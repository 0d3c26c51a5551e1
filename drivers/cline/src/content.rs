//! Text, images and files as content and blocks of a node.

use crate::record::{ContentBlock, Source};
use sepia_ir::{Block, FileBlock, ImageBlock, MessageNode, TextBlock};
use sepia_sdk::json::text_of;
use sepia_sdk::metadata;
use serde_json::value::RawValue;
use std::borrow::Cow;

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
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Adds a piece of text. Of blocks without text nothing is told.
    pub(crate) fn text(&mut self, text: Cow<'_, str>) {
        if !text.is_empty() {
            self.blocks.push(Block::Text(TextBlock { text: text.into_owned() }));
        }
    }

    /// Adds a block that shows something else than text; false when it is of another kind.
    pub(crate) fn shown(&mut self, block: &mut ContentBlock<'_>) -> bool {
        let shown = match block.kind.get() {
            Some("image") => image(block),
            Some("file") => file(block),
            Some("document") => document(&mut block.source, block.title.take().map(Cow::into_owned)),
            _ => return false,
        };
        self.mixed = true;
        self.blocks.push(shown);
        true
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
        for (at, text) in blocks.iter().filter_map(text_of_block).enumerate() {
            if at > 0 {
                node.content.push('\n');
            }
            node.content.push_str(text);
        }
        if mixed {
            node.blocks = blocks;
        }
        opaque
    }
}

fn text_of_block(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// Sessions keep an image in the block, tasks in its `source`.
fn image(block: &mut ContentBlock<'_>) -> Block {
    let source = &mut block.source;
    Block::Image(ImageBlock {
        data: block.data.take().or_else(|| source.data.take()).map(Cow::into_owned),
        mime_type: block.media_type.take().or_else(|| source.media_type.take()).map(Cow::into_owned),
        uri: source.url.take().map(Cow::into_owned),
    })
}

/// A file that was mentioned: its absolute path and its text.
fn file(block: &mut ContentBlock<'_>) -> Block {
    let text = text_of(block.content).map(Cow::into_owned);
    let path = block.path.take().map(Cow::into_owned);
    Block::File(FileBlock {
        name: path.as_deref().and_then(|path| path.rsplit(['/', '\\']).next()).map(str::to_owned),
        uri: path,
        size: text.as_deref().map(|text| size(text.len())),
        text,
        ..FileBlock::default()
    })
}

fn document(source: &mut Source<'_>, name: Option<String>) -> Block {
    let data = source.data.take().map(Cow::into_owned);
    let (text, data) = if source.kind.is("text") { (data, None) } else { (None, data) };
    Block::File(FileBlock {
        uri: source.url.take().map(Cow::into_owned),
        name,
        mime_type: source.media_type.take().map(Cow::into_owned),
        size: data.as_deref().map(|data| size(data.trim_end_matches('=').len() * 3 / 4)),
        text,
        data,
    })
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn size(bytes: usize) -> f64 {
    bytes as f64
}

/// The JSON texts of the elements of a list. Slow, and only asked for when there is something
/// that is to be kept as it is.
pub(crate) fn raw_elements(list: &str) -> Vec<String> {
    let list = serde_json::from_str::<Vec<&RawValue>>(list).unwrap_or_default();
    list.into_iter().map(|raw| metadata::clean(raw.get()).into_owned()).collect()
}
