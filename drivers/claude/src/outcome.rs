//! What became of a tool call: status, exit code, duration, places and changes.

use crate::entry::ToolUseResult;
use crate::json::{Number, Raw, Str, members, text_of};
use sepia_ir::{Diff, Location, ToolCall, ToolCallStatus, ToolResult};

members! {
    /// What file tools are called with.
    Arguments {
        file_path: Str<'a> = "file_path",
        notebook_path: Str<'a> = "notebook_path",
        path: Str<'a> = "path",
        offset: Number = "offset",
        old_string: Raw<'a> = "old_string",
        new_string: Raw<'a> = "new_string",
        content: Raw<'a> = "content",
        new_source: Raw<'a> = "new_source",
        edits: Raw<'a> = "edits",
    }
}

members! {
    /// One of the edits of a call that makes several.
    Edit {
        old_string: Str<'a> = "old_string",
        new_string: Str<'a> = "new_string",
    }
}

/// The outcome of one call.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ToolCallStatus,
    pub(crate) exit_code: Option<i64>,
    pub(crate) duration_ms: Option<f64>,
    /// What the agent noted of the change that it made.
    pub(crate) diffs: Vec<Diff>,
}

impl Outcome {
    /// Of a result with this text.
    pub(crate) fn of(tool: Option<&str>, text: &str, is_error: bool, noted: Option<&ToolUseResult<'_>>) -> Self {
        let status = if is_error { ToolCallStatus::Error } else { ToolCallStatus::Success };
        let exit_code = if is_error { exit_code(text) } else { None };
        let duration_ms = noted.and_then(|noted| noted.total_duration_ms.0.or(noted.duration_ms.0));
        let diffs = match (tool, noted) {
            (Some(tool), Some(noted)) if !is_error => diffs_noted(tool, noted),
            _ => Vec::new(),
        };
        Self { status, exit_code, duration_ms, diffs }
    }

    pub(crate) fn result(&self) -> ToolResult {
        ToolResult { status: self.status, exit_code: self.exit_code, duration_ms: self.duration_ms }
    }

    /// Writes the outcome onto its call.
    pub(crate) fn fold(self, call: &mut ToolCall) {
        call.status = Some(self.status);
        call.exit_code = self.exit_code.or(call.exit_code);
        call.duration_ms = self.duration_ms.or(call.duration_ms);
        if self.status == ToolCallStatus::Success {
            call.diffs = if self.diffs.is_empty() { diffs_asked(&call.name, &call.arguments) } else { self.diffs };
        }
    }
}

/// The number in `Exit code 3`, with which the text of a failed command begins.
fn exit_code(text: &str) -> Option<i64> {
    let rest = text.trim_start().strip_prefix("Error: ").unwrap_or(text).strip_prefix("Exit code ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '-').map_or(rest, |end| &rest[..end]);
    digits.parse().ok()
}

/// The files that a call names.
pub(crate) fn locations(tool: &str, arguments: &str) -> Vec<Location> {
    if !matches!(
        tool,
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "NotebookRead" | "Grep" | "Glob" | "LS"
    ) {
        return Vec::new();
    }
    let Ok(arguments) = serde_json::from_str::<Arguments<'_>>(arguments) else { return Vec::new() };
    let path = [&arguments.file_path, &arguments.notebook_path, &arguments.path].into_iter().find_map(Str::filled);
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest whole number")]
    let line = arguments.offset.0.filter(|line| *line >= 1.0).map(|line| line as i64);
    path.map(|path| Location { path: path.to_owned(), line }).into_iter().collect()
}

fn owned(raw: Raw<'_>) -> Option<String> {
    text_of(raw).map(std::borrow::Cow::into_owned)
}

/// The changes that the agent noted.
fn diffs_noted(tool: &str, noted: &ToolUseResult<'_>) -> Vec<Diff> {
    let file = || owned(noted.file_path);
    match tool {
        "Edit" => match (file(), owned(noted.new_string)) {
            (Some(path), Some(new)) => vec![edit(path, owned(noted.old_string), new)],
            _ => Vec::new(),
        },
        "Write" => match (file(), owned(noted.content)) {
            (Some(path), Some(new)) => {
                vec![Diff { path, old_text: owned(noted.original_file), new_text: Some(new) }]
            }
            _ => Vec::new(),
        },
        "MultiEdit" => file().map_or_else(Vec::new, |path| edits(&path, noted.edits)),
        "NotebookEdit" => match (owned(noted.notebook_path), owned(noted.notebook_after)) {
            (Some(path), Some(new)) => {
                vec![Diff { path, old_text: owned(noted.notebook_before), new_text: Some(new) }]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The changes that were asked for, when nothing was noted of what was done.
fn diffs_asked(tool: &str, arguments: &str) -> Vec<Diff> {
    if !matches!(tool, "Edit" | "Write" | "MultiEdit" | "NotebookEdit") {
        return Vec::new();
    }
    let Ok(asked) = serde_json::from_str::<Arguments<'_>>(arguments) else { return Vec::new() };
    let Some(path) = asked.file_path.filled().or(asked.notebook_path.filled()) else { return Vec::new() };
    match tool {
        "Edit" => match owned(asked.new_string) {
            Some(new) => vec![edit(path.to_owned(), owned(asked.old_string), new)],
            None => Vec::new(),
        },
        "MultiEdit" => edits(path, asked.edits),
        _ => match owned(asked.content).or_else(|| owned(asked.new_source)) {
            Some(new) => vec![Diff { path: path.to_owned(), old_text: None, new_text: Some(new) }],
            None => Vec::new(),
        },
    }
}

fn edits(path: &str, edits: Raw<'_>) -> Vec<Diff> {
    let list = edits.and_then(|raw| serde_json::from_str::<Vec<Edit<'_>>>(raw.get()).ok()).unwrap_or_default();
    let change = |one: Edit<'_>| {
        let new = one.new_string.get()?.to_owned();
        Some(edit(path.to_owned(), one.old_string.get().map(str::to_owned), new))
    };
    list.into_iter().filter_map(change).collect()
}

/// A replacement of nothing is how the tool makes a file.
fn edit(path: String, old: Option<String>, new: String) -> Diff {
    Diff { path, old_text: old.filter(|old| !old.is_empty()), new_text: Some(new) }
}

#[cfg(test)]
mod tests {
    use super::exit_code;

    #[test]
    fn the_exit_code_is_the_number_at_the_start() {
        assert_eq!(exit_code("Exit code 3\nout\nerr"), Some(3));
        assert_eq!(exit_code("Error: Exit code 127"), Some(127));
        assert_eq!(exit_code("the Exit code 3"), None);
        assert_eq!(exit_code("Exit code x"), None);
    }
}
