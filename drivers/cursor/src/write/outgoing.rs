//! A node as a message of the model's view: JSON in the shape of the AI SDK, its members in the
//! order in which the agent writes them.

use crate::blobs::hex;
use crate::json::Object;
use crate::prompt::spoken;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sepia_ir::{Block, MessageNode, Role, ToolCallStatus};
use sepia_sdk::Host;
use sepia_sdk::metadata::string;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What the agent's own reader noted of a node that came from it; see `step::NodeMeta`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OwnMeta {
    blob: Option<String>,
    kind: Option<String>,
    pub(crate) archived: bool,
    original: Option<Vec<String>>,
    wrapped: bool,
    outcome: Option<String>,
    raw_error_messages: Option<Box<RawValue>>,
    agent_session: Option<String>,
}

impl OwnMeta {
    /// Of a node; what is not the agent's own is as good as empty.
    pub(crate) fn of(node: &MessageNode) -> Self {
        if !node.metadata.contains("\"blob\"") {
            return Self::default();
        }
        let meta: Self = serde_json::from_str(&node.metadata).unwrap_or_default();
        let own =
            meta.blob.as_ref().is_some_and(|blob| blob.len() == 64 && blob.bytes().all(|b| b.is_ascii_hexdigit()));
        if own { meta } else { Self::default() }
    }

    /// The node came from this agent.
    pub(crate) fn is_own(&self) -> bool {
        self.blob.is_some()
    }

    /// A user message that no person typed.
    pub(crate) fn is_injected(&self) -> bool {
        matches!(self.kind.as_deref(), Some("context" | "summary"))
    }

    pub(crate) fn is_context(&self) -> bool {
        self.kind.as_deref() == Some("context")
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.kind.as_deref() == Some("simulated")
    }
}

/// A node as a message.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) json: Vec<u8>,
    /// SHA-256 of it.
    pub(crate) id: [u8; 32],
    /// It can stand before the model.
    pub(crate) fits: bool,
    /// What of the node the model does not see, for people.
    pub(crate) left_out: Vec<&'static str>,
    /// Of a result, what became of its call: JSON.
    pub(crate) high_level: String,
}

/// A result of another agent that is longer is not written a second time, bytes.
const TWICE: usize = 2 << 10;

/// How content that is text alone is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Parts,
}

/// Writes a node; `request` is the id of the request that a prompt begins, `tool` the tool that
/// a result is of.
pub(crate) fn outgoing(host: &Host, node: &MessageNode, meta: &OwnMeta, request: Option<&str>, tool: &str) -> Outgoing {
    let written = |form| written(host, node, meta, request, tool, form);
    let usual = if node.role == Role::System || meta.is_context() { Form::Text } else { Form::Parts };
    let mut out = written(usual);
    // The agent writes the same content in two forms: of its own message take the one that it is in.
    if let Some(blob) = &meta.blob
        && *blob != hex(&out.id)
        && matches!(node.role, Role::User | Role::System)
    {
        let other = if usual == Form::Text { Form::Parts } else { Form::Text };
        let second = written(other);
        if *blob == hex(&second.id) {
            out = second;
        }
    }
    out
}

fn written(host: &Host, node: &MessageNode, meta: &OwnMeta, request: Option<&str>, tool: &str, form: Form) -> Outgoing {
    let mut message = Message::default();
    match node.role {
        Role::System => {
            message.open("system");
            message.content(&[node.content.as_str()], form);
            // The agent has a system message of its own, which another agent's is not.
            message.fits = meta.is_own();
        }
        Role::User => user(&mut message, node, meta, request, form),
        Role::Assistant => assistant(&mut message, node, meta),
        Role::Tool => tool_result(&mut message, node, meta, tool),
    }
    message.json.push(b'}');
    let id = host.sha256(&message.json);
    Outgoing { json: message.json, id, fits: message.fits, left_out: message.left_out, high_level: message.high_level }
}

#[derive(Default)]
struct Message {
    json: Vec<u8>,
    /// A part stands before.
    parts: bool,
    fits: bool,
    left_out: Vec<&'static str>,
    high_level: String,
}

impl Message {
    fn raw(&mut self, json: &str) {
        self.json.extend_from_slice(json.as_bytes());
    }

    fn string(&mut self, text: &str) {
        self.json.reserve(text.len() + 2);
        sepia_sdk::quoted(text, |piece| self.json.extend_from_slice(piece.as_bytes()));
    }

    fn open(&mut self, role: &str) {
        self.raw("{\"role\":\"");
        self.raw(role);
        self.raw("\",\"content\":");
    }

    fn part(&mut self, kind: &str) {
        self.raw(if self.parts { ",{\"type\":\"" } else { "{\"type\":\"" });
        self.raw(kind);
        self.raw("\"");
        (self.parts, self.fits) = (true, true);
    }

    fn member(&mut self, key: &str, text: &str) {
        self.raw(",\"");
        self.raw(key);
        self.raw("\":");
        self.string(text);
    }

    fn text_part(&mut self, text: &str) {
        self.part("text");
        self.member("text", text);
        self.raw("}");
    }

    /// Texts alone.
    fn content(&mut self, texts: &[&str], form: Form) {
        if let (Form::Text, [only]) = (form, texts) {
            self.string(only);
            self.fits = !only.is_empty();
            return;
        }
        self.raw("[");
        for text in texts {
            self.text_part(text);
        }
        self.raw("]");
    }

    /// A picture or file, if the agent holds such.
    fn shown(&mut self, block: &Block) {
        match block {
            Block::Text(_) => {}
            Block::Image(image) => match (&image.data, &image.mime_type, &image.uri) {
                (Some(data), Some(mime), None) if self.binary("image", "image", data) => {
                    self.member("mimeType", mime);
                    self.raw("}");
                }
                (None, mime, Some(uri)) if uri.starts_with("https://") || uri.starts_with("http://") => {
                    self.part("image");
                    self.member("image", uri);
                    if let Some(mime) = mime {
                        self.member("mimeType", mime);
                    }
                    self.raw("}");
                }
                _ => self.left_out.push("an image"),
            },
            Block::File(file) => match (&file.data, &file.mime_type) {
                (Some(data), Some(mime)) if self.binary("file", "data", data) => {
                    if let Some(name) = &file.name {
                        self.member("filename", name);
                    }
                    self.member("mimeType", mime);
                    self.raw("}");
                }
                _ => self.left_out.push("a file"),
            },
            Block::Audio(_) => self.left_out.push("a sound"),
        }
    }

    /// Opens a part with bytes that are given as base64; false, and nothing is written, when they are not.
    fn binary(&mut self, kind: &str, key: &str, base64: &str) -> bool {
        let Ok(bytes) = STANDARD.decode(base64) else { return false };
        self.part(kind);
        self.raw(",\"");
        self.raw(key);
        self.raw("\":{\"__type\":\"Uint8Array\",\"hex\":\"");
        self.raw(&hex(&bytes));
        self.raw("\"}");
        true
    }
}

fn user(message: &mut Message, node: &MessageNode, meta: &OwnMeta, request: Option<&str>, form: Form) {
    message.open("user");
    let typed = |text: &str| format!("<user_query>\n{text}\n</user_query>");
    // What came from this agent without its wrapping had none.
    let plain = meta.is_injected() || (meta.is_own() && !meta.wrapped);
    // What was noted of a text that has been changed since is not what is to be written.
    let noted = |original: &&Vec<String>| {
        let typed: Vec<&str> =
            original.iter().filter_map(|text| spoken(text).typed).filter(|typed| !typed.is_empty()).collect();
        node.blocks.is_empty() && typed.join("\n") == node.content
    };
    if let Some(original) = meta.original.as_ref().filter(noted) {
        let texts: Vec<&str> = original.iter().map(String::as_str).collect();
        message.content(&texts, form);
    } else if node.blocks.is_empty() {
        if node.content.is_empty() {
            message.raw("[]");
        } else if plain {
            message.content(&[&node.content], form);
        } else {
            message.content(&[&typed(&node.content)], form);
        }
    } else {
        message.raw("[");
        let has_text = node.blocks.iter().any(|block| matches!(block, Block::Text(_)));
        if !has_text && !node.content.is_empty() {
            message.text_part(&typed(&node.content));
        }
        for block in &node.blocks {
            match block {
                Block::Text(text) if text.text.is_empty() => {}
                Block::Text(text) if plain => message.text_part(&text.text),
                Block::Text(text) => message.text_part(&typed(&text.text)),
                other => message.shown(other),
            }
        }
        message.raw("]");
    }
    let summary = meta.kind.as_deref() == Some("summary");
    if request.is_some() || summary {
        message.raw(",\"providerOptions\":{\"cursor\":{");
        if let Some(request) = request {
            message.raw("\"requestId\":");
            message.string(request);
        }
        if summary {
            message.raw(if request.is_some() { ",\"isSummary\":true" } else { "\"isSummary\":true" });
        }
        message.raw("}}");
    }
}

fn assistant(message: &mut Message, node: &MessageNode, meta: &OwnMeta) {
    message.open("assistant");
    message.raw("[");
    match (&node.thinking, &node.thinking_signature) {
        (Some(thinking), Some(signature)) if thinking == "[redacted]" => {
            message.part("redacted-reasoning");
            message.member("data", signature);
            message.raw("}");
        }
        (Some(thinking), signature) if signature.is_some() || (meta.is_own() && thinking != "[redacted]") => {
            message.part("reasoning");
            message.member("text", thinking);
            if let Some(signature) = signature {
                message.member("signature", signature);
            }
            message.raw("}");
        }
        // Providers refuse a history with reasoning that nobody signed.
        (Some(_), _) => message.left_out.push("reasoning that is not signed"),
        (None, _) => {}
    }
    if !node.content.is_empty() {
        message.text_part(&node.content);
    }
    for block in &node.blocks {
        match block {
            Block::Text(_) => {}
            Block::Image(_) => message.left_out.push("an image"),
            Block::Audio(_) => message.left_out.push("a sound"),
            Block::File(_) => message.left_out.push("a file"),
        }
    }
    for call in &node.tool_calls {
        message.part("tool-call");
        message.member("toolCallId", &call.id);
        message.member("toolName", &call.name);
        message.raw(",\"args\":");
        // Arguments are an object; other JSON is kept where the agent wrote it itself.
        let object = Object::parse(&call.arguments).is_some();
        if object || (meta.is_own() && crate::json::is_value(&call.arguments)) {
            message.raw(call.arguments.trim());
        } else {
            message.raw("{}");
        }
        message.raw("}");
    }
    message.raw("],\"id\":\"1\"");
}

fn tool_result(message: &mut Message, node: &MessageNode, meta: &OwnMeta, tool: &str) {
    message.open("tool");
    message.raw("[");
    let id = node.tool_call_id.as_deref().unwrap_or_default();
    message.part("tool-result");
    message.member("toolName", tool);
    message.member("toolCallId", id);
    message.member("result", &node.content);
    let pictures = node.blocks.iter().any(|block| !matches!(block, Block::Text(_)));
    // The agent writes a text a second time, as a part; of a long one that may be left out.
    let twice = !node.content.is_empty() && (meta.is_own() || node.content.len() <= TWICE);
    if pictures || twice {
        message.raw(",\"experimental_content\":[");
        message.parts = false;
        if pictures {
            for block in &node.blocks {
                match block {
                    Block::Text(text) if text.text.is_empty() => {}
                    Block::Text(text) => message.text_part(&text.text),
                    Block::Image(image) => match (&image.data, &image.mime_type) {
                        (Some(data), Some(mime)) => {
                            message.part("image");
                            message.member("data", data);
                            message.member("mimeType", mime);
                            message.raw("}");
                        }
                        _ => message.left_out.push("an image"),
                    },
                    Block::Audio(_) => message.left_out.push("a sound"),
                    Block::File(_) => message.left_out.push("a file"),
                }
            }
        } else {
            message.text_part(&node.content);
        }
        message.raw("]");
    }
    message.raw("}],\"id\":");
    message.string(id);
    let high_level = high_level(node, meta, tool);
    message.raw(",\"providerOptions\":{\"cursor\":{\"highLevelToolCallResult\":");
    message.raw(&high_level);
    message.raw("}}");
    message.high_level = high_level;
    message.fits = !id.is_empty();
}

/// What became of a call, as the agent notes it beside the text of the result.
fn high_level(node: &MessageNode, meta: &OwnMeta, tool: &str) -> String {
    let failed = node.tool_result.is_some_and(|result| result.status == ToolCallStatus::Error);
    let ran = tool == "Shell";
    let named = match (&meta.outcome, failed) {
        (Some(named), _) => named.as_str(),
        (None, false) => "success",
        (None, true) if ran => "failure",
        (None, true) => "error",
    };
    let mut members = Vec::new();
    if let Some(result) = &node.tool_result {
        let exit_code = result.exit_code.filter(|code| ran && (*code != 0 || failed));
        members.extend(exit_code.map(|code| format!("\"exitCode\":{code}")));
        let took = result.duration_ms.and_then(whole);
        if ran {
            members.extend(took.map(|ms| format!("\"executionTime\":{ms}")));
        } else if tool == "Task" {
            members.extend(took.map(|ms| format!("\"durationMs\":{ms}")));
        }
    }
    members.extend(meta.agent_session.as_ref().map(|agent| format!("\"agentId\":{}", string(agent))));
    let errors = meta.raw_error_messages.as_ref().map(|raw| format!(",\"rawErrorMessages\":{}", raw.get()));
    format!(
        "{{\"output\":{{{}:{{{}}}}},\"isError\":{failed}{}}}",
        string(named),
        members.join(","),
        errors.unwrap_or_default()
    )
}

/// A duration as the agent has it: whole milliseconds of 32 bits.
fn whole(ms: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked")]
    (ms.fract() == 0.0 && (0.0..2_147_483_648.0).contains(&ms)).then_some(ms as i64)
}
