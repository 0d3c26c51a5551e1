//! Content of a node as blocks that a provider takes, and whether the reader gives it back as it was.

use super::record::Records;
use crate::content::decoded_length;
use sepia_ir::{Block, FileBlock, ImageBlock, MessageNode};

/// Stands where a message would be empty: providers refuse empty messages and blank texts. The agent itself
/// writes this.
pub(crate) const NOTHING: &str = "(no content)";
/// Pictures that a provider takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const PDF: &str = "application/pdf";
const PLAIN: &str = "text/plain";

/// What became of the content.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The reader gives the same text.
    pub(crate) same_text: bool,
    /// The reader gives the same blocks.
    pub(crate) same_blocks: bool,
    /// The text that the reader gives, where it is another.
    pub(crate) text: String,
    /// The texts one by one, of a list of blocks.
    pub(crate) texts: Vec<String>,
    /// Blocks that the model is not shown.
    pub(crate) unseen: usize,
}

/// Whether a text may stand in a message.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Writes the content of a user or tool node: a string, or a list of blocks. `empty` stands for none.
pub(crate) fn write(records: &mut Records, node: &MessageNode, empty: &str) -> Written {
    if node.blocks.is_empty() {
        let blank = is_blank(&node.content) && !(empty.is_empty() && node.content.is_empty());
        if blank && !empty.is_empty() && node.content != empty {
            records.string(empty);
            return Written { same_blocks: true, text: empty.to_owned(), ..Written::default() };
        }
        records.string(&node.content);
        return Written { same_text: true, same_blocks: true, ..Written::default() };
    }
    let mut list = List { records, any: false, mixed: false, same: true, texts: Vec::new(), unseen: 0 };
    list.records.json("[");
    for block in &node.blocks {
        list.block(block);
    }
    if !list.any {
        list.text(if empty.is_empty() { NOTHING } else { empty });
        list.same = false;
    }
    let List { mixed, same, texts, unseen, .. } = list;
    records.json("]");
    let text = texts.join("\n");
    let same_text = sepia_sdk::same(&text, &node.content);
    let text = if same_text { String::new() } else { text };
    Written { same_text, same_blocks: same && mixed, text, texts, unseen }
}

/// A list of blocks being written.
struct List<'a> {
    records: &'a mut Records,
    any: bool,
    /// There is more than text.
    mixed: bool,
    /// Every block so far comes back as it is.
    same: bool,
    texts: Vec<String>,
    unseen: usize,
}

impl List<'_> {
    fn begin(&mut self, kind: &str) {
        self.records.json(if self.any { ",{\"type\":\"" } else { "{\"type\":\"" });
        self.records.json(kind);
        self.records.json("\"");
        self.any = true;
    }

    fn text(&mut self, text: &str) {
        self.begin("text");
        self.records.text("text", text);
        self.records.json("}");
        self.texts.push(text.to_owned());
    }

    /// A text in place of what a model can't be shown.
    fn stand_in(&mut self, what: &str, name: Option<&str>) {
        self.text(&name.map_or_else(|| format!("[{what}]"), |name| format!("[{what}: {name}]")));
        self.same = false;
        self.unseen += 1;
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(text) if is_blank(&text.text) => self.same = false,
            Block::Text(text) => self.text(&text.text),
            Block::Image(image) => self.image(image),
            Block::File(file) => self.file(file),
            Block::Audio(audio) => self.stand_in("audio", audio.mime_type.as_deref()),
        }
    }

    fn image(&mut self, image: &ImageBlock) {
        let kind = image.mime_type.as_deref().filter(|kind| PICTURES.contains(kind));
        let address = image.uri.as_deref().filter(|uri| uri.starts_with("https://") || uri.starts_with("http://"));
        match (&image.data, kind, address) {
            (Some(data), Some(kind), _) => {
                self.begin("image");
                self.source("base64", Some(kind), "data", data);
                self.same &= image.uri.is_none();
            }
            (None, _, Some(address)) => {
                self.begin("image");
                self.source("url", None, "url", address);
                self.same &= image.mime_type.is_none();
            }
            _ => return self.stand_in("image", image.uri.as_deref().or(image.mime_type.as_deref())),
        }
        self.records.json("}");
        self.mixed = true;
    }

    fn file(&mut self, file: &FileBlock) {
        let name = file.name.as_deref();
        match (&file.text, &file.data) {
            (Some(text), None) if !is_blank(text) => {
                self.begin("document");
                self.source("text", Some(PLAIN), "data", text);
                self.same &= file.mime_type.as_deref() == Some(PLAIN) && file.size.is_none();
            }
            (None, Some(data)) if file.mime_type.as_deref() == Some(PDF) => {
                self.begin("document");
                self.source("base64", Some(PDF), "data", data);
                #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
                let size = decoded_length(data) as f64;
                self.same &= file.size == Some(size);
            }
            _ => return self.stand_in("file", name.or(file.uri.as_deref()).or(file.mime_type.as_deref())),
        }
        if let Some(name) = name {
            self.records.text("title", name);
        }
        self.same &= file.uri.is_none();
        self.records.json("}");
        self.mixed = true;
    }

    fn source(&mut self, kind: &str, media: Option<&str>, name: &str, value: &str) {
        self.records.json(",\"source\":{\"type\":\"");
        self.records.json(kind);
        self.records.json("\"");
        if let Some(media) = media {
            self.records.text("media_type", media);
        }
        self.records.text(name, value);
        self.records.json("}");
    }
}
