//! Transcripts are trees.

use crate::demo::{Demo, S1, a, base, contents, live, meta, text, tr, tu, u, with};
use sepia_ir::{Role, ToolCallStatus};
use serde_json::{Value, json};

/// `m1 m2 m3`, then two processes at once.
fn fork() -> Vec<Value> {
    vec![
        u("m1", None, "m1", 1),
        a("m2", "m1", text("m2"), 2),
        u("m3", Some("m2"), "m3", 3),
        a("b1", "m3", text("b1"), 4),
        a("c1", "m3", text("c1"), 5),
        u("b2", Some("b1"), "b2", 6),
        u("c2", Some("c1"), "c2", 7),
        a("b3", "b2", text("b3"), 8),
    ]
}

fn branch(records: &[Value]) -> Vec<String> {
    let demo = Demo::new();
    demo.session(S1, records);
    let session = demo.read(S1);
    contents(live(&session)).into_iter().map(str::to_owned).collect()
}

#[test]
fn the_default_branch_is_that_of_the_newest_record() {
    assert_eq!(branch(&fork()), ["m1", "m2", "m3", "b1", "b2", "b3"]);
    let demo = Demo::new();
    demo.session(S1, &fork());
    let session = demo.read(S1);
    let parents: Vec<_> = session.nodes.iter().filter_map(|node| node.parent_node_id).collect();
    let tips: Vec<_> =
        session.nodes.iter().filter(|node| !parents.contains(&node.node_id)).map(|n| n.content.as_str()).collect();
    assert_eq!(tips, ["c2", "b3"]);
}

#[test]
fn a_sub_agents_record_at_the_end_moves_no_tip() {
    let mut records = fork();
    records.push(with(u("s1", None, "sub", 9), &[("isSidechain", json!(true))]));
    assert_eq!(branch(&records), ["m1", "m2", "m3", "b1", "b2", "b3"]);
}

#[test]
fn a_leaf_that_the_agent_noted_wins_unless_the_newest_record_follows_it() {
    let noted = |leaf: &str| json!({"type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf, "sessionId": S1});
    let mut records = fork();
    records.push(noted("c2"));
    assert_eq!(branch(&records), ["m1", "m2", "m3", "c1", "c2"]);
    records.push(a("c3", "c2", text("c3"), 10));
    assert_eq!(branch(&records), ["m1", "m2", "m3", "c1", "c2", "c3"]);
    records.push(noted("gone"));
    assert_eq!(branch(&records), ["m1", "m2", "m3", "c1", "c2", "c3"]);
}

#[test]
fn links_without_a_message_are_passed_through() {
    let mut records = base(1);
    records.push(json!({"type": "attachment", "uuid": "x1", "parentUuid": "m2", "attachment": {"type": "file"}, "timestamp": crate::demo::t(3)}));
    records
        .push(json!({"type": "system", "subtype": "turn_duration", "uuid": "x2", "parentUuid": "x1", "durationMs": 5}));
    records.push(u("m3", Some("x2"), "next", 4));
    let demo = Demo::new();
    demo.session(S1, &records);
    let session = demo.read(S1);
    assert_eq!(session.nodes[2].parent_node_id, Some(2));
    assert_eq!(meta(&session.nodes[2].metadata)["parentUuid"], json!("x2"));
}

#[test]
fn an_unknown_parent_is_the_nearest_earlier_message() {
    let mut records = base(1);
    records.push(u("m3", Some("never"), "next", 4));
    let demo = Demo::new();
    demo.session(S1, &records);
    let session = demo.read(S1);
    assert_eq!(session.nodes[2].parent_node_id, Some(2));
    assert_eq!(meta(&session.nodes[2].metadata)["parentGuessed"], json!(true));
}

#[test]
fn circles_end() {
    let records = [
        u("m1", Some("m2"), "one", 1),
        a("m2", "m1", text("two"), 2),
        json!({"type": "attachment", "uuid": "x1", "parentUuid": "x2"}),
        json!({"type": "attachment", "uuid": "x2", "parentUuid": "x1"}),
        u("m3", Some("x2"), "three", 3),
        u("m4", Some("m4"), "four", 4),
    ];
    assert_eq!(branch(&records), ["four"]);
    assert_eq!(branch(&records[..2]).len(), 2);
    assert_eq!(branch(&records[..5]), ["three"]);
}

#[test]
fn an_edit_result_hangs_off_a_file_history_record() {
    let mut records = base(1);
    records.push(a(
        "a1",
        "m2",
        json!([tu("t1", "Edit", json!({"file_path": "/p/x", "old_string": "a", "new_string": "b"}))]),
        5,
    ));
    records.push(json!({"type": "file-history-snapshot", "messageId": "snap", "snapshot": {"messageId": "m1", "trackedFileBackups": {}}}));
    records.push(tr("r1", "snap", "t1", "done", 6));
    records.push(a("a2", "r1", text("after"), 7));
    assert_eq!(branch(&records), ["prompt m1", "answer m2", "", "done", "after"]);
    records[4]["parentUuid"] = json!("lost");
    records[4]["sourceToolAssistantUUID"] = json!("a1");
    assert_eq!(branch(&records), ["prompt m1", "answer m2", "", "done", "after"]);
}

#[test]
fn results_of_parallel_calls_stand_one_after_the_other() {
    let one = |id: &str, parent: &str, call: &str| {
        with(a(id, parent, json!([tu(call, "Bash", json!({"command": call}))]), 5), &[("message.id", json!("msg_p"))])
    };
    let records = [
        u("m1", None, "go", 1),
        one("l1", "m1", "A"),
        one("l2", "l1", "B"),
        tr("rA", "l1", "A", "a done", 6),
        one("l3", "l2", "C"),
        tr("rB", "l2", "B", "b done", 7),
        tr("rC", "l3", "C", "c done", 8),
        a("m2", "rC", text("all done"), 9),
    ];
    assert_eq!(branch(&records), ["go", "", "a done", "b done", "c done", "all done"]);
    let demo = Demo::new();
    demo.session(S1, &records);
    let session = demo.read(S1);
    let calls = &session.nodes[1].tool_calls;
    assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["A", "B", "C"]);
    assert!(calls.iter().all(|call| call.status == Some(ToolCallStatus::Success)));
}

#[test]
fn orphans_are_shown_as_they_are() {
    let records = [
        u("m1", None, "go", 1),
        a("m2", "m1", json!([tu("A", "Bash", json!({})), tu("B", "Bash", json!({}))]), 2),
        tr("m3", "m2", "A", "a done", 3),
        u("m4", Some("m3"), "and now", 4),
        tr("m5", "m4", "Z", "who asked?", 5),
    ];
    let demo = Demo::new();
    demo.session(S1, &records);
    let session = demo.read(S1);
    let calls = &session.nodes[1].tool_calls;
    assert_eq!(calls.iter().map(|call| call.status).collect::<Vec<_>>(), [Some(ToolCallStatus::Success), None]);
    let orphan = &session.nodes[4];
    assert_eq!((orphan.role, orphan.content.as_str()), (Role::Tool, "who asked?"));
    assert_eq!((orphan.tool_call_id.as_deref(), orphan.tool_name.as_deref()), (Some("Z"), None));
}

#[test]
fn sub_agents_inside_a_transcript_are_sessions_of_their_own() {
    let side = |record: Value| with(record, &[("isSidechain", json!(true))]);
    let mut records = base(1);
    records.push(side(u("s1", None, "look around", 3)));
    records.push(side(a("s2", "s1", text("looking"), 4)));
    records.push(side(u("q1", None, "another", 5)));
    records.push(side(a("s3", "s2", text("seen"), 6)));
    let demo = Demo::new();
    demo.session(S1, &records);
    let rows = demo.rows(sepia_ir::SummaryDetail::Row);
    let told: Vec<_> =
        rows.iter().map(|row| (row.id.as_str(), row.title.as_str(), row.parent_session_id.as_deref())).collect();
    assert_eq!(
        told,
        [(S1, "prompt m1", None), ("agent-s1", "look around", Some(S1)), ("agent-q1", "another", Some(S1))]
    );
    assert_eq!(contents(&demo.read("agent-s1").nodes), ["look around", "looking", "seen"]);
    let by_parent = sepia_ir::SessionRef { id: S1.into(), agent_id: Some("q1".into()) };
    assert_eq!(contents(&demo.try_read(&by_parent).unwrap().nodes), ["another"]);
    assert_eq!(contents(&demo.read(S1).nodes), ["prompt m1", "answer m2"]);
}
