//! Tools and the common vocabulary.

use sepia_driver_devin::Devin;
use sepia_ir::ToolUse;
use sepia_sdk::SessionWrite;
use serde_json::{Value, json};

fn call(name: &str, arguments: Value) -> ToolUse {
    ToolUse { name: name.into(), arguments: arguments.to_string() }
}

fn told(call: Option<ToolUse>) -> Option<(String, Value)> {
    call.map(|call| (call.name, serde_json::from_str(&call.arguments).unwrap()))
}

fn common(name: &str, arguments: Value) -> Option<(String, Value)> {
    told(Devin::common_tools(&[call(name, arguments)]).remove(0))
}

fn own(name: &str, arguments: Value) -> Option<(String, Value)> {
    told(Devin::own_tools(&[call(name, arguments)]).remove(0))
}

#[test]
fn tools_that_others_have_are_the_same_both_ways() {
    let pairs = [
        ("exec", json!({"command": "npm test", "workdir": "/p"}), "run", json!({"command": "npm test", "cwd": "/p"})),
        ("exec", json!({"command": "ls"}), "run", json!({"command": "ls"})),
        ("read", json!({"file_path": "/p/a"}), "read", json!({"path": "/p/a"})),
        ("write", json!({"file_path": "/p/a", "content": "x\n"}), "write", json!({"path": "/p/a", "content": "x\n"})),
        (
            "edit",
            json!({"file_path": "/p/a", "old_string": "a", "new_string": ""}),
            "edit",
            json!({"path": "/p/a", "edits": [{"old": "a", "new": ""}]}),
        ),
        ("grep", json!({"pattern": "a.*b"}), "search", json!({"pattern": "a.*b"})),
        ("webfetch", json!({"url": "https://example.org"}), "fetch", json!({"url": "https://example.org"})),
        (
            "run_subagent",
            json!({"title": "Scout", "task": "look", "profile": "explore"}),
            "task",
            json!({"description": "Scout", "prompt": "look", "agent": "explore"}),
        ),
    ];
    for (name, arguments, common_name, common_arguments) in pairs {
        let there = common(name, arguments.clone());
        assert_eq!(there, Some((common_name.to_owned(), common_arguments.clone())), "{name}");
        assert_eq!(own(common_name, common_arguments), Some((name.to_owned(), arguments)), "{name}");
    }
}

#[test]
fn what_the_other_form_does_not_say_whole_stays_as_it_is() {
    for (name, arguments) in [
        ("exec", json!({"command": "ls", "shell_id": "main"})),
        ("exec", json!({"command": ["ls"]})),
        ("exec", json!([])),
        ("edit", json!({"file_path": "/p/a", "old_string": "a", "new_string": "b", "replace_all": true})),
        ("todo_write", json!({"todos": []})),
        ("mcp_call_tool", json!({})),
    ] {
        assert_eq!(common(name, arguments.clone()), None, "{name} {arguments}");
    }
    for (name, arguments) in [
        ("edit", json!({"path": "/p/a", "edits": []})),
        ("edit", json!({"path": "/p/a", "edits": [{"old": "a", "new": "b"}, {"old": "c", "new": "d"}]})),
        ("edit", json!({"path": "/p/a", "edits": [{"old": "a", "new": "b", "all": true}]})),
        ("run", json!({"command": "sleep 1", "background": true})),
        ("list", json!({"path": "/p"})),
        ("find", json!({"pattern": "*.rs"})),
        ("web-search", json!({"query": "x"})),
        ("read", json!({"path": 7})),
    ] {
        assert_eq!(own(name, arguments.clone()), None, "{name} {arguments}");
    }
    // Twice the same name is nothing that two readers understand alike.
    let twice = ToolUse { name: "exec".into(), arguments: r#"{"command":"a","command":"b"}"#.into() };
    assert_eq!(Devin::common_tools(&[twice]), [None]);
}

#[test]
fn notes_on_a_call_are_left_behind() {
    assert_eq!(
        own("run", json!({"command": "ls", "description": "List", "timeoutMs": 5000})),
        Some(("exec".to_owned(), json!({"command": "ls"})))
    );
    assert_eq!(own("fetch", json!({"url": "u", "prompt": "p"})), Some(("webfetch".to_owned(), json!({"url": "u"}))));
    assert_eq!(
        own("search", json!({"pattern": "p", "path": "/p", "glob": "*.rs"})),
        Some(("grep".to_owned(), json!({"pattern": "p", "path": "/p", "glob": "*.rs"})))
    );
    assert_eq!(Devin::own_tools(&[]), []);
}
