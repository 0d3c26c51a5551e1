//! The older flat transcripts: text with a line `user:` or `assistant:` over each message, and
//! one JSON document.

use crate::json::{self, Object, decoded};
use crate::lines::{self, Told, prompt};
use crate::places::CURSOR;
use crate::step::{Feed, NodeMeta, Step};
use sepia_ir::{DriverError, MessageNode, Role, ToolCall, ToolCallStatus, ToolResult, Warning};
use sepia_sdk::Host;
use serde_json::{Map, Value};

/// More of a file is not read.
const LONGEST: u64 = 64 << 20;

/// A whole file, cut where it gets too long.
fn whole(host: &Host, path: &str) -> Result<(String, Option<Warning>), DriverError> {
    let mut bytes = Vec::new();
    loop {
        let more = host.read(CURSOR, path, bytes.len() as u64, 4 << 20)?;
        if more.is_empty() {
            break;
        }
        bytes.extend(more);
        if bytes.len() as u64 >= LONGEST {
            let message = format!("`{path}` is longer than {LONGEST} bytes; what comes later was not read");
            let warning = Warning::new("long-record", message).in_file(path);
            return Ok((decoded(&bytes).0.into_owned(), Some(warning)));
        }
    }
    let text = decoded(&bytes).0.into_owned();
    Ok((text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text), None))
}

/// Messages that are at hand already.
struct Ready {
    steps: std::vec::IntoIter<Step>,
    warnings: Vec<Warning>,
}

impl Feed for Ready {
    fn next(&mut self, out: &mut Vec<Step>, warnings: &mut Vec<Warning>) -> Result<bool, DriverError> {
        warnings.append(&mut self.warnings);
        let step = self.steps.next();
        let more = step.is_some();
        out.extend(step);
        Ok(more)
    }
}

/// A text transcript.
pub(crate) fn text_feed(host: &Host, path: &str) -> Result<Box<dyn Feed>, DriverError> {
    let (text, warning) = whole(host, path)?;
    let steps: Vec<Step> = messages(&text)
        .into_iter()
        .flat_map(|(role, body)| match role {
            Role::User => vec![prompt(body.trim(), &mut NodeMeta::default())],
            _ => answer(&body),
        })
        .collect();
    Ok(Box::new(Ready { steps: steps.into_iter(), warnings: warning.into_iter().collect() }))
}

/// Role and text of each message.
fn messages(text: &str) -> Vec<(Role, String)> {
    let mut messages: Vec<(Role, String)> = Vec::new();
    let mut after_blank = true;
    let mut in_query = false;
    for line in text.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let role = match line.trim_end() {
            "user:" => Some(Role::User),
            "assistant:" => Some(Role::Assistant),
            _ => None,
        };
        match (role, messages.last_mut()) {
            // Such a line inside what was typed is part of it.
            (Some(role), _) if after_blank && !in_query => messages.push((role, String::new())),
            (_, Some((_, body))) => {
                body.push_str(line);
                body.push('\n');
            }
            (_, None) => {}
        }
        if line.contains("<user_query>") {
            in_query = true;
        }
        if line.contains("</user_query>") {
            in_query = false;
        }
        after_blank = line.trim().is_empty();
    }
    messages
}

/// An answer: `[Thinking]`, `[Tool call] NAME` with arguments below it, `[Tool result] NAME`, and
/// text between them.
fn answer(body: &str) -> Vec<Step> {
    let mut node = MessageNode::new(0, Role::Assistant, 0.0);
    let (mut text, mut results) = (String::new(), Vec::new());
    let mut calls: Vec<(String, Map<String, Value>)> = Vec::new();
    let mut state = State::Text;
    for line in body.lines() {
        if let Some(thought) = line.strip_prefix("[Thinking]") {
            let thought = thought.trim();
            let thought = if thought.is_empty() { "[redacted]" } else { thought };
            node.thinking = Some(node.thinking.map_or_else(|| thought.to_owned(), |before| before + "\n" + thought));
            state = State::Text;
        } else if let Some(name) = line.strip_prefix("[Tool call]") {
            calls.push((name.trim().to_owned(), Map::new()));
            state = State::Call(None);
        } else if let Some(name) = line.strip_prefix("[Tool result]") {
            results.push((name.trim().to_owned(), String::new()));
            state = State::Result;
        } else {
            match &mut state {
                State::Text => {
                    text.push_str(line);
                    text.push('\n');
                }
                State::Result => {
                    if let Some((_, content)) = results.last_mut() {
                        content.push_str(line);
                        content.push('\n');
                    }
                }
                State::Call(last) => {
                    let Some((_, arguments)) = calls.last_mut() else { continue };
                    let argument = line.strip_prefix("  ").and_then(|line| line.split_once(':')).filter(|(name, _)| {
                        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                    });
                    match (argument, last.as_ref().and_then(|last| arguments.get_mut(last))) {
                        (Some((name, value)), _) => {
                            arguments.insert(name.to_owned(), Value::String(value.trim().to_owned()));
                            *last = Some(name.to_owned());
                        }
                        (None, Some(Value::String(value))) if line.starts_with(' ') => {
                            value.push('\n');
                            value.push_str(line.trim_start());
                        }
                        _ if line.trim().is_empty() => {}
                        _ => {
                            text.push_str(line);
                            text.push('\n');
                            state = State::Text;
                        }
                    }
                }
            }
        }
    }
    text.trim().clone_into(&mut node.content);
    for (name, arguments) in calls {
        let arguments = Value::Object(arguments).to_string();
        let mut call = ToolCall::new(String::new(), name, arguments);
        call.locations = crate::outcome::locations(&call.name, &call.arguments);
        node.tool_calls.push(call);
    }
    let mut steps = vec![Step::new(node)];
    // A result that is only named tells nothing.
    for (name, content) in results.into_iter().filter(|(_, content)| !content.trim().is_empty()) {
        let mut node = MessageNode::new(0, Role::Tool, 0.0);
        content.trim().clone_into(&mut node.content);
        node.tool_name = Some(name);
        node.tool_result = Some(ToolResult { status: ToolCallStatus::Success, exit_code: None, duration_ms: None });
        steps.push(Step::new(node));
    }
    steps
}

/// Where in an answer a line stands.
enum State {
    Text,
    /// Below a call, after this argument.
    Call(Option<String>),
    Result,
}

/// A transcript that is one JSON document, `{mode, messages}`.
pub(crate) fn json_feed(host: &Host, path: &str) -> Result<Box<dyn Feed>, DriverError> {
    let (text, warning) = whole(host, path)?;
    let mut warnings: Vec<Warning> = warning.into_iter().collect();
    let list = Object::parse(&text).and_then(|document| document.list("messages")).or_else(|| json::list(&text));
    let mut steps = Vec::new();
    match list {
        None => warnings.push(
            Warning::new(
                "unreadable-record",
                format!("`{path}` is no JSON document with messages and was passed over"),
            )
            .in_file(path)
            .passing_over(text.len() as u64),
        ),
        Some(list) => {
            for (at, raw) in list.into_iter().enumerate() {
                match lines::told(raw) {
                    Told::Message(step) => steps.push(*step),
                    Told::Ended(_) | Told::Overview(_) | Told::Nothing => {}
                    Told::Unknown => {
                        let message = format!("message {} of `{path}` is of no known kind and was passed over", at + 1);
                        warnings
                            .push(Warning::new("unknown-record", message).in_file(path).passing_over(raw.len() as u64));
                    }
                }
            }
        }
    }
    Ok(Box::new(Ready { steps: steps.into_iter(), warnings }))
}
