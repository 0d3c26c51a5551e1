//! The agent's tools in the common vocabulary of `wit/tool-vocabulary.wit`, and back.
//!
//! | common | here |
//! |---|---|
//! | `read` | `read_files` of one file; `read_file` of the older layout |
//! | `write` | `editor` that makes a file; `write_to_file` |
//! | `edit` | `editor` that replaces one text |
//! | `run` | `run_commands` of one command; `execute_command` |
//! | `search` | `search_codebase` of one pattern; `search_files` |
//! | `list` | `list_files` of the older layout |
//! | `fetch` | `fetch_web_content` of one address; `web_fetch` |
//! | `web-search` | `web_search` |
//! | `task` | `spawn_agent` |

use sepia_ir::ToolUse;
use serde_json::{Map, Value, json};

/// What a sub-agent is told that was asked for nothing but a task: the agent's tool has to be
/// given something.
const SUB_AGENT: &str = "You are a sub-agent. Do the task and answer with its result.";
/// What is asked of a page that was fetched without a question.
const PAGE: &str = "Give the content of the page.";

fn arguments(call: &ToolUse) -> Option<Map<String, Value>> {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(arguments)) => Some(arguments),
        _ => None,
    }
}

/// An argument of another kind than the tool's.
struct Odd;

/// Takes members out of arguments, so that what is left over shows.
struct Taken(Map<String, Value>);

impl Taken {
    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Object(members) => Some(Self(members)),
            _ => None,
        }
    }

    fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// A text that may be absent, or `null`.
    fn maybe_text(&mut self, name: &str) -> Result<Option<String>, Odd> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Odd),
        }
    }

    /// The same of a line.
    fn maybe_line(&mut self, name: &str) -> Result<Option<u64>, Odd> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value.as_u64().filter(|line| *line > 0).map(Some).ok_or(Odd),
        }
    }

    /// The one element of a list.
    fn only(&mut self, name: &str) -> Option<Value> {
        match self.0.remove(name) {
            Some(Value::Array(mut list)) if list.len() == 1 => list.pop(),
            _ => None,
        }
    }

    /// Nothing, when everything was taken.
    fn over(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn tool(name: &str, arguments: Value) -> ToolUse {
    ToolUse { name: name.to_owned(), arguments: arguments.to_string() }
}

/// An object without its members that are `null`.
fn present(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(members.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        other => other,
    }
}

/// This agent's calls in the common form.
pub(crate) fn common(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(to_common).collect()
}

fn to_common(call: &ToolUse) -> Option<ToolUse> {
    let mut taken = Taken(arguments(call)?);
    let common = match call.name.as_str() {
        "read_files" => {
            let file = match taken.only("files")? {
                Value::String(path) => json!({ "path": path }),
                file => file,
            };
            let mut file = Taken::of(file)?;
            let path = file.text("path")?;
            let (start, end) = (file.maybe_line("start_line").ok()?, file.maybe_line("end_line").ok()?);
            file.over()?;
            let limit = match end {
                Some(end) => Some((end + 1).checked_sub(start.unwrap_or(1)).filter(|limit| *limit > 0)?),
                None => None,
            };
            tool("read", present(json!({ "path": path, "offset": start, "limit": limit })))
        }
        "read_file" => tool("read", json!({ "path": taken.text("path")? })),
        "write_to_file" => tool("write", json!({ "path": taken.text("path")?, "content": taken.text("content")? })),
        "editor" => {
            let (path, new) = (taken.text("path")?, taken.text("new_text")?);
            if taken.maybe_line("insert_line").ok()?.is_some() {
                return None;
            }
            match taken.maybe_text("old_text").ok()?.filter(|old| !old.is_empty()) {
                Some(old) => tool("edit", json!({ "path": path, "edits": [{ "old": old, "new": new }] })),
                None => tool("write", json!({ "path": path, "content": new })),
            }
        }
        "run_commands" => match taken.only("commands")? {
            Value::String(command) => tool("run", json!({ "command": command })),
            _ => return None,
        },
        "execute_command" => tool("run", json!({ "command": taken.text("command")? })),
        "search_codebase" => match taken.only("queries")? {
            Value::String(pattern) => tool("search", json!({ "pattern": pattern })),
            _ => return None,
        },
        "search_files" => {
            let (path, glob) = (taken.maybe_text("path").ok()?, taken.maybe_text("file_pattern").ok()?);
            tool("search", present(json!({ "pattern": taken.text("regex")?, "path": path, "glob": glob })))
        }
        "list_files" => tool("list", json!({ "path": taken.text("path")? })),
        "fetch_web_content" => {
            let mut request = Taken::of(taken.only("requests")?)?;
            let (url, prompt) =
                (request.text("url")?, request.maybe_text("prompt").ok()?.filter(|prompt| prompt != PAGE));
            request.over()?;
            tool("fetch", present(json!({ "url": url, "prompt": prompt })))
        }
        "web_fetch" => {
            let prompt = taken.maybe_text("prompt").ok()?;
            tool("fetch", present(json!({ "url": taken.text("url")?, "prompt": prompt })))
        }
        "web_search" => tool("web-search", json!({ "query": taken.text("query")? })),
        "spawn_agent" => {
            // A prompt of the sub-agent's own has no place in the common form.
            if taken.maybe_text("systemPrompt").ok()?.is_some_and(|system| system != SUB_AGENT) {
                return None;
            }
            tool("task", json!({ "prompt": taken.text("task")? }))
        }
        _ => return None,
    };
    taken.over()?;
    Some(common)
}

/// Common calls as this agent's tools.
pub(crate) fn own(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
    calls.iter().map(to_own).collect()
}

fn to_own(call: &ToolUse) -> Option<ToolUse> {
    let mut taken = Taken(arguments(call)?);
    let own = match call.name.as_str() {
        "read" => {
            let path = taken.text("path")?;
            let (offset, limit) = (taken.maybe_line("offset").ok()?, taken.maybe_line("limit").ok()?);
            let end = limit.map(|limit| offset.unwrap_or(1).saturating_add(limit - 1));
            tool(
                "read_files",
                json!({ "files": [present(json!({ "path": path, "start_line": offset, "end_line": end }))] }),
            )
        }
        "write" => tool("editor", json!({ "path": taken.text("path")?, "new_text": taken.text("content")? })),
        "edit" => {
            let path = taken.text("path")?;
            let mut edit = Taken::of(taken.only("edits")?)?;
            let (old, new) = (edit.text("old").filter(|old| !old.is_empty())?, edit.text("new")?);
            if !matches!(edit.0.remove("all"), None | Some(Value::Null | Value::Bool(false))) {
                return None;
            }
            edit.over()?;
            tool("editor", json!({ "path": path, "old_text": old, "new_text": new }))
        }
        "run" => {
            // How long it may take and what it is for say nothing of what is run.
            for name in ["timeoutMs", "description"] {
                taken.0.remove(name);
            }
            if !matches!(taken.0.remove("background"), None | Some(Value::Null | Value::Bool(false))) {
                return None;
            }
            tool("run_commands", json!({ "commands": [taken.text("command")?] }))
        }
        "search" => tool("search_codebase", json!({ "queries": [taken.text("pattern")?] })),
        "fetch" => {
            let prompt = taken.maybe_text("prompt").ok()?.unwrap_or_else(|| PAGE.to_owned());
            tool("fetch_web_content", json!({ "requests": [{ "url": taken.text("url")?, "prompt": prompt }] }))
        }
        "web-search" => tool("web_search", json!({ "query": taken.text("query")? })),
        "task" => {
            taken.0.remove("description");
            tool("spawn_agent", json!({ "systemPrompt": SUB_AGENT, "task": taken.text("prompt")? }))
        }
        // There is no tool that finds files by their names, or lists a folder.
        _ => return None,
    };
    taken.over()?;
    Some(own)
}
