//! Transcripts: JSON documents (ATIF) that the agent writes beside its database. They tell
//! less than the rows, so one is a session only when no database has rows of its id.

use crate::draft::{Draft, Form, Prompt};
use crate::facts::{Company, Facts, Outline};
use crate::outcome::{Outcome, Updates};
use crate::place::{FOLDER, TRANSCRIPTS, is_id};
use crate::row::BACKEND;
use crate::stats::stats;
use crate::time;
use sepia_ir::{
    DriverError, ErrorCode, FileEntry, HistoryPage, HistoryQuery, MessageNode, Role, Session, SessionRef, TokenUsage,
    ToolCall, ToolCallStatus, Warning, json_text,
};
use sepia_sdk::Host;
use sepia_sdk::json::{List, Number, Object, Raw, Str, Text, members, parse};
use sepia_sdk::metadata::{Members, capped, clean};
use sepia_sdk::one_line;
use std::collections::{HashMap, HashSet};

/// A longer document is not read, bytes.
const LONGEST: u64 = 64 << 20;
/// Bytes read at a time.
const PART: u32 = 4 << 20;

members! {
    Document {
        agent: Agent<'a> = "agent",
        steps: List<Step<'a>> = "steps",
    }
}

members! {
    Agent {
        version: Str<'a> = "version",
        model_name: Str<'a> = "model_name",
    }
}

members! {
    Step {
        timestamp: Str<'a> = "timestamp",
        source: Str<'a> = "source",
        message: Text<'a> = "message",
        model_name: Str<'a> = "model_name",
        reasoning: Str<'a> = "reasoning_content",
        tool_calls: List<Call<'a>> = "tool_calls",
        observation: Observation<'a> = "observation",
        metrics: Metrics<'a> = "metrics",
    }
}

members! {
    Call {
        id: Str<'a> = "tool_call_id",
        name: Str<'a> = "function_name",
        arguments: Raw<'a> = "arguments",
    }
}

members! {
    Observation {
        results: List<Observed<'a>> = "results",
    }
}

members! {
    Observed {
        call: Str<'a> = "source_call_id",
        content: Raw<'a> = "content",
    }
}

members! {
    Metrics {
        /// With what was read from the cache.
        prompt: Number = "prompt_tokens",
        completion: Number = "completion_tokens",
        cached: Number = "cached_tokens",
    }
}

/// The session id of a transcript's path.
pub(crate) fn id_of(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".json")
}

/// All transcripts, by session id.
pub(crate) fn files(host: &Host) -> Result<HashMap<String, FileEntry>, DriverError> {
    let found = match host.walk(FOLDER, TRANSCRIPTS, 0, &[".json".to_owned()]) {
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => return Ok(HashMap::new()),
        found => found?,
    };
    let by_id = found.files.into_iter().filter_map(|file| Some((id_of(&file.path)?.to_owned(), file)));
    Ok(by_id.filter(|(id, _)| is_id(id)).collect())
}

/// Reads a session that has a transcript alone.
pub(crate) fn open(host: &Host, session: &SessionRef) -> Result<(Session, Vec<MessageNode>), DriverError> {
    let unknown = || DriverError::unknown_session(&session.id);
    if session.agent_id.is_some() {
        return Err(unknown());
    }
    let files = files(host)?;
    let (id, file) = files.get_key_value(&session.id).ok_or_else(unknown)?;
    read(host, id, file)
}

/// Reads a transcript.
pub(crate) fn read(host: &Host, id: &str, file: &FileEntry) -> Result<(Session, Vec<MessageNode>), DriverError> {
    let wrong = |what: String| DriverError::new(ErrorCode::Store, format!("transcript `{}` {what}", file.path));
    if file.bytes > LONGEST {
        return Err(wrong(format!("has more than the {} MiB that are read", LONGEST >> 20)));
    }
    let mut bytes = Vec::new();
    loop {
        let part = host.read(FOLDER, &file.path, bytes.len() as u64, PART)?;
        if part.is_empty() || bytes.len() as u64 > LONGEST {
            break;
        }
        bytes.extend(part);
    }
    let (mended, count) = json_text::replace_lone_surrogates(&bytes);
    let text = String::from_utf8_lossy(&mended);
    let mut warnings = Vec::new();
    if count > 0 {
        let message = format!("{count} halves of surrogate pairs without a partner in `{}` became U+FFFD", file.path);
        warnings.push(Warning::new("lone-surrogate", message).in_file(&file.path));
    }
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with('{') {
        return Err(wrong("is no JSON object".to_owned()));
    }
    let document: Document<'_> = parse(text).map_err(|e| wrong(format!("can't be read: {e}")))?;
    Ok(Reader { id, file, drafts: Vec::new() }.session(document, warnings))
}

/// One page of a transcript.
pub(crate) fn page(nodes: &[MessageNode], query: &HistoryQuery) -> HistoryPage {
    let total = nodes.len();
    let end = query.before.map_or(total, |before| usize::try_from(before).unwrap_or(total).min(total));
    let start = end.saturating_sub(query.limit.max(1) as usize);
    let window = &nodes[start..end];
    let declared: HashSet<&str> =
        window.iter().flat_map(|node| &node.tool_calls).map(|call| call.id.as_str()).collect();
    let wanted: HashSet<&str> =
        window.iter().filter_map(|node| node.tool_call_id.as_deref()).filter(|id| !declared.contains(id)).collect();
    let tool_call_nodes = nodes
        .iter()
        .filter(|node| node.tool_calls.iter().any(|call| wanted.contains(call.id.as_str())))
        .cloned()
        .collect();
    HistoryPage { nodes: window.to_vec(), tool_call_nodes, total: total as u64, start: start as u64, index: None }
}

struct Reader<'a> {
    id: &'a str,
    file: &'a FileEntry,
    drafts: Vec<Draft>,
}

impl Reader<'_> {
    fn session(mut self, mut document: Document<'_>, mut warnings: Vec<Warning>) -> (Session, Vec<MessageNode>) {
        let model = document.agent.model_name.take_owned().unwrap_or_default();
        let mut odd = 0;
        for step in std::mem::take(&mut document.steps.items) {
            odd += u64::from(!self.step(step, &model));
        }
        if odd > 0 || document.steps.odd {
            let message = format!("steps of `{}` are of a form that is not known; they are left out", self.file.path);
            warnings.push(Warning::new("unknown-step", message).in_file(&self.file.path));
        }
        let outlines: Vec<Outline> = self.drafts.iter().map(Outline::of).collect();
        let facts = Facts::of(&outlines, None);
        let mut session = Session::new(self.id, BACKEND);
        session.main_chain_id = facts.tip;
        // The document is written whole after each step, so none is newer than the file.
        let written = time::plausible(time::of_file(self.file.modified_ns)).unwrap_or_default();
        let times = self.drafts.iter().map(|draft| draft.node.created_at).filter(|time| *time > 0.0);
        let times: Vec<f64> = times.map(|time| time.min(written)).collect();
        session.last_activity_at = times.iter().copied().reduce(f64::max).unwrap_or(written);
        session.created_at = times.iter().copied().reduce(f64::min).unwrap_or(written);
        let prompts = self.drafts.iter().filter(|draft| draft.node.role == Role::User).map(|draft| &draft.node.content);
        session.title = prompts.map(|text| one_line(text)).find(|title| !title.is_empty()).unwrap_or_default();
        let title_source = if session.title.is_empty() { "id" } else { "first-prompt" };
        if session.title.is_empty() {
            session.title = one_line(self.id);
        }
        session.model = model;
        let mut metadata = Members::default();
        metadata.text("titleSource", title_source);
        if times.is_empty() {
            metadata.text("timeSource", "file");
        }
        metadata.text("source", "transcript");
        metadata.maybe("version", document.agent.version.get());
        metadata.value("stats", &stats(&outlines, &facts, &HashSet::new()));
        metadata.warnings(&capped(warnings));
        session.metadata = metadata.finish();
        let company = Company { session: self.id, heads: &[], updates: &Updates::default() };
        let nodes = self.drafts.into_iter().filter_map(|draft| facts.finish(draft, &company)).collect();
        (session, nodes)
    }

    fn push(&mut self, mut node: MessageNode, outcome: Outcome) {
        let last = self.drafts.last().map(|draft| draft.node.node_id);
        node.node_id = last.unwrap_or_default() + 1;
        node.parent_node_id = last;
        let prompt = if node.role == Role::User { Prompt::Unsaid } else { Prompt::No };
        self.drafts.push(Draft {
            node,
            metadata: Members::default(),
            warnings: Vec::new(),
            message_id: None,
            form: Form::Other,
            prompt,
            sums_up: false,
            outcome,
            agent: None,
            carried: None,
        });
    }

    /// Takes a step; whether it was one.
    fn step(&mut self, mut step: Step<'_>, model: &str) -> bool {
        let role = match step.source.get() {
            Some("system") => Role::System,
            Some("user") => Role::User,
            Some("agent") => Role::Assistant,
            _ => return false,
        };
        let at = step.timestamp.get().and_then(time::of_text).unwrap_or_default();
        let mut node = MessageNode::new(0, role, at);
        node.content = match std::mem::take(&mut step.message) {
            Text::Is(text) => text.into_owned(),
            Text::Missing => String::new(),
            Text::Other => return false,
        };
        if role == Role::Assistant {
            node.thinking = step.reasoning.take_owned().filter(|text| !text.is_empty());
            node.model =
                step.model_name.take_owned().or_else(|| Some(model.to_owned())).filter(|name| !name.is_empty());
            node.usage = usage(&step.metrics);
            for mut call in std::mem::take(&mut step.tool_calls.items) {
                let (Some(id), Some(name)) = (call.id.take_owned(), call.name.take_owned()) else { continue };
                if id.is_empty() || name.is_empty() || node.tool_calls.iter().any(|known| known.id == id) {
                    continue;
                }
                let arguments = call.arguments.map_or_else(json_text::null, |raw| clean(raw.get()).into_owned());
                let index = i64::try_from(node.tool_calls.len()).unwrap_or(i64::MAX);
                node.tool_calls.push(ToolCall { index, ..ToolCall::new(id, name, arguments) });
            }
        }
        let calls: Vec<String> = node.tool_calls.iter().map(|call| call.id.clone()).collect();
        self.push(node, Outcome::default());
        let mut fits = true;
        for (place, mut result) in std::mem::take(&mut step.observation.results.items).into_iter().enumerate() {
            let named = result.call.take_owned().filter(|id| !id.is_empty());
            // Without a name results come in the order of their calls.
            let Some(call) = named.or_else(|| calls.get(place).cloned()) else {
                fits = false;
                continue;
            };
            let mut node = MessageNode::new(0, Role::Tool, at);
            node.content = result.content.map(content).unwrap_or_default();
            node.tool_call_id = Some(call);
            self.push(node, Outcome { status: Some(ToolCallStatus::Success), ..Outcome::default() });
        }
        fits
    }
}

fn usage(metrics: &Metrics<'_>) -> Option<TokenUsage> {
    let count = |number: Number| number.0.filter(|count| *count >= 0.0);
    let (prompt, completion) = (count(metrics.prompt), count(metrics.completion));
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let cached = count(metrics.cached);
    Some(TokenUsage {
        input: (prompt.unwrap_or_default() - cached.unwrap_or_default()).max(0.0),
        output: completion.unwrap_or_default(),
        cache_read: cached,
        ..TokenUsage::default()
    })
}

/// Content of a result: text, text blocks, or JSON.
fn content(raw: &serde_json::value::RawValue) -> String {
    if let Some(text) = sepia_sdk::json::part::<Str<'_>>(Some(raw)).take_owned() {
        return text;
    }
    let blocks: List<Object<'_>> = sepia_sdk::json::part(Some(raw));
    let texts: Option<Vec<String>> =
        blocks.items.iter().map(|block| sepia_sdk::json::part::<Str<'_>>(block.get("text")).take_owned()).collect();
    match texts {
        Some(texts) if !texts.is_empty() => texts.join("\n"),
        _ if raw.get() == "null" => String::new(),
        _ => clean(raw.get()).into_owned(),
    }
}
