//! The agent's tools in the common form, and back.

use sepia_driver_cursor::Cursor;
use sepia_ir::ToolUse;
use sepia_sdk::SessionWrite;
use serde_json::{Value, json};

fn tool(name: &str, arguments: Value) -> ToolUse {
    ToolUse { name: name.into(), arguments: arguments.to_string() }
}

fn told(found: Option<ToolUse>) -> Option<(String, Value)> {
    found.map(|found| (found.name, serde_json::from_str(&found.arguments).unwrap()))
}

#[test]
fn each_tool_has_its_counterpart_both_ways() {
    let pairs = [
        (
            tool("Read", json!({"path": "/a", "offset": 5, "limit": 9})),
            tool("read", json!({"path": "/a", "offset": 5, "limit": 9})),
        ),
        (tool("Write", json!({"path": "/a", "contents": "x"})), tool("write", json!({"path": "/a", "content": "x"}))),
        (
            tool("StrReplace", json!({"path": "/a", "old_string": "x", "new_string": "", "replace_all": true})),
            tool("edit", json!({"path": "/a", "edits": [{"old": "x", "new": "", "all": true}]})),
        ),
        (
            tool("Shell", json!({"command": "ls", "working_directory": "/p", "description": "List"})),
            tool("run", json!({"command": "ls", "cwd": "/p", "description": "List"})),
        ),
        (
            tool("Grep", json!({"pattern": "a.b", "path": "/p", "glob": "*.rs"})),
            tool("search", json!({"pattern": "a.b", "path": "/p", "glob": "*.rs"})),
        ),
        (
            tool("Glob", json!({"glob_pattern": "**/*.rs", "target_directory": "/p"})),
            tool("find", json!({"pattern": "**/*.rs", "path": "/p"})),
        ),
        (tool("LS", json!({"path": "/p"})), tool("list", json!({"path": "/p"}))),
        (tool("WebFetch", json!({"url": "https://example.org"})), tool("fetch", json!({"url": "https://example.org"}))),
        (tool("WebSearch", json!({"search_term": "x"})), tool("web-search", json!({"query": "x"}))),
        (
            tool("Task", json!({"description": "d", "prompt": "p", "subagent_type": "explore"})),
            tool("task", json!({"description": "d", "prompt": "p", "agent": "explore"})),
        ),
    ];
    for (own, common) in pairs {
        let found = Cursor::common_tools(std::slice::from_ref(&own)).remove(0);
        assert_eq!(told(found), told(Some(common.clone())), "{}", own.name);
        let found = Cursor::own_tools(std::slice::from_ref(&common)).remove(0);
        assert_eq!(told(found), told(Some(own)), "{}", common.name);
    }
}

#[test]
fn what_the_other_form_does_not_say_whole_is_left() {
    let own = [
        tool("Read", json!({"offset": 5})),
        tool("Read", json!({"path": "/a", "future": 1})),
        tool("Read", json!({"path": 7})),
        tool("Grep", json!({"pattern": "x", "output_mode": "count"})),
        tool("Task", json!({"prompt": "p", "resume": "id"})),
        tool("ApplyPatch", json!("*** Begin Patch")),
        tool("Delete", json!({"path": "/a"})),
        ToolUse { name: "Read".into(), arguments: "{".into() },
    ];
    assert_eq!(Cursor::common_tools(&own), vec![None; own.len()]);
    let common = [
        tool("edit", json!({"path": "/a", "edits": []})),
        tool("edit", json!({"path": "/a", "edits": [{"old": "a", "new": "b"}, {"old": "c", "new": "d"}]})),
        tool("edit", json!({"path": "/a", "edits": [{"old": "a", "new": "b"}], "more": 1})),
        tool("fetch", json!({"url": "https://example.org", "prompt": "p"})),
        tool("unknown", json!({})),
        tool("write", json!({"path": "/a"})),
    ];
    assert_eq!(Cursor::own_tools(&common), vec![None; common.len()]);
}
