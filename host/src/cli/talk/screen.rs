//! What is shown of a turn, and where: the answer on stdout, all else on stderr.
//!
//! Everything that an agent says is cleaned of what moves a terminal.

use super::keyboard::Keyboard;
use crate::cli::exit::Failure;
use crate::cli::output;
use crate::plane::{Batch, SessionEvent};
use crate::text::{clean_line, clean_text};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// A piece of text that is shown at once, bytes.
const PIECE: usize = 1 << 20;
/// A title of a call that is shown, bytes.
const TITLE: usize = 300;

/// The terminal, or what stands in for it.
pub(super) struct Screen {
    json: bool,
    colours: bool,
    spinner: Option<ProgressBar>,
    /// stdout is in the middle of a line.
    open_line: bool,
    /// stderr is, with what the model thinks.
    open_thought: bool,
    /// The sign that something may be typed is the last that shows.
    open_prompt: bool,
    titles: HashMap<String, String>,
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self {
            json,
            colours,
            spinner: None,
            open_line: false,
            open_thought: false,
            open_prompt: false,
            titles: HashMap::new(),
        }
    }

    /// Shows that something is waited for.
    pub(super) fn wait(&mut self, what: &'static str) {
        if self.json || self.open_line || self.open_thought || !io::stderr().is_terminal() {
            return;
        }
        let spinner = self.spinner.get_or_insert_with(|| {
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            spinner.set_style(style());
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        });
        spinner.set_message(what);
    }

    /// Shows that something may be typed.
    pub(super) fn prompt(&mut self) {
        if !self.open_prompt && Keyboard::has_person() {
            self.open_prompt = true;
            tell("> ", false);
        }
    }

    /// Something was typed, and with it the line was ended.
    pub(super) fn typed(&mut self) {
        self.open_prompt = false;
    }

    /// Takes away what shows that something is waited for.
    pub(super) fn rest(&mut self) {
        if std::mem::take(&mut self.open_prompt) {
            tell("\r\u{1b}[K", false);
        }
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    /// Something happened.
    pub(super) fn show(&mut self, batch: &Batch) -> Result<(), Failure> {
        if self.json {
            return batch.events.iter().try_for_each(output::json);
        }
        batch.events.iter().try_for_each(|event| self.event(event))
    }

    fn event(&mut self, event: &SessionEvent) -> Result<(), Failure> {
        match event {
            SessionEvent::TextMessageContent { delta, .. } if !delta.is_empty() => {
                self.rest();
                self.end_thought();
                let text = clean_text(delta, PIECE);
                self.open_line = if text.is_empty() { self.open_line } else { !text.ends_with('\n') };
                Self::write(|out| out.write_all(text.as_bytes()))
            }
            SessionEvent::TextMessageEnd { .. } => self.end_line(),
            SessionEvent::ReasoningMessageContent { delta, .. } if !delta.is_empty() && self.colours => {
                self.rest();
                self.end_line()?;
                self.open_thought = true;
                let text = clean_text(delta, PIECE);
                tell(&format!("\u{1b}[2m{text}\u{1b}[0m"), false);
                Ok(())
            }
            SessionEvent::ReasoningMessageEnd { .. } => {
                self.end_thought();
                Ok(())
            }
            SessionEvent::ToolCallStart { tool_call_id, tool_call_name, .. } => {
                self.titles.insert(tool_call_id.clone(), tool_call_name.clone());
                self.end_line()
            }
            SessionEvent::ToolCallArgs { tool_call_id, tool_call_name: Some(name), .. } => {
                self.titles.insert(tool_call_id.clone(), name.clone());
                Ok(())
            }
            SessionEvent::ToolCallEnd { tool_call_id, status, tool_call_name, .. } => {
                let known = self.titles.remove(tool_call_id);
                let title = tool_call_name.clone().or(known).unwrap_or_default();
                let (mark, colour) = match status.as_deref() {
                    Some("completed") => ("✓", "32"),
                    Some(_) => ("✗", "31"),
                    None => ("–", "33"),
                };
                self.line(&format!("{} {}", self.paint(colour, mark), clean_line(&title, TITLE)))
            }
            SessionEvent::Custom { name, value } if name == "acp:plan" => {
                for entry in value["entries"].as_array().into_iter().flatten() {
                    let mark = if entry["status"] == "completed" { "☑" } else { "☐" };
                    self.line(&format!("{mark} {}", clean_line(entry["content"].as_str().unwrap_or_default(), TITLE)))?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A line for the person, beside the answer.
    pub(super) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.rest();
        self.end_line()?;
        self.end_thought();
        tell(text, true);
        Ok(())
    }

    /// Ends what is in the middle of a line.
    pub(super) fn end_line(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.open_line) {
            return Self::write(|out| out.write_all(b"\n"));
        }
        Ok(())
    }

    fn end_thought(&mut self) {
        if std::mem::take(&mut self.open_thought) {
            tell("", true);
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn write(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        let mut out = output::stdout();
        write(&mut out).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
    }
}

/// One line, whatever the width of the terminal.
fn style() -> ProgressStyle {
    let style = ProgressStyle::default_spinner();
    style.clone().template("{spinner} {wide_msg}").unwrap_or(style)
}

fn tell(text: &str, line: bool) {
    let mut stderr = io::stderr().lock();
    // Where the terminal is gone there is nobody to tell.
    let _gone = if line { writeln!(stderr, "{text}") } else { write!(stderr, "{text}") };
    let _gone = stderr.flush();
}
