//! The agent's tools in the common vocabulary, and back.

use sepia_driver_cline::Cline;
use sepia_ir::ToolUse;
use sepia_sdk::SessionWrite;
use serde_json::{Value, json};

fn tool(name: &str, arguments: Value) -> ToolUse {
    ToolUse { name: name.into(), arguments: arguments.to_string() }
}

fn told(call: Option<&ToolUse>) -> Option<(String, Value)> {
    call.map(|call| (call.name.clone(), serde_json::from_str(&call.arguments).unwrap()))
}

fn common(name: &str, arguments: Value) -> Option<(String, Value)> {
    told(Cline::common_tools(&[tool(name, arguments)])[0].as_ref())
}

fn own(name: &str, arguments: Value) -> Option<(String, Value)> {
    told(Cline::own_tools(&[tool(name, arguments)])[0].as_ref())
}

#[test]
fn what_both_can_say_goes_both_ways() {
    let pairs = [
        ("read", json!({"path": "/a"}), "read_files", json!({"files": [{"path": "/a"}]})),
        (
            "read",
            json!({"path": "/a", "offset": 3, "limit": 2}),
            "read_files",
            json!({"files": [{"path": "/a", "start_line": 3, "end_line": 4}]}),
        ),
        ("read", json!({"path": "/a", "limit": 9}), "read_files", json!({"files": [{"path": "/a", "end_line": 9}]})),
        ("write", json!({"path": "/a", "content": "x"}), "editor", json!({"path": "/a", "new_text": "x"})),
        (
            "edit",
            json!({"path": "/a", "edits": [{"old": "x", "new": "y"}]}),
            "editor",
            json!({"path": "/a", "old_text": "x", "new_text": "y"}),
        ),
        ("run", json!({"command": "ls"}), "run_commands", json!({"commands": ["ls"]})),
        ("search", json!({"pattern": "a+"}), "search_codebase", json!({"queries": ["a+"]})),
        (
            "fetch",
            json!({"url": "https://x", "prompt": "What?"}),
            "fetch_web_content",
            json!({"requests": [{"url": "https://x", "prompt": "What?"}]}),
        ),
        ("web-search", json!({"query": "q"}), "web_search", json!({"query": "q"})),
    ];
    for (name, arguments, tool, input) in pairs {
        assert_eq!(own(name, arguments.clone()), Some((tool.into(), input.clone())), "{name}");
        assert_eq!(common(tool, input), Some((name.into(), arguments)), "{tool}");
    }
    let (tool, input) = own("task", json!({"prompt": "Count."})).unwrap();
    assert_eq!((tool.as_str(), &input["task"]), ("spawn_agent", &json!("Count.")));
    assert_eq!(common(&tool, input), Some(("task".into(), json!({"prompt": "Count."}))));
    let (tool, input) = own("fetch", json!({"url": "https://x"})).unwrap();
    // The agent's tool has to be asked something.
    assert!(input["requests"][0]["prompt"].as_str().unwrap().len() >= 2);
    assert_eq!(common(&tool, input), Some(("fetch".into(), json!({"url": "https://x"}))));
}

#[test]
fn what_only_one_can_say_is_not_translated() {
    for (name, arguments) in [
        ("read_files", json!({"files": [{"path": "/a"}, {"path": "/b"}]})),
        ("read_files", json!({"files": [{"path": "/a", "start_line": 5, "end_line": 3}]})),
        ("editor", json!({"path": "/a", "new_text": "x", "insert_line": 3})),
        ("run_commands", json!({"commands": ["a", "b"]})),
        ("run_commands", json!({"commands": ["a"], "more": 1})),
        ("search_codebase", json!({"queries": ["a", "b"]})),
        ("spawn_agent", json!({"systemPrompt": "You are a critic.", "task": "x"})),
        ("apply_patch", json!({"input": "*** Begin Patch"})),
        ("execute_command", json!({"command": "ls", "requires_approval": true})),
        ("server__tool", json!({})),
        ("read_files", json!("text")),
    ] {
        assert_eq!(common(name, arguments.clone()), None, "{name} {arguments}");
    }
    for (name, arguments) in [
        ("find", json!({"pattern": "*.rs"})),
        ("list", json!({"path": "/a"})),
        ("edit", json!({"path": "/a", "edits": [{"old": "x", "new": "y", "all": true}]})),
        ("edit", json!({"path": "/a", "edits": [{"old": "x", "new": "y"}, {"old": "a", "new": "b"}]})),
        ("run", json!({"command": "ls", "cwd": "/b"})),
        ("run", json!({"command": "ls", "background": true})),
        ("search", json!({"pattern": "a", "path": "/b"})),
        ("task", json!({"prompt": "x", "agent": "critic"})),
        ("unknown", json!({})),
        ("run", json!([])),
    ] {
        assert_eq!(own(name, arguments.clone()), None, "{name} {arguments}");
    }
    assert_eq!(
        own("run", json!({"command": "ls", "description": "List", "timeoutMs": 5})),
        Some(("run_commands".into(), json!({"commands": ["ls"]})))
    );
}

#[test]
fn tasks_of_the_older_layout_are_understood() {
    assert_eq!(common("execute_command", json!({"command": "ls"})), Some(("run".into(), json!({"command": "ls"}))));
    assert_eq!(
        common("write_to_file", json!({"path": "a", "content": "x"})),
        Some(("write".into(), json!({"path": "a", "content": "x"})))
    );
    assert_eq!(
        common("search_files", json!({"path": "src", "regex": "a", "file_pattern": "*.rs"})),
        Some(("search".into(), json!({"pattern": "a", "path": "src", "glob": "*.rs"})))
    );
    assert_eq!(common("list_files", json!({"path": "."})), Some(("list".into(), json!({"path": "."}))));
}
