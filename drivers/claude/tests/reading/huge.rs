//! Records and files of any size, in bounded memory.

use crate::demo::{Demo, S1, a, base, contents, lines, meta, text, tr, tu, u};
use sepia_driver_claude::Claude;
use sepia_ir::{Branch, HistoryQuery, Role, SessionRef};
use sepia_sdk::SessionRead;
use serde_json::json;

#[test]
fn a_record_over_the_limit_is_told_by_a_stand_in() {
    let big = "x".repeat(20 << 20);
    let mut records = base(1);
    records.push(a("a1", "m2", json!([tu("t1", "Bash", json!({"command": "cat"}))]), 5));
    records.push(tr("r1", "a1", "t1", &big, 6));
    records.push(a("a2", "r1", text("after"), 7));
    let demo = Demo::new();
    let path = demo.session(S1, &records);
    let offset = lines(&records[..3]).len();
    let session = demo.read(S1);
    assert_eq!(contents(&session.nodes), ["prompt m1", "answer m2", "", "", "after"]);
    let stand_in = &session.nodes[3];
    assert_eq!(
        (stand_in.role, stand_in.tool_call_id.as_deref(), stand_in.tool_name.as_deref()),
        (Role::Tool, Some("t1"), Some("Bash"))
    );
    assert_eq!(stand_in.created_at, crate::demo::T0 + 6.0);
    let stub = &meta(&stand_in.metadata)["stub"];
    assert_eq!((&stub["offset"], &stub["bytes"]), (&json!(offset), &json!(lines(&records[3..4]).len() - 1)));
    assert_eq!(meta(&stand_in.metadata)["warnings"][0]["code"], json!("oversized-record"));
    let row = demo.row(S1);
    assert_eq!((row.title.as_str(), row.last_activity_at), ("prompt m1", crate::demo::T0 + 7.0));
    let query = HistoryQuery { limit: 2, before: None, branch: Branch::Live, index: None };
    let page = Claude::history(&demo.host(), &SessionRef { id: S1.into(), agent_id: None }, &query).unwrap();
    assert_eq!(page.nodes, session.nodes[3..]);
    assert_eq!(page.tool_call_nodes, session.nodes[2..3]);
    assert!(path.exists());
}

#[test]
fn what_a_row_needs_may_lie_behind_a_long_record() {
    let long = "x".repeat(100 << 10);
    let attachment = json!({"type": "attachment", "uuid": "x1", "parentUuid": null, "attachment": {"type": "file", "content": long}});
    let records = [attachment.clone(), u("m1", Some("x1"), "the prompt", 1), a("m2", "m1", text(&long), 2), attachment];
    let demo = Demo::new();
    demo.session(S1, &records);
    let row = demo.row(S1);
    assert_eq!((row.title.as_str(), row.model.as_str()), ("the prompt", "claude-sonnet-4-5"));
    assert_eq!((row.created_at, row.last_activity_at), (crate::demo::T0 + 1.0, crate::demo::T0 + 2.0));
}

#[test]
fn a_result_far_from_its_call_does_not_hold_back_what_is_between() {
    let mut records = base(1);
    records.push(a("a1", "m2", json!([tu("t1", "Agent", json!({"prompt": "go"}))]), 5));
    let filler = "y".repeat(1 << 20);
    let mut parent = "a1".to_owned();
    for n in 0..12 {
        let id = format!("f{n}");
        records.push(u(&id, Some(&parent), &filler, 10 + n));
        parent = id;
    }
    records.push(tr("r1", "a1", "t1", "Exit code 9\n", 60));
    let demo = Demo::new();
    demo.session(S1, &records);
    let session = demo.read(S1);
    assert_eq!(session.nodes.len(), 16);
    let call = &session.nodes[2].tool_calls[0];
    assert_eq!(call.status, Some(sepia_ir::ToolCallStatus::Success));
    assert_eq!(session.nodes[15].tool_name.as_deref(), Some("Agent"));
}
