//! What a person attached to a prompt, as the content blocks of the Agent Client Protocol that
//! the agent keeps beside the text.

use sepia_ir::{Block, FileBlock};
use sepia_sdk::metadata::Members;

/// Blocks as they are kept.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    /// JSON text of the list, when one is kept.
    pub(crate) json: Option<String>,
    /// What a reader makes of it; none when it is what was given.
    pub(crate) native: Option<Vec<Block>>,
    /// Blocks that the agent has no form for.
    pub(crate) left_out: usize,
}

/// A block in its form, and whether that form says all of it.
enum Form {
    Whole(Members),
    Part(Members, Block),
    None,
}

/// The blocks of a prompt with this text.
pub(crate) fn attached(blocks: &[Block], content: &str) -> Attached {
    if blocks.is_empty() {
        return Attached::default();
    }
    let (mut items, mut native, mut left_out) = (Vec::with_capacity(blocks.len()), Vec::new(), 0);
    let mut whole = true;
    for (at, block) in blocks.iter().enumerate() {
        let (members, changed) = match form(block) {
            Form::Whole(members) => (Some(members), None),
            Form::Part(members, changed) => (Some(members), Some(Some(changed))),
            Form::None => (None, Some(None)),
        };
        left_out += usize::from(members.is_none());
        items.extend(members.map(Members::finish));
        match changed {
            // From the first that differs on a list of its own is needed.
            Some(changed) if whole => {
                whole = false;
                native.extend_from_slice(&blocks[..at]);
                native.extend(changed);
            }
            Some(changed) => native.extend(changed),
            None if whole => {}
            None => native.push(block.clone()),
        }
    }
    let is_text = |block: &&Block| matches!(block, Block::Text(_));
    let attached = if whole { blocks } else { &native };
    if attached.iter().all(|block| is_text(&block)) {
        // The text says it all; the agent keeps blocks only for what is none.
        return Attached { json: None, native: Some(Vec::new()), left_out };
    }
    let texts: Vec<&str> = attached.iter().filter_map(text).collect();
    if texts.join("\n") != content {
        let mut settled: Vec<Block> = attached.iter().filter(|block| !is_text(block)).cloned().collect();
        crate::content::put_text_first(&mut settled, content);
        let items: Vec<String> = settled
            .iter()
            .filter_map(|block| match form(block) {
                Form::Whole(members) | Form::Part(members, _) => Some(members.finish()),
                Form::None => None,
            })
            .collect();
        return Attached { json: Some(format!("[{}]", items.join(","))), native: Some(settled), left_out };
    }
    Attached { json: Some(format!("[{}]", items.join(","))), native: (!whole).then_some(native), left_out }
}

fn text(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(&text.text),
        _ => None,
    }
}

fn form(block: &Block) -> Form {
    let mut members = Members::default();
    match block {
        Block::Text(block) => {
            members.text("type", "text");
            members.text("text", &block.text);
        }
        Block::Image(block) => {
            let (Some(data), Some(kind)) = (&block.data, &block.mime_type) else { return Form::None };
            members.text("type", "image");
            members.text("data", data);
            members.text("mimeType", kind);
            if let Some(uri) = &block.uri {
                members.text("uri", uri);
            }
        }
        Block::Audio(block) => {
            let (Some(data), Some(kind)) = (&block.data, &block.mime_type) else { return Form::None };
            members.text("type", "audio");
            members.text("data", data);
            members.text("mimeType", kind);
        }
        Block::File(block) if block.text.is_some() || block.data.is_some() => return embedded(block),
        Block::File(block) => return link(block),
    }
    Form::Whole(members)
}

/// A file with its content.
fn embedded(block: &FileBlock) -> Form {
    let Some(uri) = block.uri.clone().or_else(|| Some(format!("attachment:///{}", block.name.as_ref()?))) else {
        return Form::None;
    };
    let mut resource = Members::default();
    resource.text("uri", &uri);
    if let Some(kind) = &block.mime_type {
        resource.text("mimeType", kind);
    }
    // One or the other.
    match (&block.text, &block.data) {
        (Some(text), _) => resource.text("text", text),
        (None, data) => resource.text("blob", data.as_deref().unwrap_or_default()),
    }
    let mut members = Members::default();
    members.text("type", "resource");
    members.raw("resource", &resource.finish());
    let native = FileBlock {
        uri: Some(uri),
        mime_type: block.mime_type.clone(),
        text: block.text.clone(),
        data: if block.text.is_some() { None } else { block.data.clone() },
        ..FileBlock::default()
    };
    if native == *block { Form::Whole(members) } else { Form::Part(members, Block::File(native)) }
}

/// A file by its place.
fn link(block: &FileBlock) -> Form {
    let Some(uri) = &block.uri else { return Form::None };
    let name = block.name.clone().unwrap_or_else(|| uri.rsplit('/').next().unwrap_or(uri).to_owned());
    let size = block.size.filter(|size| size.is_finite() && *size >= 0.0);
    let mut members = Members::default();
    members.text("type", "resource_link");
    members.text("uri", uri);
    members.text("name", &name);
    if let Some(kind) = &block.mime_type {
        members.text("mimeType", kind);
    }
    members.maybe_number("size", size);
    let native = FileBlock { name: Some(name), size, ..block.clone() };
    if native == *block { Form::Whole(members) } else { Form::Part(members, Block::File(native)) }
}
