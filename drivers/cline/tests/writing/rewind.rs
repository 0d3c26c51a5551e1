//! A session cut back is the first part of it, to the byte where it can be.

use crate::stand::{Stand, by_id, foreign};
use sepia_driver_cline::Cline;
use sepia_ir::{ErrorCode, RewindPlan, Session};
use sepia_sdk::SessionWrite;
use serde_json::json;

/// Cuts a session back to so many nodes, as the host does.
pub fn cut(stand: &Stand, host: &sepia_sdk::Host, id: &str, nodes: usize) -> Result<(), sepia_ir::DriverError> {
    let session = stand.read(id);
    let ids = |nodes: &[sepia_ir::MessageNode]| nodes.iter().map(|node| node.node_id).collect();
    let plan = RewindPlan {
        kept: ids(&session.nodes[..nodes]),
        removed: ids(&session.nodes[nodes..]),
        removed_tool_call_ids: Vec::new(),
    };
    let last = session.nodes[..nodes].last();
    let header = Session {
        main_chain_id: last.map_or(0, |node| node.node_id),
        last_activity_at: last.map_or(session.created_at, |node| node.created_at),
        nodes: Vec::new(),
        ..session.clone()
    };
    Cline::rewind(host, &by_id(id), &plan, header)
}

#[test]
fn what_stays_stays_to_the_byte() {
    let id = "1796033869111_nx4n4";
    let stand = Stand::sample("store");
    let before = stand.messages(id);
    let (old, nodes) = (stand.manifest(id), stand.read(id).nodes);
    cut(&stand, &stand.host(), id, 5).unwrap();
    assert_eq!(stand.messages(id), before[..5]);
    let read = stand.read(id);
    assert_eq!(read.nodes.len(), 5);
    assert_eq!(read.nodes[..3], nodes[..3]);
    assert_eq!((read.main_chain_id, read.last_activity_at), (5, nodes[4].created_at));
    // One transcript is there, and row and manifest name it.
    let new = stand.manifest(id);
    let path = new["messages_path"].as_str().unwrap().to_owned();
    assert_eq!(stand.files(id).len(), 2);
    let of_row: String = stand
        .database()
        .query_row("SELECT messages_path FROM sessions WHERE session_id = ?", [id], |row| row.get(0))
        .unwrap();
    assert_eq!(of_row, path);
    let rest = |manifest: &serde_json::Value| {
        let mut manifest = manifest.clone();
        manifest["messages_path"].take();
        manifest["ended_at"].take();
        manifest
    };
    assert_eq!(rest(&new), rest(&old));
    stand.holds_the_laws();
    // Again, and to nothing at all.
    cut(&stand, &stand.host(), id, 2).unwrap();
    assert_eq!(stand.messages(id), before[..2]);
    cut(&stand, &stand.host(), id, 0).unwrap();
    assert!(stand.read(id).nodes.is_empty());
    stand.holds_the_laws();
}

#[test]
fn a_cut_between_the_nodes_of_one_message_splits_it() {
    let stand = Stand::new();
    let id = "1767225600000_aaaaa";
    let mut session = foreign();
    session.id = id.into();
    stand.save(&session, &crate::stand::WRITE).unwrap();
    let path = stand.data().join(format!("sessions/{id}/{id}.messages.json"));
    let result = |call: &str| json!({"type": "tool_result", "tool_use_id": call, "content": call});
    let messages = json!([
        {"id": "1", "role": "user", "content": "go", "ts": 1_767_225_600_000u64},
        {"id": "2", "role": "user", "ts": 1_767_225_601_000u64, "content": [result("a"), {"type": "text", "text": "and"}, result("b")]},
    ]);
    std::fs::write(&path, json!({"version": 1, "messages": messages, "system_prompt": "x".repeat(20_000)}).to_string())
        .unwrap();
    assert_eq!(stand.read(id).nodes.len(), 4);
    cut(&stand, &stand.host(), id, 2).unwrap();
    assert_eq!(stand.messages(id)[1]["content"], json!([result("a")]));
    let file = stand.manifest(id)["messages_path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    // What stands around the messages is kept.
    assert_eq!(stand.json(&format!("sessions/{id}/{file}"))["system_prompt"], "x".repeat(20_000));
}

#[test]
fn what_came_from_elsewhere_stays_what_it_was() {
    let stand = Stand::new();
    let session = foreign();
    let (report, before) = stand.saved(&session);
    cut(&stand, &stand.host(), &report.id, 2).unwrap();
    let read = stand.read(&report.id);
    assert_eq!(read.nodes, before.nodes[..2]);
    assert_eq!((read.title, read.last_activity_at), (before.title, before.nodes[1].created_at));
    let metadata: serde_json::Value = serde_json::from_str(&read.metadata).unwrap();
    assert_eq!(metadata["elsewhere"], json!({"b": 2, "a": [1]}));
    stand.holds_the_laws();
}

#[test]
fn a_compaction_goes_when_what_it_was_made_of_does() {
    let id = "1796033869111_nx4n4";
    for (nodes, stays) in [(14, true), (5, false)] {
        let stand = Stand::sample("compacted");
        cut(&stand, &stand.host(), id, nodes).unwrap();
        assert_eq!(stand.files(id).iter().any(|name| name.ends_with(".compaction.json")), stays, "{nodes}");
        stand.holds_the_laws();
    }
}

#[test]
fn a_sub_agent_is_cut_back_where_it_is() {
    let id = "1796033877642_gjr43__agent_1796033878295_t9nnmi";
    let stand = Stand::sample("store");
    let parent = stand.read("1796033877642_gjr43").nodes;
    cut(&stand, &stand.host(), id, 1).unwrap();
    assert_eq!(stand.read(id).nodes.len(), 1);
    assert_eq!(stand.read("1796033877642_gjr43").nodes, parent);
    stand.holds_the_laws();
}

#[test]
fn a_plan_of_another_state_is_refused() {
    let id = "1796033869111_nx4n4";
    let stand = Stand::sample("store");
    let before = stand.listing();
    for (kept, removed) in [(vec![1, 2], vec![3]), (vec![1], vec![]), (vec![1, 1], vec![2]), (vec![-1], vec![99])] {
        let plan = RewindPlan { kept, removed, removed_tool_call_ids: Vec::new() };
        let header = Session { nodes: Vec::new(), ..stand.read(id) };
        let error = Cline::rewind(&stand.host(), &by_id(id), &plan, header).unwrap_err();
        assert_eq!(error.code, ErrorCode::Conflict);
    }
    assert_eq!(stand.listing(), before);
}
