//! Blocks of a message: what a person attached to a prompt.

use sepia_ir::{AudioBlock, Block, FileBlock, ImageBlock, MessageNode, TextBlock};
use sepia_sdk::json::{List, Number, Raw, Str, members, part};

members! {
    /// A content block of the Agent Client Protocol.
    Attached {
        kind: Str<'a> = "type",
        text: Str<'a> = "text",
        data: Str<'a> = "data",
        mime_type: Str<'a> = "mimeType",
        uri: Str<'a> = "uri",
        name: Str<'a> = "name",
        size: Number = "size",
        resource: Embedded<'a> = "resource",
    }
}

members! {
    Embedded {
        uri: Str<'a> = "uri",
        mime_type: Str<'a> = "mimeType",
        text: Str<'a> = "text",
        blob: Str<'a> = "blob",
    }
}

members! {
    /// A picture as an older writer keeps it.
    Picture {
        media_type: Str<'a> = "media_type",
        data: Str<'a> = "base64_data",
    }
}

impl Attached<'_> {
    /// The block; none when its kind is not known.
    fn block(mut self) -> Option<Block> {
        Some(match self.kind.get()? {
            "text" => Block::Text(TextBlock { text: self.text.take_owned()? }),
            "image" => Block::Image(ImageBlock {
                data: self.data.take_owned(),
                mime_type: self.mime_type.take_owned(),
                uri: self.uri.take_owned(),
            }),
            "audio" => {
                Block::Audio(AudioBlock { data: self.data.take_owned(), mime_type: self.mime_type.take_owned() })
            }
            "resource_link" => Block::File(FileBlock {
                uri: self.uri.take_owned(),
                name: self.name.take_owned(),
                mime_type: self.mime_type.take_owned(),
                size: self.size.0.filter(|size| *size >= 0.0),
                ..FileBlock::default()
            }),
            "resource" => Block::File(FileBlock {
                uri: self.resource.uri.take_owned(),
                mime_type: self.resource.mime_type.take_owned(),
                text: self.resource.text.take_owned(),
                data: self.resource.blob.take_owned(),
                ..FileBlock::default()
            }),
            _ => return None,
        })
    }
}

/// Gives a node its blocks. A message of text alone has none. Says whether some block was of a
/// kind that is not known.
pub(crate) fn give(node: &mut MessageNode, attached: Raw<'_>, pictures: Raw<'_>) -> bool {
    let mut unknown = false;
    let mut blocks = Vec::new();
    if attached.is_some() {
        for item in part::<List<Attached<'_>>>(attached).items {
            let block = item.block();
            unknown |= block.is_none();
            blocks.extend(block);
        }
    }
    if pictures.is_some() {
        for mut picture in part::<List<Picture<'_>>>(pictures).items {
            let (data, mime_type) = (picture.data.take_owned(), picture.media_type.take_owned());
            blocks.push(Block::Image(ImageBlock { data, mime_type, uri: None }));
        }
    }
    if blocks.iter().all(|block| matches!(block, Block::Text(_))) {
        return unknown;
    }
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    if texts.join("\n") != node.content {
        // The model was told the content, whatever the blocks say.
        blocks.retain(|block| !matches!(block, Block::Text(_)));
        put_text_first(&mut blocks, &node.content);
    }
    node.blocks = blocks;
    unknown
}

/// Puts the text of a message before what is attached to it.
pub(crate) fn put_text_first(blocks: &mut Vec<Block>, content: &str) {
    if !content.is_empty() {
        blocks.insert(0, Block::Text(TextBlock { text: content.to_owned() }));
    }
}
