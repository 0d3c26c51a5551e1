//! Bubbles of the IDE, as nodes. One bubble is one node: a prompt, a piece of reasoning, an
//! answer, or a tool call, whose result follows as a node of its own.

use crate::blobs::bytes_of;
use crate::json::{self, Object, decoded};
use crate::outcome::{Outcome, locations};
use crate::prompt::spoken;
use crate::step::{Feed, NodeMeta, Step};
use crate::time;
use sepia_ir::{
    Block, DriverError, ImageBlock, MessageNode, Role, SqlValue, TextBlock, TokenUsage, ToolCall, ToolCallStatus,
    Warning,
};
use sepia_sdk::{Database, Query};
use std::collections::VecDeque;
use std::rc::Rc;

/// Longer bubbles are not read.
const LONGEST: u64 = 64 << 20;

/// The nodes of a bubble; none when it is no object.
pub(crate) fn steps(text: &str, id: &str) -> Option<Vec<Step>> {
    let bubble = Object::parse(text)?;
    let meta = NodeMeta {
        bubble: Some(id.to_owned()).filter(|id| !id.is_empty()),
        server_bubble_id: bubble.filled("serverBubbleId"),
        thinking_duration_ms: bubble.number("thinkingDurationMs"),
        ..NodeMeta::default()
    };
    let user = match bubble.get("type") {
        Some("1" | "\"user\"") => true,
        Some(_) => false,
        None => bubble.text("role").is_some_and(|role| role == "user"),
    };
    let mut steps = if user { vec![prompt(&bubble, meta)] } else { answer(&bubble, meta) };
    let at = moment(&bubble);
    for step in &mut steps {
        step.at = step.at.or(at);
    }
    if let Some(first) = steps.first_mut() {
        first.node.request_id = bubble.filled("requestId");
        first.checkpoint = bubble.filled("checkpointId");
    }
    Some(steps)
}

/// When a bubble was made.
fn moment(bubble: &Object<'_>) -> Option<f64> {
    let created = match bubble.text("createdAt") {
        Some(text) => time::of_text(&text),
        None => bubble.number("createdAt").and_then(time::of_number),
    };
    created.or_else(|| {
        let timing = bubble.object("timingInfo")?;
        ["clientRpcSendTime", "clientSettleTime", "clientEndTime"]
            .iter()
            .find_map(|name| timing.number(name).filter(|ms| *ms > 1e11).and_then(time::of_number))
    })
}

/// The text of a bubble: its plain form, else that of its editor's document.
fn text_of(bubble: &Object<'_>) -> String {
    let plain = ["text", "rawText"].iter().find_map(|name| bubble.filled(name));
    plain.or_else(|| bubble.text("richText").and_then(|rich| rich_text(&rich))).unwrap_or_default()
}

/// Texts of an editor's document, its paragraphs on lines of their own.
fn rich_text(document: &str) -> Option<String> {
    fn collect(value: &serde_json::Value, out: &mut String) {
        match value {
            serde_json::Value::Object(members) => {
                if let Some(serde_json::Value::String(text)) = members.get("text") {
                    out.push_str(text);
                }
                for child in ["root", "children", "content"].iter().filter_map(|name| members.get(*name)) {
                    collect(child, out);
                }
                if matches!(members.get("type"), Some(serde_json::Value::String(kind)) if kind == "paragraph") {
                    out.push('\n');
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|value| collect(value, out)),
            _ => {}
        }
    }
    let document: serde_json::Value = serde_json::from_str(document).ok()?;
    let mut text = String::new();
    collect(&document, &mut text);
    let text = text.trim_end_matches('\n');
    (!text.is_empty()).then(|| text.to_owned())
}

fn prompt(bubble: &Object<'_>, mut meta: NodeMeta) -> Step {
    let text = text_of(bubble);
    let told = spoken(&text);
    let typed = told.typed.unwrap_or_default().to_owned();
    if typed.is_empty() && !text.is_empty() {
        meta.kind = Some("context");
    } else if typed != text {
        meta.original = serde_json::value::to_raw_value(&text).ok();
    }
    let mut node = MessageNode::new(0, Role::User, 0.0);
    node.content = if meta.kind.is_some() { text.clone() } else { typed.clone() };
    let images: Vec<Block> = bubble
        .list("images")
        .unwrap_or_default()
        .into_iter()
        .filter_map(|raw| {
            let image = image(raw);
            if image.is_none() {
                meta.opaque_parts.push(json::passed_on(raw));
            }
            image
        })
        .collect();
    let pictures = !images.is_empty();
    if pictures {
        if !node.content.is_empty() {
            node.blocks.push(Block::Text(TextBlock { text: node.content.clone() }));
        }
        node.blocks.extend(images);
    }
    let is_prompt = meta.kind.is_none() && (!typed.is_empty() || pictures);
    node.metadata = meta.json();
    Step { prompt: is_prompt.then_some(typed), at: told.at, ..Step::new(node) }
}

/// A picture by the file that it is in; of other forms nothing certain is known.
fn image(raw: &str) -> Option<Block> {
    let image = Object::parse(raw)?;
    let uri = image.object("uri").and_then(|uri| uri.filled("external").or_else(|| uri.filled("fsPath")));
    let uri = uri.or_else(|| ["url", "path", "uri"].iter().find_map(|name| image.filled(name)))?;
    Some(Block::Image(ImageBlock { data: None, mime_type: image.filled("mimeType"), uri: Some(uri) }))
}

fn answer(bubble: &Object<'_>, meta: NodeMeta) -> Vec<Step> {
    let mut node = MessageNode::new(0, Role::Assistant, 0.0);
    node.content = text_of(bubble);
    node.model = bubble.object("modelInfo").and_then(|info| info.filled("modelName"));
    node.usage = usage(bubble);
    let blocks = bubble.list("allThinkingBlocks").unwrap_or_default();
    let thoughts = bubble.get("thinking").into_iter().chain(blocks);
    for raw in thoughts {
        let (text, signature) = match Object::parse(raw) {
            Some(thought) => (thought.filled("text"), thought.filled("signature")),
            None => (json::text(raw).map(std::borrow::Cow::into_owned).filter(|text| !text.is_empty()), None),
        };
        if node.thinking.is_none() && (text.is_some() || signature.is_some()) {
            // Recent builds keep the signature alone.
            node.thinking = Some(text.unwrap_or_else(|| "[redacted]".to_owned()));
            node.thinking_signature = signature;
        }
    }
    let tool =
        bubble.object("toolFormerData").filter(|tool| tool.get("name").is_some() || tool.get("toolCallId").is_some());
    let mut steps = Vec::new();
    if let Some(tool) = tool {
        let (call, result) = call(&tool, meta.bubble.as_deref());
        node.tool_calls.push(call);
        steps.extend(result);
    }
    node.metadata = meta.json();
    steps.insert(0, Step::new(node));
    steps
}

fn usage(bubble: &Object<'_>) -> Option<TokenUsage> {
    let count = bubble.object("tokenCount")?;
    let tokens = |name| count.number(name).filter(|tokens| *tokens > 0.0);
    let (input, output) = (tokens("inputTokens"), tokens("outputTokens"));
    // Nearly all bubbles say zero, which means that it isn't known.
    (input.is_some() || output.is_some()).then(|| TokenUsage {
        input: input.unwrap_or_default(),
        output: output.unwrap_or_default(),
        ..TokenUsage::default()
    })
}

/// A call, and its result when there is one.
fn call(tool: &Object<'_>, bubble: Option<&str>) -> (ToolCall, Option<Step>) {
    let object = |name: &str| tool.text(name).filter(|text| Object::parse(text).is_some());
    // What the model wrote; without it, what the IDE made of it.
    let arguments = object("rawArgs").or_else(|| object("params"));
    let arguments = arguments.map_or_else(sepia_ir::json_text::null, |text| json::passed_on(&text).get().to_owned());
    let id = tool.filled("toolCallId").unwrap_or_else(|| format!("bubble-{}", bubble.unwrap_or_default()));
    let name = tool
        .filled("name")
        .unwrap_or_else(|| tool.get("tool").map_or_else(String::new, |number| format!("tool-{number}")));
    let mut call = ToolCall::new(id.clone(), name.clone(), arguments);
    call.locations = locations(&call.name, &call.arguments);
    let result = tool.text("result").filter(|text| !text.is_empty());
    let parsed = result.as_deref().and_then(Object::parse).unwrap_or_default();
    let status = tool.filled("status");
    let failed = tool.object("error").is_some() || tool.filled("error").is_some();
    let status = match status.as_deref() {
        Some("completed" | "success" | "done") => Some(ToolCallStatus::Success),
        Some("error" | "cancelled" | "canceled" | "rejected" | "failed" | "aborted" | "timeout") => {
            Some(ToolCallStatus::Error)
        }
        Some(_) => None,
        None if failed => Some(ToolCallStatus::Error),
        None => result.is_some().then_some(ToolCallStatus::Success),
    };
    let Some(status) = status else {
        call.status = Some(ToolCallStatus::Pending);
        return (call, None);
    };
    #[expect(clippy::cast_possible_truncation, reason = "exit codes are small")]
    let exit_code = ["exitCode", "exitCodeV2"].iter().find_map(|name| parsed.number(name)).map(|code| code as i64);
    let mut node = MessageNode::new(0, Role::Tool, 0.0);
    let shown = ["output", "contents"].iter().find_map(|name| parsed.filled(name));
    node.content = shown.unwrap_or_else(|| result.map_or_else(String::new, std::borrow::Cow::into_owned));
    if node.content.is_empty() {
        node.content = tool
            .object("error")
            .and_then(|error| error.filled("message"))
            .or_else(|| tool.filled("error"))
            .unwrap_or_default();
    }
    node.tool_call_id = Some(id);
    node.tool_name = Some(name);
    node.tool_result = Some(Outcome { status, exit_code, duration_ms: None }.result());
    (call, Some(Step::new(node)))
}

/// Bubbles of a composer, in the order of a list.
pub(crate) struct BubbleFeed {
    ids: Vec<String>,
    /// Position of the first of them in the conversation.
    first: usize,
    query: Box<dyn Query>,
    waiting: VecDeque<Vec<SqlValue>>,
    next: usize,
    shown: String,
}

impl BubbleFeed {
    /// The bubbles of these ids.
    pub(crate) fn over(
        database: &Rc<dyn Database>,
        composer: &str,
        ids: Vec<String>,
        first: usize,
    ) -> Result<Self, DriverError> {
        let sql = format!(
            "SELECT octet_length(b.value), CASE WHEN octet_length(b.value) <= {LONGEST} THEN b.value END \
             FROM json_each(?) AS wanted LEFT JOIN cursorDiskKV AS b ON b.key = 'bubbleId:' || ? || ':' || wanted.value"
        );
        let list = serde_json::to_string(&ids).unwrap_or_else(|_| "[]".to_owned());
        let query = database.query(&sql, &[SqlValue::Text(list), SqlValue::Text(composer.to_owned())])?;
        Ok(Self { ids, query, waiting: VecDeque::new(), next: 0, first, shown: format!("composer {composer}") })
    }
}

impl Feed for BubbleFeed {
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError> {
        if self.waiting.is_empty() {
            self.waiting = self.query.next(64)?.into();
        }
        let Some(row) = self.waiting.pop_front() else { return Ok(false) };
        let at = self.next;
        self.next += 1;
        let id = self.ids.get(at).map_or("", String::as_str);
        let warning = |code: &str, what: String| {
            Warning::new(code, format!("bubble {} of {}, {id}, {what}", self.first + at + 1, self.shown))
                .in_file(crate::ide::GLOBAL)
        };
        let mut values = row.into_iter();
        let Some(SqlValue::Integer(bytes)) = values.next() else {
            warnings.push(warning("missing-bubble", "is not in the store and was passed over".to_owned()));
            return Ok(true);
        };
        let length = u64::try_from(bytes).unwrap_or_default();
        if length > LONGEST {
            warnings.push(warning("long-record", format!("has {length} bytes and was not read")).passing_over(length));
            let meta = NodeMeta { bubble: Some(id.to_owned()), too_long: Some(length), ..NodeMeta::default() };
            let mut node = MessageNode::new(0, Role::Assistant, 0.0);
            node.metadata = meta.json();
            out.push(Step::new(node));
            return Ok(true);
        }
        let bytes = values.next().map(bytes_of).unwrap_or_default();
        let (text, repaired) = decoded(&bytes);
        if repaired > 0 {
            warnings.push(warning("repaired-text", format!("has {repaired} broken characters, replaced by U+FFFD")));
        }
        match steps(&text, id) {
            Some(steps) => out.extend(steps),
            None => warnings.push(
                warning("unreadable-record", "is no JSON object and was passed over".to_owned()).passing_over(length),
            ),
        }
        Ok(true)
    }
}

/// Bubbles that stand one after another in a document.
pub(crate) struct ListFeed {
    texts: Rc<Vec<String>>,
    next: usize,
    shown: String,
}

impl ListFeed {
    pub(crate) fn new(texts: Rc<Vec<String>>, shown: String) -> Self {
        Self { texts, next: 0, shown }
    }
}

impl Feed for ListFeed {
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError> {
        let Some(text) = self.texts.get(self.next) else { return Ok(false) };
        self.next += 1;
        let id = Object::parse(text)
            .and_then(|bubble| bubble.filled("bubbleId").or_else(|| bubble.filled("id")))
            .unwrap_or_default();
        if let Some(steps) = steps(text, &id) {
            out.extend(steps);
        } else {
            let message = format!("message {} of {} is no JSON object and was passed over", self.next, self.shown);
            warnings.push(Warning::new("unreadable-record", message).passing_over(text.len() as u64));
        }
        Ok(true)
    }
}
