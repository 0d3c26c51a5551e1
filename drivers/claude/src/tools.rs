//! The agent's tools in the words that all agents share, and the other way round.
//!
//! | common | here |
//! |---|---|
//! | read | `Read` |
//! | write | `Write` |
//! | edit | `Edit`; several in one call: `MultiEdit`, which older versions had |
//! | run | `Bash`, the directory as a `cd` before the command |
//! | search | `Grep` |
//! | find | `Glob` |
//! | list | `LS` of older versions; now `Bash` with `ls` |
//! | fetch, web-search | `WebFetch`, `WebSearch` |
//! | task | `Agent`, in older versions `Task` |

use sepia_ir::ToolUse;
use sepia_sdk::tools::{self, Arguments, Kind, Tool, list, members, text};
use serde_json::{Value, json};

use Kind::{Flag, Number, Text};

/// The first of a common name is the one that calls become.
const TOOLS: [Tool; 9] = [
    Tool {
        own: "Read",
        common: "read",
        arguments: &[
            ("file_path", "path", true, Text),
            ("offset", "offset", false, Number),
            ("limit", "limit", false, Number),
        ],
    },
    Tool {
        own: "Write",
        common: "write",
        arguments: &[("file_path", "path", true, Text), ("content", "content", true, Text)],
    },
    Tool {
        own: "Bash",
        common: "run",
        arguments: &[
            ("command", "command", true, Text),
            ("timeout", "timeoutMs", false, Number),
            ("description", "description", false, Text),
            ("run_in_background", "background", false, Flag),
        ],
    },
    Tool {
        own: "Grep",
        common: "search",
        arguments: &[("pattern", "pattern", true, Text), ("path", "path", false, Text), ("glob", "glob", false, Text)],
    },
    Tool {
        own: "Glob",
        common: "find",
        arguments: &[("pattern", "pattern", true, Text), ("path", "path", false, Text)],
    },
    Tool {
        own: "WebFetch",
        common: "fetch",
        arguments: &[("url", "url", true, Text), ("prompt", "prompt", false, Text)],
    },
    Tool { own: "WebSearch", common: "web-search", arguments: &[("query", "query", true, Text)] },
    Tool {
        own: "Agent",
        common: "task",
        arguments: &[
            ("prompt", "prompt", true, Text),
            ("description", "description", false, Text),
            ("subagent_type", "agent", false, Text),
        ],
    },
    Tool {
        own: "Task",
        common: "task",
        arguments: &[
            ("prompt", "prompt", true, Text),
            ("description", "description", false, Text),
            ("subagent_type", "agent", false, Text),
        ],
    },
];

/// This agent's calls in the common form.
pub(crate) fn to_common(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(common).collect()
}

/// Common calls as this agent's.
pub(crate) fn from_common(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(own).collect()
}

fn common(call: &ToolUse) -> Option<ToolUse> {
    let mut arguments = tools::arguments(call)?;
    let (name, arguments) = match call.name.as_str() {
        "Edit" => {
            let path = text(&mut arguments, "file_path")?;
            let edit = common_edit(arguments)?;
            ("edit", members([("path", path), ("edits", Value::Array(vec![edit]))]))
        }
        "MultiEdit" => {
            let path = text(&mut arguments, "file_path")?;
            let edits = list(&mut arguments, "edits")?.into_iter().map(common_edit).collect::<Option<Vec<_>>>()?;
            arguments.is_empty().then_some(("edit", members([("path", path), ("edits", Value::Array(edits))])))?
        }
        "LS" => {
            let path = text(&mut arguments, "path")?;
            arguments.is_empty().then(|| ("list", members([("path", path)])))?
        }
        name => {
            let tool = TOOLS.iter().find(|tool| tool.own == name)?;
            (tool.common, tools::to_common(arguments, tool.arguments)?)
        }
    };
    Some(tools::call(name, arguments))
}

fn own(call: &ToolUse) -> Option<ToolUse> {
    let mut arguments = tools::arguments(call)?;
    let (name, arguments) = match call.name.as_str() {
        "edit" => {
            let path = text(&mut arguments, "path")?;
            let mut edits = list(&mut arguments, "edits")?.into_iter().map(own_edit).collect::<Option<Vec<_>>>()?;
            if !arguments.is_empty() || edits.is_empty() {
                return None;
            }
            if edits.len() == 1 {
                let mut edit = edits.swap_remove(0);
                edit.insert("file_path".to_owned(), path);
                ("Edit", edit)
            } else {
                let edits = edits.into_iter().map(Value::Object).collect();
                ("MultiEdit", members([("file_path", path), ("edits", Value::Array(edits))]))
            }
        }
        "list" => {
            let path = text(&mut arguments, "path")?;
            let command = format!("ls -la {}", quoted(path.as_str()?));
            arguments.is_empty().then(|| ("Bash", members([("command", json!(command))])))?
        }
        "run" => {
            if let Some(directory) = arguments.remove("cwd") {
                let command = text(&mut arguments, "command")?;
                let command = format!("cd {} && {}", quoted(directory.as_str()?), command.as_str()?);
                arguments.insert("command".to_owned(), json!(command));
            }
            ("Bash", from_table("Bash", arguments)?)
        }
        name => {
            let tool = TOOLS.iter().find(|tool| tool.common == name)?;
            (tool.own, from_table(tool.own, arguments)?)
        }
    };
    Some(tools::call(name, arguments))
}

fn from_table(own: &str, arguments: Arguments) -> Option<Arguments> {
    let tool = TOOLS.iter().find(|tool| tool.own == own)?;
    tools::from_common(arguments, tool.arguments)
}

/// `{old_string, new_string, replace_all?}` as `{old, new, all?}`.
fn common_edit(edit: impl Into<Value>) -> Option<Value> {
    let Value::Object(mut edit) = edit.into() else { return None };
    let (old, new) = (text(&mut edit, "old_string")?, text(&mut edit, "new_string")?);
    let mut common = members([("old", old), ("new", new)]);
    match edit.remove("replace_all") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => drop(common.insert("all".to_owned(), Value::Bool(true))),
        Some(_) => return None,
    }
    edit.is_empty().then_some(Value::Object(common))
}

fn own_edit(edit: Value) -> Option<Arguments> {
    let Value::Object(mut edit) = edit else { return None };
    let (old, new) = (text(&mut edit, "old")?, text(&mut edit, "new")?);
    let mut own = members([("old_string", old), ("new_string", new)]);
    match edit.remove("all") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => drop(own.insert("replace_all".to_owned(), Value::Bool(true))),
        Some(_) => return None,
    }
    edit.is_empty().then_some(own)
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
