//! The tool vocabulary.

use sepia_driver_claude::Claude;
use sepia_ir::ToolUse;
use sepia_sdk::SessionWrite;
use serde_json::{Value, json};

fn call(name: &str, arguments: &Value) -> ToolUse {
    ToolUse { name: name.to_owned(), arguments: arguments.to_string() }
}

fn parts(call: Option<ToolUse>) -> Option<(String, Value)> {
    call.map(|call| (call.name, serde_json::from_str(&call.arguments).unwrap()))
}

fn common(name: &str, arguments: Value) -> Option<(String, Value)> {
    parts(Claude::common_tools(&[call(name, &arguments)]).remove(0))
}

fn own(name: &str, arguments: Value) -> Option<(String, Value)> {
    parts(Claude::own_tools(&[call(name, &arguments)]).remove(0))
}

#[test]
fn calls_go_both_ways() {
    let pairs = [
        (
            "Read",
            json!({"file_path": "/a", "offset": 3, "limit": 10}),
            "read",
            json!({"path": "/a", "offset": 3, "limit": 10}),
        ),
        ("Read", json!({"file_path": "/a"}), "read", json!({"path": "/a"})),
        ("Write", json!({"file_path": "/a", "content": "x"}), "write", json!({"path": "/a", "content": "x"})),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": true}),
            "edit",
            json!({"path": "/a", "edits": [{"old": "x", "new": "y", "all": true}]}),
        ),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "z", "new_string": ""}]}),
            "edit",
            json!({"path": "/a", "edits": [{"old": "x", "new": "y"}, {"old": "z", "new": ""}]}),
        ),
        (
            "Bash",
            json!({"command": "ls", "timeout": 5000, "description": "List", "run_in_background": true}),
            "run",
            json!({"command": "ls", "timeoutMs": 5000, "description": "List", "background": true}),
        ),
        (
            "Grep",
            json!({"pattern": "x", "path": "/a", "glob": "*.rs"}),
            "search",
            json!({"pattern": "x", "path": "/a", "glob": "*.rs"}),
        ),
        ("Glob", json!({"pattern": "**/*.rs"}), "find", json!({"pattern": "**/*.rs"})),
        ("WebFetch", json!({"url": "https://x", "prompt": "p"}), "fetch", json!({"url": "https://x", "prompt": "p"})),
        ("WebSearch", json!({"query": "q"}), "web-search", json!({"query": "q"})),
        (
            "Agent",
            json!({"prompt": "p", "description": "d", "subagent_type": "Explore"}),
            "task",
            json!({"prompt": "p", "description": "d", "agent": "Explore"}),
        ),
    ];
    for (name, arguments, common_name, common_arguments) in pairs {
        assert_eq!(common(name, arguments.clone()), Some((common_name.into(), common_arguments.clone())), "{name}");
        assert_eq!(own(common_name, common_arguments), Some((name.into(), arguments)), "{common_name}");
    }
    assert_eq!(common("Task", json!({"prompt": "p"})), Some(("task".into(), json!({"prompt": "p"}))));
    assert_eq!(common("LS", json!({"path": "/a"})), Some(("list".into(), json!({"path": "/a"}))));
    let edit = json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": false});
    assert_eq!(common("Edit", edit), Some(("edit".into(), json!({"path": "/a", "edits": [{"old": "x", "new": "y"}]}))));
}

#[test]
fn a_directory_goes_before_the_command() {
    assert_eq!(
        own("run", json!({"command": "make", "cwd": "/p/it's"})),
        Some(("Bash".into(), json!({"command": "cd '/p/it'\\''s' && make"})))
    );
    assert_eq!(own("list", json!({"path": "/p/a b"})), Some(("Bash".into(), json!({"command": "ls -la '/p/a b'"}))));
}

#[test]
fn what_can_not_be_said_whole_is_not_said() {
    let calls = [
        ("Read", json!({"file_path": "/a", "pages": "1-2"})),
        ("Read", json!({"file_path": 7})),
        ("Read", json!({})),
        ("Read", json!([])),
        ("Read", json!(null)),
        ("Grep", json!({"pattern": "x", "-i": true})),
        ("Edit", json!({"file_path": "/a", "old_string": "x"})),
        ("Edit", json!({"file_path": "/a", "old_string": "x", "new_string": "y", "replace_all": "yes"})),
        ("Bash", json!({"command": "ls", "timeout": "5"})),
        ("WebSearch", json!({"query": "q", "allowed_domains": []})),
        ("mcp__x__y", json!({"a": 1})),
        ("read", json!({"path": "/a"})),
    ];
    for (name, arguments) in calls {
        assert_eq!(common(name, arguments.clone()), None, "{name} {arguments}");
    }
    let calls = [
        ("edit", json!({"path": "/a", "edits": []})),
        ("edit", json!({"path": "/a", "edits": [{"old": "x", "new": "y", "line": 3}]})),
        ("run", json!({"command": "ls", "shell": "zsh"})),
        ("run", json!({"cwd": "/a"})),
        ("Read", json!({"file_path": "/a"})),
        ("dance", json!({})),
    ];
    for (name, arguments) in calls {
        assert_eq!(own(name, arguments.clone()), None, "{name} {arguments}");
    }
    let nonsense = ToolUse { name: "Read".into(), arguments: "nonsense".into() };
    assert_eq!(Claude::common_tools(&[nonsense.clone(), nonsense]), [None, None]);
}
