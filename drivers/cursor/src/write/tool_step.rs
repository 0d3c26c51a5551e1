//! A tool call with its result as a person sees it: a step of a turn.
//!
//! Numbers of messages and fields are those of `agent.v1` in the agent's own SDK bundle (1.0.18). Tools
//! that have no message there are shown the way calls of MCP servers are. The model does not see
//! steps, so long texts are cut.

use super::wire::Wire;
use crate::json::Object;
use sepia_ir::{ToolCall, ToolCallStatus};
use serde_json::Value;

/// More of a text is not shown in a step, bytes.
const SHOWN: usize = 4 << 10;
/// Arguments nested deeper than this are not shown.
const DEEPEST: usize = 32;
/// More files of a search are not shown.
const MOST_FILES: usize = 100;

/// What became of a call.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    /// Its text, at most as much as is shown.
    text: String,
    failed: bool,
    exit_code: Option<i64>,
    duration_ms: Option<f64>,
}

impl Ended {
    pub(crate) fn of(node: &sepia_ir::MessageNode) -> Self {
        let result = node.tool_result;
        Self {
            text: cut(&node.content).to_owned(),
            failed: result.is_some_and(|result| result.status == ToolCallStatus::Error),
            exit_code: result.and_then(|result| result.exit_code),
            duration_ms: result.and_then(|result| result.duration_ms),
        }
    }
}

/// The step of a call.
pub(crate) fn tool_step(call: &ToolCall, cwd: &str, ended: Option<&Ended>) -> Vec<u8> {
    let arguments = Object::parse(&call.arguments).unwrap_or_default();
    let (field, args, result) = told(call, &arguments, cwd, ended);
    let mut tool = Wire::default().message(1, args);
    if let Some(result) = result {
        tool = tool.message(2, result);
    }
    // Field 57 is the id of the call.
    let call = Wire::default().message(field, tool).text(57, &call.id);
    Wire::default().message(2, call).finish()
}

/// Which of the tools, its arguments and its result.
fn told(call: &ToolCall, arguments: &Object<'_>, cwd: &str, ended: Option<&Ended>) -> (u32, Wire, Option<Wire>) {
    let text = |name: &str| arguments.text(name).map(|text| cut(&text).to_owned()).unwrap_or_default();
    let number = |name: &str| whole(arguments.number(name));
    let new = Wire::default;
    let one_of = |field: u32, message: Wire| Some(new().message(field, message));
    // What the result is: of success, or of failure.
    let either = |good: &dyn Fn(&Ended) -> Option<Wire>, bad: &dyn Fn(&Ended) -> Option<Wire>| {
        ended.and_then(|ended| if ended.failed { bad(ended) } else { good(ended) })
    };
    let path = text("path");
    match call.name.as_str() {
        "Shell" => {
            let (command, directory) = (text("command"), text("working_directory"));
            let directory = if directory.is_empty() { cwd.to_owned() } else { directory };
            let args = new().text(1, &command).text(2, &directory).text(4, &call.id).text(15, &text("description"));
            let result =
                either(&|e| one_of(1, shell(e, &command, &directory)), &|e| one_of(2, shell(e, &command, &directory)));
            (1, args, result)
        }
        "Read" => {
            let args = new().text(1, &path).number(2, number("offset")).number(3, number("limit"));
            let good = |e: &Ended| one_of(1, new().text(1, &e.text).text(7, &path));
            (8, args, either(&good, &|e| one_of(2, new().text(1, &e.text))))
        }
        "Write" | "StrReplace" | "Edit" => {
            let args = new().text(1, &path).text(6, &text("contents"));
            let good = |e: &Ended| one_of(1, new().text(1, &path).text(8, &e.text));
            (12, args, either(&good, &|e| one_of(7, new().text(1, &path).text(2, &e.text))))
        }
        "Delete" => {
            let args = new().text(1, &path).text(2, &call.id);
            (
                3,
                args,
                either(&|_| one_of(1, new().text(1, &path)), &|e| one_of(7, new().text(1, &path).text(2, &e.text))),
            )
        }
        "Grep" => {
            let (pattern, mode) = (text("pattern"), text("output_mode"));
            let args = new().text(1, &pattern).text(2, &path).text(3, &text("glob")).text(4, &mode).text(14, &call.id);
            let good = |_: &Ended| one_of(1, new().text(1, &pattern).text(2, &path).text(3, &mode));
            (5, args, either(&good, &|e| one_of(2, new().text(1, &e.text))))
        }
        "Glob" => {
            let (pattern, directory) = (text("glob_pattern"), text("target_directory"));
            let good = |e: &Ended| {
                let found = new().text(1, &pattern).text(2, &directory);
                one_of(1, e.text.lines().take(MOST_FILES).fold(found, |found, file| found.text(3, file)))
            };
            (4, new().text(1, &directory).text(2, &pattern), either(&good, &|e| one_of(2, new().text(1, &e.text))))
        }
        "WebFetch" => {
            let url = text("url");
            let good = |e: &Ended| one_of(1, new().text(1, &url).text(2, &e.text));
            (
                37,
                new().text(1, &url).text(2, &call.id),
                either(&good, &|e| one_of(2, new().text(1, &url).text(2, &e.text))),
            )
        }
        "WebSearch" => {
            let args = new().text(1, &text("search_term")).text(2, &call.id);
            (18, args, either(&|_| one_of(1, new()), &|e| one_of(2, new().text(1, &e.text))))
        }
        "Task" => {
            let args = new().text(1, &text("description")).text(2, &text("prompt")).text(4, &text("model"));
            // The answer of the sub-agent, as a step of its conversation.
            let answer = |e: &Ended| new().message(1, new().message(1, new().text(1, &e.text)));
            let good = |e: &Ended| one_of(1, answer(e).number(4, whole(e.duration_ms)));
            (19, args, either(&good, &|e| one_of(2, new().text(1, &e.text))))
        }
        _ => (
            15,
            generic(call, arguments),
            ended.map(|e| {
                let item = new().message(1, new().text(1, &e.text));
                new().message(1, new().message(1, item).number(2, u64::from(e.failed)))
            }),
        ),
    }
}

/// What a command did.
fn shell(ended: &Ended, command: &str, directory: &str) -> Wire {
    let code = ended.exit_code.unwrap_or_default();
    // A negative number is written as 64 bits of two's complement.
    let code = u64::from_ne_bytes(code.to_ne_bytes());
    let took = whole(ended.duration_ms);
    Wire::default().text(1, command).text(2, directory).number(3, code).text(5, &ended.text).number(7, took)
}

/// A call of a tool that has no message of its own.
fn generic(call: &ToolCall, arguments: &Object<'_>) -> Wire {
    let mut args = Wire::default().text(1, &call.name);
    for (key, raw) in arguments.iter() {
        let value = serde_json::from_str(raw).unwrap_or(Value::Null);
        args = args.message(2, Wire::default().text(1, key).message(2, shown(&value, 0)));
    }
    args.text(3, &call.id).text(5, &call.name)
}

/// A JSON value as `google.protobuf.Value`.
fn shown(value: &Value, depth: usize) -> Wire {
    let wire = Wire::default();
    match value {
        _ if depth > DEEPEST => wire.bytes(3, "…".as_bytes()),
        Value::Null => wire.varint(1, 0),
        Value::Number(number) => wire.double(2, number.as_f64().unwrap_or_default()),
        Value::String(text) => wire.bytes(3, cut(text).as_bytes()),
        Value::Bool(value) => wire.varint(4, u64::from(*value)),
        Value::Object(members) => {
            let entry = |wire: Wire, (key, value): (&String, &Value)| {
                wire.message(1, Wire::default().text(1, key).message(2, shown(value, depth + 1)))
            };
            wire.message(5, members.iter().fold(Wire::default(), entry))
        }
        Value::Array(items) => {
            let items = items.iter().fold(Wire::default(), |wire, item| wire.message(1, shown(item, depth + 1)));
            wire.message(6, items)
        }
    }
}

/// As much of a text as is shown.
pub(crate) fn cut(text: &str) -> &str {
    if text.len() <= SHOWN {
        return text;
    }
    let mut end = SHOWN;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A count as the format has it; 0 for what is none, which is not written.
fn whole(number: Option<f64>) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    number.filter(|n| (0.0..2_147_483_648.0).contains(n)).map_or(0, |n| n as u64)
}
