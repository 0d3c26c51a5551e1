//! Nothing but the structure.

use crate::sessions::full_of;
use sepia_ir::{Session, ToolCallStatus, ToolResult};
use sepia_redaction::Redactor;
use serde_json::Value;

const MARKER: &str = "Marmalade";

fn structure_of(mut session: Session) -> Session {
    Redactor::structure_only().session(&mut session);
    session
}

#[test]
fn nothing_of_the_content_is_left() {
    // No member has to look as anything in particular.
    let mut session = full_of(MARKER);
    for id in [&mut session.id, &mut session.nodes[0].tool_calls[0].id] {
        *id = format!("id {MARKER}");
    }
    session.parent_session_id = Some(MARKER.into());
    session.agent_id = Some(MARKER.into());
    session.model = format!("a {MARKER}");
    session.agent_mode = format!("/home/{MARKER}");
    session.checkpoints[0].kind = Some(format!("{MARKER} {MARKER}"));
    session.nodes[0].thinking_signature = Some(MARKER.into());
    session.nodes[0].request_id = Some(MARKER.into());
    session.nodes[0].finish_reason = Some(format!("because {MARKER}"));
    session.nodes[1].tool_name = Some(format!("what {MARKER} does"));
    session.nodes[1].metadata = format!("\"{MARKER}\"");
    let out = serde_json::to_string(&structure_of(session)).unwrap();
    assert!(!out.to_lowercase().contains(&MARKER.to_lowercase()), "{out}");
}

#[test]
fn the_structure_is_left() {
    let mut session = full_of(MARKER);
    session.nodes[1].tool_result =
        Some(ToolResult { status: ToolCallStatus::Error, exit_code: Some(2), duration_ms: Some(9.0) });
    let out = structure_of(session.clone());
    assert_eq!(out.title, "[text: 19 characters]");
    assert_eq!((out.created_at, out.last_activity_at, out.main_chain_id), (1000.5, 2000.5, 2));
    assert_eq!((out.backend_type.as_str(), out.model.as_str()), ("claude", "model-1"));
    assert_eq!(out.workspace_dirs, "[\"[json: 1 item, 19 characters]\"]");
    assert_eq!(out.prompt_history.len(), 1);
    assert!(out.prompt_history[0].is_shell);
    let [said, result] = out.nodes.as_slice() else { panic!("two messages") };
    assert_eq!(said.role, session.nodes[0].role);
    assert_eq!(said.blocks.len(), 3);
    assert_eq!(said.tool_calls[0].name, "Bash");
    assert_eq!(said.tool_calls[0].locations[0].line, Some(3));
    assert_eq!(result.tool_result, session.nodes[1].tool_result);
    assert_eq!(result.parent_node_id, Some(1));
    // Calls and results are still paired.
    assert_eq!(result.tool_call_id.as_ref(), Some(&said.tool_calls[0].id));
    assert_ne!(result.tool_call_id, session.nodes[1].tool_call_id);
    let arguments: Value = serde_json::from_str(&said.tool_calls[0].arguments).unwrap();
    assert_eq!(arguments["structure"], "[json: 1 member, 35 characters]");
}

#[test]
fn texts_and_json_on_their_own() {
    let mut redactor = Redactor::structure_only();
    assert!(redactor.is_structure_only());
    assert_eq!(redactor.text("日本語"), "[text: 3 characters]");
    assert_eq!(redactor.text("x"), "[text: 1 character]");
    assert_eq!(redactor.text(""), "");
    assert_eq!(redactor.json("null"), "null");
    assert_eq!(redactor.json("[]"), "[]");
    assert_eq!(redactor.json("17"), "\"[json: 1 value, 2 characters]\"");
    assert_eq!(redactor.json("{}"), "{\"structure\":\"[json: 0 members, 2 characters]\"}");
    assert_eq!(redactor.count(), 0);
}
