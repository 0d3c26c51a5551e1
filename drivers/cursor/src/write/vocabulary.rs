//! The agent's tools in the common form of `wit/tool-vocabulary.wit`, and back.
//!
//! Only a call that the other form says whole is translated: an argument without a place in it, or of
//! another type, leaves the call as it is.

use sepia_ir::ToolUse;
use sepia_sdk::tools::{self, Argument, Kind, Tool, members};
use serde_json::Value;

use Kind::{Count, Flag, Text};

const EDIT: &str = "StrReplace";

/// Tools that differ from the common ones in names alone.
const TOOLS: [Tool; 9] = [
    Tool {
        own: "Read",
        common: "read",
        arguments: &[
            ("path", "path", true, Text),
            ("offset", "offset", false, Count),
            ("limit", "limit", false, Count),
        ],
    },
    Tool {
        own: "Write",
        common: "write",
        arguments: &[("path", "path", true, Text), ("contents", "content", true, Text)],
    },
    Tool {
        own: "Shell",
        common: "run",
        arguments: &[
            ("command", "command", true, Text),
            ("working_directory", "cwd", false, Text),
            ("description", "description", false, Text),
            ("timeout", "timeoutMs", false, Count),
            ("is_background", "background", false, Flag),
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
        arguments: &[("glob_pattern", "pattern", true, Text), ("target_directory", "path", false, Text)],
    },
    Tool { own: "LS", common: "list", arguments: &[("path", "path", true, Text)] },
    Tool { own: "WebFetch", common: "fetch", arguments: &[("url", "url", true, Text)] },
    Tool { own: "WebSearch", common: "web-search", arguments: &[("search_term", "query", true, Text)] },
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

/// The one change that a call of this agent's editing tool makes.
const CHANGE: [Argument; 3] =
    [("old_string", "old", true, Text), ("new_string", "new", true, Text), ("replace_all", "all", false, Flag)];

/// This agent's calls in the common form.
pub(crate) fn common(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(to_common).collect()
}

/// Common calls as this agent's tools.
pub(crate) fn own(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(to_own).collect()
}

fn to_common(call: &ToolUse) -> Option<ToolUse> {
    let mut arguments = tools::arguments(call)?;
    if call.name == EDIT {
        let path = tools::text(&mut arguments, "path")?;
        let change = tools::to_common(arguments, &CHANGE)?;
        let edits = Value::Array(vec![Value::Object(change)]);
        return Some(tools::call("edit", members([("path", path), ("edits", edits)])));
    }
    let tool = TOOLS.iter().find(|tool| tool.own == call.name)?;
    Some(tools::call(tool.common, tools::to_common(arguments, tool.arguments)?))
}

fn to_own(call: &ToolUse) -> Option<ToolUse> {
    let mut arguments = tools::arguments(call)?;
    if call.name == "edit" {
        let path = tools::text(&mut arguments, "path")?;
        let mut edits = tools::list(&mut arguments, "edits")?;
        let (Some(Value::Object(edit)), true, true) = (edits.pop(), edits.is_empty(), arguments.is_empty()) else {
            return None;
        };
        let mut change = tools::from_common(edit, &CHANGE)?;
        change.insert("path".to_owned(), path);
        return Some(tools::call(EDIT, change));
    }
    let tool = TOOLS.iter().find(|tool| tool.common == call.name)?;
    Some(tools::call(tool.own, tools::from_common(arguments, tool.arguments)?))
}
