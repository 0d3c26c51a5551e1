//! What became of a tool call: status, exit code, duration, places and changes.

use crate::json::Object;
use sepia_ir::{Diff, Location, ToolCall, ToolCallStatus, ToolResult};

/// The outcome of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) status: ToolCallStatus,
    pub(crate) exit_code: Option<i64>,
    pub(crate) duration_ms: Option<f64>,
}

/// Outcome of a result of the model's view, and what else the agent noted of it.
#[derive(Debug)]
pub(crate) struct Noted {
    pub(crate) outcome: Outcome,
    /// Which of the outcomes of the tool it was, as the agent names it: `success`, `rejected`, ….
    pub(crate) named: Option<String>,
    /// Sub-agent that the call started.
    pub(crate) agent_id: Option<String>,
}

/// Outcomes that are none of success nor failure by their name go by `isError`.
fn means_failure(named: &str) -> bool {
    const PARTS: [&str; 12] = [
        "fail",
        "error",
        "reject",
        "denied",
        "notfound",
        "timeout",
        "abort",
        "cancel",
        "invalid",
        "refused",
        "blocked",
        "unsupported",
    ];
    let named = named.to_ascii_lowercase();
    PARTS.iter().any(|part| named.contains(part))
}

/// Reads `highLevelToolCallResult`, `{output, isError?}`; without one the text tells. The name
/// of the outcome comes first, then `isError` (beside `output` in some builds, inside it in
/// others), then the exit code with which the text of a command begins.
pub(crate) fn noted(high_level: Option<&Object<'_>>, text: &str) -> Noted {
    let output = high_level.and_then(|high_level| high_level.object("output"));
    let Some(high_level) = high_level else {
        let exit_code = exit_code(text);
        let status =
            if exit_code.is_some_and(|code| code != 0) { ToolCallStatus::Error } else { ToolCallStatus::Success };
        return Noted { outcome: Outcome { status, exit_code, duration_ms: None }, named: None, agent_id: None };
    };
    let one_of = output.as_ref().and_then(|output| {
        let (named, body) = output.iter().find(|(name, _)| *name != "isError")?;
        Some((named.to_owned(), Object::parse(body).unwrap_or_default()))
    });
    let said = high_level.flag("isError") || output.as_ref().is_some_and(|output| output.flag("isError"));
    let (named, body) = one_of.unzip();
    let failed = named.as_deref().is_some_and(means_failure) || said;
    let told = exit_code(text);
    let body = body.unwrap_or_default();
    let ran_a_command = body.get("command").is_some() || body.get("exitCode").is_some();
    #[expect(clippy::cast_possible_truncation, reason = "exit codes are small")]
    let exit_code = match body.number("exitCode") {
        Some(code) => Some(code as i64),
        // Zero may be absent.
        None if ran_a_command && named.as_deref() == Some("success") => Some(0),
        None => told,
    };
    let failed = failed || (named.is_none() && told.is_some_and(|code| code != 0));
    let status = if failed { ToolCallStatus::Error } else { ToolCallStatus::Success };
    let duration_ms = body.number("executionTime").or_else(|| body.number("durationMs")).filter(|ms| *ms >= 0.0);
    Noted { outcome: Outcome { status, exit_code, duration_ms }, named, agent_id: body.filled("agentId") }
}

impl Outcome {
    /// As the tool node tells it.
    pub(crate) fn result(self) -> ToolResult {
        ToolResult { status: self.status, exit_code: self.exit_code, duration_ms: self.duration_ms }
    }

    /// Writes the outcome onto its call.
    pub(crate) fn fold(self, call: &mut ToolCall) {
        call.status = Some(self.status);
        call.exit_code = self.exit_code.or(call.exit_code);
        call.duration_ms = self.duration_ms.or(call.duration_ms);
        if self.status == ToolCallStatus::Success {
            call.diffs = diffs(&call.name, &call.arguments);
        }
    }
}

/// The number in `Exit code: 3`, with which the text of a command's result begins.
fn exit_code(text: &str) -> Option<i64> {
    let rest = text.trim_start().strip_prefix("Exit code:")?.trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Names under which the tools have kept the file that they work on.
const PATHS: [&str; 7] =
    ["path", "file_path", "target_file", "targetFile", "relativeWorkspacePath", "target_notebook", "target_directory"];

/// The file that a call names.
fn path_of(arguments: &Object<'_>) -> Option<String> {
    PATHS.iter().find_map(|name| arguments.filled(name))
}

/// The files that a call is about.
pub(crate) fn locations(tool: &str, arguments: &str) -> Vec<Location> {
    // A command or a prompt may have a path among its arguments without being about it.
    if matches!(tool, "Shell" | "run_terminal_cmd" | "run_terminal_command_v2" | "Task" | "task" | "task_v2") {
        return Vec::new();
    }
    let Some(arguments) = Object::parse(arguments) else { return Vec::new() };
    let line = ["offset", "start_line", "startLine"].iter().find_map(|name| arguments.number(name));
    #[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest whole number")]
    let line = line.filter(|line| *line >= 1.0).map(|line| line as i64);
    path_of(&arguments).map(|path| Location { path, line }).into_iter().collect()
}

/// The change that a call asks for.
fn diffs(tool: &str, arguments: &str) -> Vec<Diff> {
    let Some(arguments) = Object::parse(arguments) else { return Vec::new() };
    let Some(path) = path_of(&arguments) else { return Vec::new() };
    let text = |names: &[&str]| names.iter().find_map(|name| arguments.text(name)).map(std::borrow::Cow::into_owned);
    match tool {
        "StrReplace" | "search_replace" | "Edit" => match (text(&["old_string"]), text(&["new_string"])) {
            (Some(old), Some(new)) => vec![Diff { path, old_text: Some(old), new_text: Some(new) }],
            _ => Vec::new(),
        },
        // What was there before is not told.
        "Write" | "write" => text(&["contents", "content"])
            .map(|new| Diff { path, old_text: None, new_text: Some(new) })
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
    use super::{Outcome, locations, noted};
    use crate::json::Object;
    use sepia_ir::{ToolCall, ToolCallStatus};

    fn outcome(high_level: &str, text: &str) -> (ToolCallStatus, Option<i64>, Option<f64>) {
        let Outcome { status, exit_code, duration_ms } = noted(Some(&Object::parse(high_level).unwrap()), text).outcome;
        (status, exit_code, duration_ms)
    }

    #[test]
    fn the_name_of_the_outcome_then_is_error_wherever_it_stands() {
        use ToolCallStatus::{Error, Success};
        let failed = r#"{"output":{"failure":{"command":"x","exitCode":1,"executionTime":2140}},"isError":false}"#;
        assert_eq!(outcome(failed, ""), (Error, Some(1), Some(2140.0)));
        let fine = r#"{"output":{"success":{"command":"x","executionTime":1980}},"isError":false}"#;
        assert_eq!(outcome(fine, "Exit code: 0"), (Success, Some(0), Some(1980.0)));
        assert_eq!(outcome(r#"{"output":{"fileNotFound":{"path":"x"}},"isError":true}"#, ""), (Error, None, None));
        assert_eq!(outcome(r#"{"output":{"success":{},"isError":true}}"#, ""), (Error, None, None));
        assert_eq!(outcome(r#"{"output":{"isError":true,"success":{}}}"#, ""), (Error, None, None));
        assert_eq!(outcome(r#"{"output":{"permissionDenied":{}}}"#, ""), (Error, None, None));
        assert_eq!(outcome(r#"{"output":{"noChange":{}}}"#, ""), (Success, None, None));
        assert_eq!(outcome(r#"{"output":{"success":{"durationMs":"5400"}}}"#, ""), (Success, None, Some(5400.0)));
        assert_eq!(outcome(r#"{"isError":true}"#, ""), (Error, None, None));
        assert_eq!(outcome("{}", "Exit code: 7\n\nx"), (Error, Some(7), None));
    }

    #[test]
    fn without_a_note_the_text_tells() {
        let told = |text: &str| noted(None, text).outcome;
        assert_eq!((told("Exit code: 3\n").status, told("Exit code: 3\n").exit_code), (ToolCallStatus::Error, Some(3)));
        assert_eq!((told("Exit code: 0").status, told("fine").exit_code), (ToolCallStatus::Success, None));
    }

    #[test]
    fn edits_that_succeeded_tell_what_they_changed() {
        let mut call = ToolCall::new("1", "StrReplace", r#"{"path":"a","old_string":"b","new_string":""}"#.into());
        noted(None, "").outcome.fold(&mut call);
        assert_eq!((call.diffs[0].old_text.as_deref(), call.diffs[0].new_text.as_deref()), (Some("b"), Some("")));
        assert_eq!(locations("Read", r#"{"path":"a","offset":5}"#)[0].line, Some(5));
        assert!(locations("Shell", r#"{"path":"a"}"#).is_empty());
        assert!(locations("ApplyPatch", "\"*** Begin Patch\"").is_empty());
    }
}
