//! Messages of the model's view, as nodes: JSON in the shape of the AI SDK.

use crate::json::{self, Object};
use crate::outcome;
use crate::prompt::{joined, spoken};
use crate::step::{NodeMeta, Step};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sepia_ir::{Block, FileBlock, ImageBlock, MessageNode, Role, TextBlock, ToolCall};
use std::borrow::Cow;

/// What is known of a message from outside it.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Id of its blob.
    pub(crate) blob: &'a str,
    /// A compaction took it out of the model's view.
    pub(crate) archived: bool,
}

/// The nodes of a message: one, or for a tool message one a result. None when the text is no
/// message.
pub(crate) fn steps(text: &str, place: Place<'_>) -> Option<Vec<Step>> {
    let message = Object::parse(text)?;
    let role = message.text("role")?;
    let options = message.object("providerOptions").and_then(|options| options.object("cursor")).unwrap_or_default();
    let meta = NodeMeta { blob: Some(place.blob.to_owned()), archived: place.archived, ..NodeMeta::default() };
    Some(match role.as_ref() {
        "user" => vec![user(&message, &options, meta)],
        "assistant" => vec![assistant(&message, meta)],
        "tool" => results(&message, &options, place),
        "system" | "developer" => {
            let mut content = Content::default();
            content.all(message.get("content"));
            vec![content.step(Role::System, meta)]
        }
        _ => return None,
    })
}

/// Content being gathered.
#[derive(Debug, Default)]
struct Content<'a> {
    blocks: Vec<Block>,
    texts: Vec<Cow<'a, str>>,
    /// There is more than text, so the blocks are told in full.
    mixed: bool,
    opaque: Vec<&'a str>,
    /// The content as it stands, when it is of no known shape.
    odd: Option<&'a str>,
}

impl<'a> Content<'a> {
    /// Takes content that only shows something: text, pictures, files.
    fn all(&mut self, content: Option<&'a str>) {
        for part in self.parts(content) {
            let known = Object::parse(part).is_some_and(|object| self.shown(&object));
            if !known {
                self.opaque.push(part);
            }
        }
    }

    /// The parts of the content; a plain string is taken at once.
    fn parts(&mut self, content: Option<&'a str>) -> Vec<&'a str> {
        let Some(content) = content else { return Vec::new() };
        if let Some(text) = json::text(content) {
            self.text(text);
            return Vec::new();
        }
        json::list(content).unwrap_or_else(|| {
            if content != "null" {
                self.odd = Some(content);
            }
            Vec::new()
        })
    }

    fn text(&mut self, text: Cow<'a, str>) {
        if !text.is_empty() {
            self.blocks.push(Block::Text(TextBlock { text: text.clone().into_owned() }));
            self.texts.push(text);
        }
    }

    /// Adds a part that shows something; false when it is of another kind.
    fn shown(&mut self, part: &Object<'a>) -> bool {
        match part.text("type").as_deref() {
            Some("text") => match part.text("text") {
                Some(text) => self.text(text),
                None => return false,
            },
            Some("image") => match image(part) {
                Some(image) => self.other(Block::Image(image)),
                None => return false,
            },
            Some("file") => match file(part) {
                Some(file) => self.other(Block::File(file)),
                None => return false,
            },
            _ => return false,
        }
        true
    }

    fn other(&mut self, block: Block) {
        self.mixed = true;
        self.blocks.push(block);
    }

    /// A node of all that was gathered.
    fn step(self, role: Role, mut meta: NodeMeta) -> Step {
        let mut node = MessageNode::new(0, role, 0.0);
        node.content = joined(self.texts).into_owned();
        if self.mixed {
            node.blocks = self.blocks;
        }
        meta.opaque_parts.extend(self.opaque.into_iter().map(json::passed_on));
        meta.opaque_content = self.odd.map(json::passed_on);
        node.metadata = meta.json();
        Step::new(node)
    }
}

fn user(message: &Object<'_>, options: &Object<'_>, mut meta: NodeMeta) -> Step {
    let raw = message.get("content");
    let mut told = Content::default();
    told.all(raw);
    let summary = options.flag("isSummary");
    let injected = options.get("requestContextCompleteness").is_some();
    let (mut typed, mut at, mut more, mut wrapped) = (Vec::new(), None, false, false);
    for text in &told.texts {
        let spoken = spoken(text);
        at = at.or(spoken.at);
        more |= spoken.more;
        if let Some(text_typed) = spoken.typed.filter(|typed| !typed.is_empty()) {
            wrapped |= text_typed.len() != text.len();
            typed.push(text_typed);
        }
    }
    let pictures = told.mixed;
    if summary {
        meta.kind = Some("summary");
    } else if injected || (typed.is_empty() && !pictures && !told.texts.is_empty()) {
        meta.kind = Some("context");
    }
    if meta.kind.is_some() {
        let mut step = told.step(Role::User, meta);
        step.node.request_id = options.filled("requestId");
        step.at = at;
        return step;
    }
    let prompt = typed.join("\n");
    let usual = wrapped && !more && told.texts.len() == 1;
    if usual {
        meta.wrapped = true;
    } else if wrapped || more {
        // What was typed is shown; what stands around it is kept. Pictures are in the blocks.
        let texts: Vec<&str> = told.texts.iter().map(AsRef::as_ref).collect();
        meta.original = serde_json::value::to_raw_value(&texts).ok();
    }
    let mut shown = Content { mixed: told.mixed, opaque: told.opaque, odd: told.odd, ..Content::default() };
    let mut typed = typed.into_iter();
    // The blocks keep their order, with the typed text where text stands.
    for block in told.blocks {
        match block {
            Block::Text(text) => {
                let is_typed = spoken(&text.text).typed.is_some_and(|typed| !typed.is_empty());
                if let Some(text) = if is_typed { typed.next() } else { None } {
                    shown.blocks.push(Block::Text(TextBlock { text: text.to_owned() }));
                }
            }
            other => shown.blocks.push(other),
        }
    }
    let mut step = shown.step(Role::User, meta);
    step.node.content.clone_from(&prompt);
    step.node.request_id = options.filled("requestId");
    step.at = at;
    step.prompt = (!prompt.is_empty() || pictures).then_some(prompt);
    step
}

fn assistant(message: &Object<'_>, meta: NodeMeta) -> Step {
    let mut content = Content::default();
    let (mut thinking, mut signature) = (Vec::new(), None);
    let mut calls = Vec::new();
    for raw in content.parts(message.get("content")) {
        let Some(part) = Object::parse(raw) else {
            content.opaque.push(raw);
            continue;
        };
        match part.text("type").as_deref() {
            Some("reasoning") => {
                thinking.push(part.text("text").unwrap_or_default());
                signature = part.filled("signature").or(signature);
            }
            Some("redacted-reasoning") => {
                thinking.push(Cow::Borrowed("[redacted]"));
                signature = part.filled("data").or(signature);
            }
            Some("tool-call") => calls.push(call(&part)),
            _ => {
                if !content.shown(&part) {
                    content.opaque.push(raw);
                }
            }
        }
    }
    let mut step = content.step(Role::Assistant, meta);
    let node = &mut step.node;
    if !thinking.is_empty() {
        node.thinking = Some(joined(thinking).into_owned());
        node.thinking_signature = signature;
    }
    node.tool_calls = calls;
    step
}

fn call(part: &Object<'_>) -> ToolCall {
    let arguments = json::passed_on(part.get("args").or_else(|| part.get("input")).unwrap_or("null"));
    let name = part.text("toolName").unwrap_or_default().into_owned();
    let mut call = ToolCall::new(part.text("toolCallId").unwrap_or_default(), name, arguments.get().to_owned());
    call.locations = outcome::locations(&call.name, &call.arguments);
    call
}

/// One node a result; the agent writes one result a message.
fn results(message: &Object<'_>, options: &Object<'_>, place: Place<'_>) -> Vec<Step> {
    let mut rest = Content::default();
    let mut steps = Vec::new();
    let high_level = options.object("highLevelToolCallResult");
    for raw in rest.parts(message.get("content")) {
        let part = Object::parse(raw).filter(|part| part.text("type").as_deref() == Some("tool-result"));
        let Some(part) = part else {
            rest.opaque.push(raw);
            continue;
        };
        let meta = NodeMeta { blob: Some(place.blob.to_owned()), archived: place.archived, ..NodeMeta::default() };
        let id = part.filled("toolCallId").or_else(|| message.filled("id"));
        steps.push(result(&part, high_level.as_ref(), id, meta));
    }
    if steps.is_empty() {
        // A result of another shape: its call is still answered.
        let meta = NodeMeta { blob: Some(place.blob.to_owned()), archived: place.archived, ..NodeMeta::default() };
        let mut step = rest.step(Role::Tool, meta);
        step.node.tool_call_id = message.filled("id");
        step.node.tool_result = Some(outcome::noted(high_level.as_ref(), &step.node.content).outcome.result());
        steps.push(step);
    }
    steps
}

fn result(part: &Object<'_>, high_level: Option<&Object<'_>>, id: Option<String>, mut meta: NodeMeta) -> Step {
    let mut content = Content::default();
    let result = part.get("result").or_else(|| part.get("output"));
    let told = part.get("experimental_content").filter(|content| json::list(content).is_some_and(|l| !l.is_empty()));
    match (result.and_then(json::text), told) {
        // The parts say the same as the text, and pictures besides.
        (Some(text), Some(parts)) if !text.is_empty() => {
            content.all(Some(parts));
            if !content.mixed {
                content = Content::default();
                content.text(text);
            }
        }
        (_, Some(parts)) => content.all(Some(parts)),
        (Some(text), None) => content.text(text),
        (None, None) => {
            if let Some(value) = result.filter(|value| *value != "null") {
                content.text(Cow::Owned(json::passed_on(value).get().to_owned()));
            }
        }
    }
    let noted = outcome::noted(high_level, content.texts.first().map_or("", |text| text.as_ref()));
    meta.outcome = noted.named.filter(|named| named != "success");
    meta.agent_session = noted.agent_id;
    meta.raw_error_messages = high_level
        .and_then(|high_level| high_level.get("rawErrorMessages"))
        .filter(|raw| *raw != "[]")
        .map(json::passed_on);
    let mut step = content.step(Role::Tool, meta);
    step.node.tool_call_id = id;
    step.node.tool_name = part.filled("toolName");
    step.node.tool_result = Some(noted.outcome.result());
    step
}

/// Base64 of the bytes that a part holds as JSON: `{"__type":"Uint8Array","hex":…}`, a data URL,
/// or base64 already. A URL is given as it is.
enum Bytes {
    Data { data: String, mime_type: Option<String> },
    Link(String),
}

fn bytes(raw: &str) -> Option<Bytes> {
    if let Some(text) = json::text(raw) {
        if let Some((about, data)) = text.strip_prefix("data:").and_then(|rest| rest.split_once(',')) {
            let mime_type = about.split(';').next().filter(|mime| !mime.is_empty()).map(str::to_owned);
            return about.ends_with("base64").then(|| Bytes::Data { data: data.to_owned(), mime_type });
        }
        return Some(if text.contains("://") {
            Bytes::Link(text.into_owned())
        } else {
            Bytes::Data { data: text.into_owned(), mime_type: None }
        });
    }
    let hex = Object::parse(raw)?.text("hex")?.into_owned();
    Some(Bytes::Data { data: STANDARD.encode(unhex(&hex)?), mime_type: None })
}

/// The bytes of hexadecimal text.
pub(crate) fn unhex(hex: &str) -> Option<Vec<u8>> {
    /// What a digit stands for; 0xff of what is none.
    const DIGITS: [u8; 256] = {
        let mut digits = [0xff; 256];
        let mut digit = 0;
        while digit < 16 {
            digits[b"0123456789abcdef"[digit as usize] as usize] = digit;
            digits[b"0123456789ABCDEF"[digit as usize] as usize] = digit;
            digit += 1;
        }
        digits
    };
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut seen = 0;
    let byte = |[high, low]: &[u8; 2]| {
        let (high, low) = (DIGITS[usize::from(*high)], DIGITS[usize::from(*low)]);
        seen |= high | low;
        high << 4 | low
    };
    let bytes = pairs.iter().map(byte).collect();
    (seen < 16).then_some(bytes)
}

fn mime_type(part: &Object<'_>) -> Option<String> {
    ["mimeType", "mediaType"].iter().find_map(|name| part.filled(name))
}

fn image(part: &Object<'_>) -> Option<ImageBlock> {
    let found = bytes(part.get("image").or_else(|| part.get("data"))?)?;
    Some(match found {
        Bytes::Data { data, mime_type: own } => {
            ImageBlock { data: Some(data), mime_type: mime_type(part).or(own), uri: None }
        }
        Bytes::Link(uri) => ImageBlock { data: None, mime_type: mime_type(part), uri: Some(uri) },
    })
}

fn file(part: &Object<'_>) -> Option<FileBlock> {
    let mut block = FileBlock { name: part.filled("filename"), mime_type: mime_type(part), ..FileBlock::default() };
    match bytes(part.get("data").or_else(|| part.get("file"))?)? {
        Bytes::Data { data, mime_type } => {
            #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
            let size = (data.trim_end_matches('=').len() * 3 / 4) as f64;
            block.size = Some(size);
            block.mime_type = block.mime_type.or(mime_type);
            block.data = Some(data);
        }
        Bytes::Link(uri) => block.uri = Some(uri),
    }
    Some(block)
}

/// A message that is too long to be read, by the way it begins and ends.
pub(crate) fn too_long(ends: &[u8], bytes: u64, blob: &str) -> Step {
    let ends = String::from_utf8_lossy(ends);
    let is = |role: &str| ends.contains(&format!("\"role\":\"{role}\""));
    let role = match () {
        () if is("tool") => Role::Tool,
        () if is("user") => Role::User,
        () if is("system") => Role::System,
        () => Role::Assistant,
    };
    let meta = NodeMeta { blob: Some(blob.to_owned()), too_long: Some(bytes), ..NodeMeta::default() };
    let mut node = MessageNode::new(0, role, 0.0);
    node.metadata = meta.json();
    if role == Role::Tool {
        let id = ends.split("\"toolCallId\":\"").nth(1).and_then(|rest| rest.split('"').next());
        node.tool_call_id = id.map(str::to_owned);
        node.tool_result = Some(outcome::noted(None, "").outcome.result());
    }
    Step::new(node)
}
