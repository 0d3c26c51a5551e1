//! The agent's tools in the common form of `wit/tool-vocabulary.wit`, and back.
//!
//! Only a call that the other form says whole is translated: an argument without a place in it, or of
//! another type, leaves the call as it is.

use sepia_ir::ToolUse;
use serde_json::{Map, Value, json};

/// Arguments that are taken one by one; what is left at the end has no place in the other form.
struct Arguments {
    left: Map<String, Value>,
    taken: Map<String, Value>,
    whole: bool,
}

impl Arguments {
    fn of(call: &ToolUse) -> Option<Self> {
        let Ok(Value::Object(left)) = serde_json::from_str(&call.arguments) else { return None };
        Some(Self { left, taken: Map::new(), whole: true })
    }

    /// Moves a member of this type to its other name; without it the call is not whole.
    fn needs(&mut self, from: &str, to: &str, fits: fn(&Value) -> bool) {
        if !self.may(from, to, fits) {
            self.whole = false;
        }
    }

    /// Moves a member of this type to its other name, if there is one.
    fn may(&mut self, from: &str, to: &str, fits: fn(&Value) -> bool) -> bool {
        let known = self.left.get(from).is_some_and(fits);
        if known && let Some(value) = self.left.remove(from) {
            self.taken.insert(to.to_owned(), value);
        }
        known
    }

    fn named(self, name: &str) -> Option<ToolUse> {
        let arguments = Value::Object(self.taken).to_string();
        (self.whole && self.left.is_empty()).then(|| ToolUse { name: name.to_owned(), arguments })
    }
}

fn text(value: &Value) -> bool {
    value.is_string()
}

fn count(value: &Value) -> bool {
    value.is_u64()
}

fn flag(value: &Value) -> bool {
    value.is_boolean()
}

/// This agent's calls in the common form.
pub(crate) fn common(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(to_common).collect()
}

/// Common calls as this agent's tools.
pub(crate) fn own(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(to_own).collect()
}

fn to_common(call: &ToolUse) -> Option<ToolUse> {
    let mut arguments = Arguments::of(call)?;
    let name = match call.name.as_str() {
        "Read" => {
            arguments.needs("path", "path", text);
            arguments.may("offset", "offset", count);
            arguments.may("limit", "limit", count);
            "read"
        }
        "Write" => {
            arguments.needs("path", "path", text);
            arguments.needs("contents", "content", text);
            "write"
        }
        "StrReplace" => {
            arguments.needs("path", "path", text);
            let mut edit = Arguments { left: arguments.left, taken: Map::new(), whole: arguments.whole };
            edit.needs("old_string", "old", text);
            edit.needs("new_string", "new", text);
            edit.may("replace_all", "all", flag);
            arguments.taken.insert("edits".to_owned(), json!([edit.taken]));
            (arguments.left, arguments.whole) = (edit.left, edit.whole);
            "edit"
        }
        "Shell" => {
            arguments.needs("command", "command", text);
            arguments.may("working_directory", "cwd", text);
            arguments.may("description", "description", text);
            arguments.may("timeout", "timeoutMs", count);
            arguments.may("is_background", "background", flag);
            "run"
        }
        "Grep" => {
            arguments.needs("pattern", "pattern", text);
            arguments.may("path", "path", text);
            arguments.may("glob", "glob", text);
            "search"
        }
        "Glob" => {
            arguments.needs("glob_pattern", "pattern", text);
            arguments.may("target_directory", "path", text);
            "find"
        }
        "LS" => {
            arguments.needs("path", "path", text);
            "list"
        }
        "WebFetch" => {
            arguments.needs("url", "url", text);
            "fetch"
        }
        "WebSearch" => {
            arguments.needs("search_term", "query", text);
            "web-search"
        }
        "Task" => {
            arguments.needs("prompt", "prompt", text);
            arguments.may("description", "description", text);
            arguments.may("subagent_type", "agent", text);
            "task"
        }
        _ => return None,
    };
    arguments.named(name)
}

fn to_own(call: &ToolUse) -> Option<ToolUse> {
    let mut arguments = Arguments::of(call)?;
    let name = match call.name.as_str() {
        "read" => {
            arguments.needs("path", "path", text);
            arguments.may("offset", "offset", count);
            arguments.may("limit", "limit", count);
            "Read"
        }
        "write" => {
            arguments.needs("path", "path", text);
            arguments.needs("content", "contents", text);
            "Write"
        }
        "edit" => {
            arguments.needs("path", "path", text);
            // One call of this agent makes one change.
            let Some(Value::Array(mut edits)) = arguments.left.remove("edits") else { return None };
            let (Some(Value::Object(edit)), true) = (edits.pop(), edits.is_empty()) else { return None };
            let mut edit = Arguments { left: edit, taken: arguments.taken, whole: arguments.whole };
            edit.needs("old", "old_string", text);
            edit.needs("new", "new_string", text);
            edit.may("all", "replace_all", flag);
            edit.left.extend(arguments.left);
            return edit.named("StrReplace");
        }
        "run" => {
            arguments.needs("command", "command", text);
            arguments.may("cwd", "working_directory", text);
            arguments.may("description", "description", text);
            arguments.may("timeoutMs", "timeout", count);
            arguments.may("background", "is_background", flag);
            "Shell"
        }
        "search" => {
            arguments.needs("pattern", "pattern", text);
            arguments.may("path", "path", text);
            arguments.may("glob", "glob", text);
            "Grep"
        }
        "find" => {
            arguments.needs("pattern", "glob_pattern", text);
            arguments.may("path", "target_directory", text);
            "Glob"
        }
        "list" => {
            arguments.needs("path", "path", text);
            "LS"
        }
        "fetch" => {
            arguments.needs("url", "url", text);
            "WebFetch"
        }
        "web-search" => {
            arguments.needs("query", "search_term", text);
            "WebSearch"
        }
        "task" => {
            arguments.needs("prompt", "prompt", text);
            arguments.may("description", "description", text);
            arguments.may("agent", "subagent_type", text);
            "Task"
        }
        _ => return None,
    };
    arguments.named(name)
}
