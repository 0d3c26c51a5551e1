//! A session as text for people. Whatever came from a store is cleaned of control sequences
//! before it is written.

use super::exit::Failure;
use super::time;
use crate::plane::HistoryMessage;
use crate::text::{clean_line, clean_text};
use sepia_ir::{Block, Role, Session, ToolCallStatus};
use std::fmt::Display;
use std::io::{self, Write};

/// How to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) colours: bool,
    /// Whole arguments, results and reasoning.
    pub(super) full: bool,
}

/// Lines of a tool result that are shown unless all are asked for.
const RESULT_LINES: usize = 12;
/// Characters of a line of arguments, likewise.
const ARGUMENT_CHARS: usize = 160;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";

impl Style {
    fn paint(self, code: &str, text: impl Display) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

/// What session it is.
pub(super) fn header(out: &mut impl Write, session: &Session, total: u64, style: Style) -> Result<(), Failure> {
    write_header(out, session, total, style).map_err(|e| Failure::output(&e))
}

fn write_header(out: &mut impl Write, session: &Session, total: u64, style: Style) -> io::Result<()> {
    writeln!(out, "{}", style.paint(BOLD, clean_line(&session.title, 400)))?;
    let facts = [
        session.backend_type.clone(),
        session.working_directory.clone(),
        session.model.clone(),
        format!(
            "{} to {}",
            time::local(session.created_at, "%Y-%m-%d %H:%M"),
            time::local(session.last_activity_at, "%Y-%m-%d %H:%M")
        ),
        format!("{total} messages"),
        session.id.clone(),
    ];
    let facts: Vec<String> = facts.iter().filter(|fact| !fact.is_empty()).map(|fact| clean_line(fact, 4096)).collect();
    writeln!(out, "{}", style.paint(DIM, facts.join(" · ")))?;
    for warning in warnings(session) {
        writeln!(out, "{}", style.paint(RED, format!("! {}", clean_line(&warning, 400))))?;
    }
    writeln!(out)
}

/// What was passed over in the session.
fn warnings(session: &Session) -> Vec<String> {
    #[derive(Default, serde::Deserialize)]
    struct Shown {
        #[serde(default)]
        warnings: Vec<sepia_ir::Warning>,
    }
    let shown: Shown = serde_json::from_str(&session.metadata).unwrap_or_default();
    shown.warnings.into_iter().map(|warning| warning.message).collect()
}

/// Messages, in order.
pub(super) fn messages(out: &mut impl Write, messages: &[HistoryMessage], style: Style) -> Result<(), Failure> {
    messages.iter().try_for_each(|message| write_message(out, message, style)).map_err(|e| Failure::output(&e))
}

fn write_message(out: &mut impl Write, message: &HistoryMessage, style: Style) -> io::Result<()> {
    let clock = style.paint(DIM, time::local(message.created_at / 1000.0, "%H:%M:%S"));
    match message.role {
        Role::Tool => return write_result(out, message, style),
        Role::User => writeln!(out, "{} {clock}", style.paint(CYAN, "▌ user"))?,
        Role::Assistant => {
            let model = message.model.as_deref().map(|model| format!(" {}", clean_line(model, 80))).unwrap_or_default();
            writeln!(out, "{}{} {clock}", style.paint(GREEN, "▌ assistant"), style.paint(DIM, model))?;
        }
        Role::System => writeln!(out, "{} {clock}", style.paint(DIM, "▌ system"))?,
    }
    if let Some(thinking) = &message.thinking {
        let shown = if style.full { clean_text(thinking, usize::MAX) } else { clean_line(thinking, ARGUMENT_CHARS) };
        indented(out, &style.paint(DIM, format!("(thinks) {shown}")))?;
    }
    if !message.content.is_empty() {
        indented(out, &clean_text(&message.content, usize::MAX))?;
    }
    for block in &message.blocks {
        if let Some(line) = attachment(block) {
            indented(out, &style.paint(DIM, line))?;
        }
    }
    for call in &message.tool_calls {
        let arguments = if style.full {
            clean_text(&call.arguments, usize::MAX)
        } else {
            clean_line(&call.arguments, ARGUMENT_CHARS)
        };
        let name = style.paint(BOLD, clean_line(&call.name, 120));
        indented(out, &format!("→ {name} {}", style.paint(DIM, arguments)))?;
        if call.status.is_none() {
            indented(out, &style.paint(DIM, "  (no result)"))?;
        }
    }
    writeln!(out)
}

fn write_result(out: &mut impl Write, message: &HistoryMessage, style: Style) -> io::Result<()> {
    let name = clean_line(message.tool_name.as_deref().unwrap_or("tool"), 120);
    let outcome = match (message.tool_status, message.exit_code) {
        (Some(ToolCallStatus::Error), Some(code)) => style.paint(RED, format!("✗ exit {code}")),
        (Some(ToolCallStatus::Error), None) => style.paint(RED, "✗"),
        _ => style.paint(GREEN, "✓"),
    };
    indented(out, &format!("← {} {outcome}", style.paint(BOLD, name)))?;
    let text = clean_text(&message.content, usize::MAX);
    let lines: Vec<&str> = text.lines().collect();
    let shown = if style.full { lines.len() } else { lines.len().min(RESULT_LINES) };
    for line in &lines[..shown] {
        indented(out, &style.paint(DIM, format!("  {line}")))?;
    }
    if shown < lines.len() {
        indented(out, &style.paint(DIM, format!("  … {} more lines; --full shows them", lines.len() - shown)))?;
    }
    for block in &message.blocks {
        if let Some(line) = attachment(block) {
            indented(out, &style.paint(DIM, format!("  {line}")))?;
        }
    }
    writeln!(out)
}

/// What stands for a block that is no text.
fn attachment(block: &Block) -> Option<String> {
    let described = |what: &str, kind: Option<&String>, name: Option<&String>, data: Option<&String>| {
        let size = data.map(|data| format!(", {} KB", (data.len() * 3 / 4).div_ceil(1000))).unwrap_or_default();
        let kind = kind.map(|kind| format!(" {}", clean_line(kind, 80))).unwrap_or_default();
        let name = name.map(|name| format!(" {}", clean_line(name, 200))).unwrap_or_default();
        format!("[{what}{kind}{name}{size}]")
    };
    match block {
        Block::Text(_) => None,
        Block::Image(image) => {
            Some(described("image", image.mime_type.as_ref(), image.uri.as_ref(), image.data.as_ref()))
        }
        Block::Audio(audio) => Some(described("audio", audio.mime_type.as_ref(), None, audio.data.as_ref())),
        Block::File(file) => Some(described(
            "file",
            file.mime_type.as_ref(),
            file.name.as_ref().or(file.uri.as_ref()),
            file.data.as_ref(),
        )),
    }
}

fn indented(out: &mut impl Write, text: &str) -> io::Result<()> {
    text.lines().try_for_each(|line| writeln!(out, "  {line}"))
}
