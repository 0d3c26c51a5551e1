//! What became of tool calls: three places tell, each weightier than the one before.

use crate::demo::{Demo, calls, result, user, warnings, with};
use sepia_ir::{ToolCall, ToolCallStatus};
use serde_json::{Value, json};

struct Told {
    snapshot: Option<Value>,
    row: Option<Value>,
    update: Option<&'static str>,
}

fn outcome(told: Told) -> (ToolCall, Vec<String>) {
    let demo = Demo::new();
    demo.session("s", Some(if told.row.is_some() { 3 } else { 2 }));
    demo.node("s", 1, None, user("q"), None);
    let snapshots = json!({"chisel/tool_call_content": {"c": told.snapshot}});
    demo.node("s", 2, Some(1), with(calls("a", &["c"]), &[("metadata.extensions", snapshots)]), None);
    if let Some(extensions) = told.row {
        demo.node("s", 3, Some(2), with(result("c", "out"), &[("metadata.extensions", extensions)]), None);
    }
    if let Some(update) = told.update {
        demo.sql(&format!("INSERT INTO tool_call_state VALUES ('s', 'c', '{{}}', {update})"));
    }
    let session = demo.read("s");
    if let Some(node) = session.nodes.get(2) {
        let (call, result) = (&session.nodes[1].tool_calls[0], node.tool_result.unwrap());
        assert_eq!((call.status, call.exit_code), (Some(result.status), result.exit_code));
    }
    demo.keeps_the_laws();
    (session.nodes[1].tool_calls[0].clone(), warnings(&session.metadata))
}

fn row(success: bool) -> Value {
    json!({
        "chisel/tool_result_meta": {"success": success, "kind": "exec"},
        "chisel/terminal_output": {"text": "out", "exit": {"terminal_id": "t", "exit_code": 7}},
        "chisel/tool_call_timing": {"duration_ms": 12.5},
    })
}

#[test]
fn the_last_word_is_the_updates() {
    let snapshot = |status: &str| Some(json!({"status": status}));
    let exit = r#"'{"status":"failed","_meta":{"cognition.ai/terminal_exit":{"exit_code":3}}}'"#;
    for (told, status, exit_code, duration) in [
        (Told { snapshot: None, row: None, update: None }, None, None, None),
        (Told { snapshot: snapshot("completed"), row: None, update: None }, Some(ToolCallStatus::Success), None, None),
        (
            Told { snapshot: snapshot("in_progress"), row: None, update: None },
            Some(ToolCallStatus::Pending),
            None,
            None,
        ),
        (
            Told { snapshot: snapshot("failed"), row: None, update: Some("NULL") },
            Some(ToolCallStatus::Error),
            None,
            None,
        ),
        (
            Told { snapshot: snapshot("completed"), row: Some(row(false)), update: None },
            Some(ToolCallStatus::Error),
            Some(7),
            Some(12.5),
        ),
        (
            Told { snapshot: snapshot("pending"), row: Some(row(true)), update: None },
            Some(ToolCallStatus::Success),
            Some(7),
            Some(12.5),
        ),
        (
            Told { snapshot: None, row: Some(row(true)), update: Some(exit) },
            Some(ToolCallStatus::Error),
            Some(3),
            Some(12.5),
        ),
        (
            Told { snapshot: None, row: Some(row(false)), update: Some(r#"'{"status":"completed"}'"#) },
            Some(ToolCallStatus::Success),
            Some(7),
            Some(12.5),
        ),
        (
            Told { snapshot: None, row: Some(row(false)), update: Some(r#"'{"status":"unheard-of"}'"#) },
            Some(ToolCallStatus::Error),
            Some(7),
            Some(12.5),
        ),
    ] {
        let (call, warnings) = outcome(told);
        assert_eq!((call.status, call.exit_code, call.duration_ms), (status, exit_code, duration));
        assert_eq!(warnings, [""; 0]);
    }
}

#[test]
fn an_update_that_is_no_json_is_passed_over_with_a_warning() {
    for update in ["'garbage{'", "''", "x'00ff'"] {
        let (call, warnings) = outcome(Told { snapshot: None, row: Some(row(true)), update: Some(update) });
        assert_eq!((call.status, call.exit_code), (Some(ToolCallStatus::Success), Some(7)), "{update}");
        assert_eq!(warnings, ["broken-tool-state"], "{update}");
    }
    // JSON of another shape tells nothing and is no fault.
    for update in ["'[]'", "'5'", "'{\"status\":7}'", "'null'"] {
        let (call, warnings) = outcome(Told { snapshot: None, row: Some(row(true)), update: Some(update) });
        assert_eq!((call.status, warnings), (Some(ToolCallStatus::Success), Vec::new()), "{update}");
    }
}
