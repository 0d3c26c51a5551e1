//! Transcripts: JSON lines that the agent writes for people and hooks. They lose results, ids
//! and times, and are read where no better record is left.

use crate::json::{self, Object, decoded, text};
use crate::outcome::locations;
use crate::prompt::{joined, spoken};
use crate::record::TurnEnded;
use crate::step::{Feed, NodeMeta, Step};
use sepia_ir::{DriverError, MessageNode, Role, ToolCall, Warning};
use sepia_sdk::Host;
use std::borrow::Cow;

/// Bytes that are read at once.
const PART: u32 = 1 << 20;
/// Longer lines are not read.
const LONGEST: usize = 64 << 20;
/// How reasoning that is not shown is marked.
const REDACTED: &str = "[REDACTED]";

/// Lines of a file, one after another.
pub(crate) struct Lines {
    host: Host,
    path: String,
    offset: u64,
    /// Bytes read and not yet given, from `at` on.
    part: Vec<u8>,
    at: usize,
    ended: bool,
    line: u64,
}

/// One line.
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    /// From 1.
    pub(crate) number: u64,
    pub(crate) offset: u64,
    /// Its whole length.
    pub(crate) length: u64,
    /// No line feed stands at its end.
    pub(crate) torn: bool,
}

impl Lines {
    pub(crate) fn open(host: &Host, path: &str) -> Self {
        Self { host: host.clone(), path: path.to_owned(), offset: 0, part: Vec::new(), at: 0, ended: false, line: 0 }
    }

    fn fill(&mut self) -> Result<(), DriverError> {
        self.part.drain(..self.at);
        self.at = 0;
        let from = self.offset + self.part.len() as u64;
        let more = self.host.read(crate::places::CURSOR, &self.path, from, PART)?;
        self.ended = more.is_empty();
        self.part.extend(more);
        Ok(())
    }

    /// The next line that is not empty; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, DriverError> {
        loop {
            let Some(line) = self.raw()? else { return Ok(None) };
            if !line.bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(line));
            }
        }
    }

    fn raw(&mut self) -> Result<Option<Line>, DriverError> {
        let (start, mut skipped, mut kept) = (self.offset, 0u64, Vec::new());
        loop {
            let rest = &self.part[self.at..];
            let end = memchr::memchr(b'\n', rest);
            let taken = end.unwrap_or(rest.len());
            if kept.len() + taken > LONGEST {
                skipped += taken as u64;
            } else {
                kept.extend_from_slice(&rest[..taken]);
            }
            self.at += taken + usize::from(end.is_some());
            self.offset += (taken + usize::from(end.is_some())) as u64;
            if end.is_none() && !self.ended {
                self.fill()?;
                continue;
            }
            let length = self.offset - start;
            if end.is_none() && length == 0 {
                return Ok(None);
            }
            self.line += 1;
            if self.line == 1 && kept.starts_with(b"\xef\xbb\xbf") {
                kept.drain(..3);
            }
            if kept.last() == Some(&b'\r') {
                kept.pop();
            }
            if skipped > 0 {
                kept.truncate(0);
            }
            let bytes = if skipped > 0 { b"!".to_vec() } else { kept };
            return Ok(Some(Line { bytes, number: self.line, offset: start, length, torn: end.is_none() }));
        }
    }
}

/// What a line is.
pub(crate) enum Told {
    Message(Box<Step>),
    Ended(TurnEnded),
    /// A title that the agent made.
    Overview(String),
    /// Understood, and nothing to show.
    Nothing,
    Unknown,
}

/// Reads a line.
pub(crate) fn told(line: &str) -> Told {
    let Some(record) = Object::parse(line) else { return Told::Unknown };
    match record.text("type").as_deref() {
        Some("turn_ended") => {
            let status = record.filled("status").unwrap_or_else(|| "unknown".to_owned());
            return Told::Ended(TurnEnded { status, error: record.filled("error") });
        }
        Some("error") => {
            let error = record.filled("error").or_else(|| record.filled("message"));
            return Told::Ended(TurnEnded { status: "error".to_owned(), error });
        }
        Some("metadata") => {
            let overview = record.object("metadata").and_then(|metadata| metadata.filled("overview"));
            return overview.map_or(Told::Nothing, Told::Overview);
        }
        _ => {}
    }
    let inner = record.object("message");
    let content = inner.as_ref().and_then(|message| message.get("content")).or_else(|| record.get("content"));
    let role = record.text("role").or_else(|| inner.as_ref().and_then(|message| message.text("role")));
    match role.as_deref() {
        Some("user") => Told::Message(Box::new(user(content))),
        Some("assistant") => Told::Message(Box::new(assistant(content))),
        _ => Told::Unknown,
    }
}

/// Text parts of a content, and its other parts.
fn parts(content: Option<&str>) -> (Vec<Cow<'_, str>>, Vec<&str>) {
    let Some(content) = content else { return (Vec::new(), Vec::new()) };
    if let Some(text) = text(content) {
        return (vec![text], Vec::new());
    }
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for raw in json::list(content).unwrap_or_else(|| vec![content]) {
        match Object::parse(raw)
            .filter(|part| part.text("type").as_deref() == Some("text"))
            .and_then(|part| part.text("text"))
        {
            Some(text) => texts.push(text),
            None => others.push(raw),
        }
    }
    (texts, others)
}

fn user(content: Option<&str>) -> Step {
    let (texts, others) = parts(content);
    let text = joined(texts);
    let mut meta = NodeMeta { opaque_parts: others.into_iter().map(json::passed_on).collect(), ..NodeMeta::default() };
    prompt(&text, &mut meta)
}

/// A prompt as transcripts have it.
pub(crate) fn prompt(text: &str, meta: &mut NodeMeta) -> Step {
    let told = spoken(text);
    let typed = told.typed.unwrap_or_default();
    let mut node = MessageNode::new(0, Role::User, 0.0);
    if typed.is_empty() && !text.is_empty() {
        meta.kind = Some("context");
        text.clone_into(&mut node.content);
    } else {
        typed.clone_into(&mut node.content);
        meta.wrapped = typed.len() != text.len() && !told.more;
        if told.more {
            meta.original = serde_json::value::to_raw_value(text).ok();
        }
    }
    let prompt = (meta.kind.is_none() && !typed.is_empty()).then(|| typed.to_owned());
    node.metadata = meta.json();
    Step { prompt, at: told.at, ..Step::new(node) }
}

fn assistant(content: Option<&str>) -> Step {
    let (texts, others) = parts(content);
    let text = joined(texts);
    let mut node = MessageNode::new(0, Role::Assistant, 0.0);
    let shown = without_mark(&text);
    if shown.len() != text.len() {
        node.thinking = Some("[redacted]".to_owned());
    }
    shown.clone_into(&mut node.content);
    let mut meta = NodeMeta::default();
    for raw in others {
        let call = Object::parse(raw).filter(|part| part.text("type").as_deref() == Some("tool_use"));
        match call {
            Some(part) => {
                let arguments = json::passed_on(part.get("input").unwrap_or("null")).get().to_owned();
                let mut call = ToolCall::new(
                    part.text("id").unwrap_or_default(),
                    part.text("name").unwrap_or_default(),
                    arguments,
                );
                call.locations = locations(&call.name, &call.arguments);
                node.tool_calls.push(call);
            }
            None => meta.opaque_parts.push(json::passed_on(raw)),
        }
    }
    node.metadata = meta.json();
    Step::new(node)
}

/// Text without the paragraph that stands for reasoning.
fn without_mark(text: &str) -> &str {
    let rest = text.trim_end().strip_suffix(REDACTED);
    match rest {
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => rest.trim_end(),
        _ => text,
    }
}

/// A transcript, line by line.
pub(crate) struct LineFeed {
    lines: Lines,
    path: String,
}

impl LineFeed {
    pub(crate) fn open(host: &Host, path: &str) -> Self {
        Self { lines: Lines::open(host, path), path: path.to_owned() }
    }
}

impl Feed for LineFeed {
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError> {
        let Some(line) = self.lines.next()? else { return Ok(false) };
        let warning = |code: &str, what: &str| {
            let message = format!("line {} of `{}` {what}", line.number, self.path);
            Warning::new(code, message).in_file(&self.path).at(line.number, line.offset)
        };
        let (text, repaired) = decoded(&line.bytes);
        if repaired > 0 {
            warnings.push(warning("repaired-text", "has broken characters, replaced by U+FFFD"));
        }
        match told(&text) {
            Told::Message(step) => out.push(*step),
            Told::Ended(_) | Told::Overview(_) | Told::Nothing => {}
            Told::Unknown if line.torn && !json::is_value(&text) => {
                let what = "has no end: it was cut, or is still being written";
                warnings.push(warning("torn-record", what).passing_over(line.length));
            }
            Told::Unknown => {
                warnings.push(
                    warning("unknown-record", "is of no known kind and was passed over").passing_over(line.length),
                );
            }
        }
        Ok(true)
    }
}
