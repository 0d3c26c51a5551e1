//! Steps in Rust: a function for each kind. A request for permission has a type of its own that
//! its answers are added to.

mod ask;
mod outcome;

pub use ask::{PermissionStep, permission};
pub use outcome::{
    close_stdin, close_stdout, error, error_with, exit, ignore_signals, kill_self, late, no_answer, repeat, respond,
    respond_and_exit, spawn_stubborn, spawn_stubborn_apart,
};

use crate::script::{
    Awaited, Bytes, Echo, Flood, FloodOf, Notice, Notify, On, Question, Raw, RawRepeat, Remember, Repeated, Replay,
    Request, Sleep, Stderr, Step, Text, Thought, Tool, ToolCall, ToolEnd, Touch, Update, WaitFor, WaitForFile,
};
use serde_json::Value;
use std::path::PathBuf;

/// A `session/update` as given.
pub fn update(update: Value) -> Step {
    Update { update }.into()
}

/// One chunk of text.
pub fn text(text: impl Into<String>) -> Step {
    Text { text: text.into(), chunks: None, message_id: None }.into()
}

/// A text in so many chunks.
pub fn text_in_chunks(text: impl Into<String>, chunks: usize) -> Step {
    Text { text: text.into(), chunks: Some(chunks), message_id: None }.into()
}

/// One chunk of a message with an id.
pub fn message(id: impl Into<String>, text: impl Into<String>) -> Step {
    Text { text: text.into(), chunks: None, message_id: Some(id.into()) }.into()
}

/// One chunk of a thought.
pub fn thought(text: impl Into<String>) -> Step {
    Thought { thought: text.into(), chunks: None, message_id: None }.into()
}

/// So many chunks of so many bytes, as fast as they are taken.
pub fn flood(count: u64, bytes: usize) -> Step {
    Flood { flood: FloodOf::new(count, bytes) }.into()
}

/// So many chunks of so many bytes, so many in a second.
pub fn flood_at(per_second: u32, count: u64, bytes: usize) -> Step {
    Flood { flood: FloodOf { per_second: Some(per_second), ..FloodOf::new(count, bytes) } }.into()
}

/// A flood with everything that can be said of one.
pub fn flood_of(flood: FloodOf) -> Step {
    Flood { flood }.into()
}

/// A tool call with everything that can be said of one.
pub fn tool_of(tool: ToolCall) -> Step {
    Tool { tool }.into()
}

/// A tool call that is completed.
pub fn tool(id: impl Into<String>, title: impl Into<String>, output: impl Into<String>) -> Step {
    tool_call(id, title, Some(output.into()), ToolEnd::Completed)
}

/// A tool call that fails.
pub fn failed_tool(id: impl Into<String>, title: impl Into<String>, output: impl Into<String>) -> Step {
    tool_call(id, title, Some(output.into()), ToolEnd::Failed)
}

/// A tool call that no update closes.
pub fn open_tool(id: impl Into<String>, title: impl Into<String>) -> Step {
    tool_call(id, title, None, ToolEnd::Open)
}

fn tool_call(id: impl Into<String>, title: impl Into<String>, output: Option<String>, end: ToolEnd) -> Step {
    let (id, title) = (id.into(), title.into());
    let tool = ToolCall { id, title, kind: None, raw_input: None, locations: None, output, raw_output: None, end };
    Tool { tool }.into()
}

/// A text chunk that repeats the prompt.
pub fn echo() -> Step {
    Echo { echo: On }.into()
}

/// A text chunk with all prompts so far, a line each.
pub fn remember() -> Step {
    Remember { remember: On }.into()
}

/// The history of the session.
pub fn replay() -> Step {
    Replay { replay: On }.into()
}

/// A request that is waited for.
pub fn request(method: impl Into<String>, params: Value) -> Step {
    Request { request: Question { method: method.into(), params, wait: true } }.into()
}

/// A request that is not waited for.
pub fn request_without_waiting(method: impl Into<String>, params: Value) -> Step {
    Request { request: Question { method: method.into(), params, wait: false } }.into()
}

/// A notification.
pub fn notify(method: impl Into<String>, params: Value) -> Step {
    Notify { notify: Notice { method: method.into(), params } }.into()
}

/// Text on stdout, as it is.
pub fn raw(text: impl Into<String>) -> Step {
    Raw { raw: Bytes::Text(text.into()), fill: false }.into()
}

/// Text on stdout, with `${id}` and `${sessionId}` replaced.
pub fn raw_filled(text: impl Into<String>) -> Step {
    Raw { raw: Bytes::Text(text.into()), fill: true }.into()
}

/// Bytes on stdout, as they are.
pub fn raw_bytes(bytes: impl Into<Vec<u8>>) -> Step {
    Raw { raw: Bytes::List(bytes.into()), fill: false }.into()
}

/// Text on stdout so many times.
pub fn raw_repeat(text: impl Into<String>, times: u64) -> Step {
    RawRepeat { raw_repeat: Repeated { text: text.into(), times } }.into()
}

/// Text on stderr.
pub fn stderr(text: impl Into<String>) -> Step {
    Stderr { stderr: text.into(), times: None }.into()
}

/// Text on stderr so many times.
pub fn stderr_repeat(text: impl Into<String>, times: u64) -> Step {
    Stderr { stderr: text.into(), times: Some(times) }.into()
}

/// A pause, milliseconds.
pub fn sleep_ms(length: u64) -> Step {
    Sleep { sleep_ms: length }.into()
}

/// Waits for a `session/cancel`; what follows is done after it.
pub fn wait_for_cancel() -> Step {
    WaitFor { wait_for: Awaited::Cancel }.into()
}

/// Waits until a file is there.
pub fn wait_for_file(file: impl Into<PathBuf>) -> Step {
    WaitForFile { wait_for_file: file.into() }.into()
}

/// Makes an empty file.
pub fn touch(file: impl Into<PathBuf>) -> Step {
    Touch { touch: file.into() }.into()
}
