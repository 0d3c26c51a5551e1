//! Sessions cut back.

use crate::demo::{Demo, by_id, ids, meta};
use crate::store::{NEW, everything, foreign, rows, save, writing};
use rusqlite::types::Value as Sql;
use sepia_driver_devin::Devin;
use sepia_ir::{CheckpointRef, ErrorCode, RewindPlan, Session};
use sepia_sdk::SessionWrite;

fn plan(session: &Session, tip: i64) -> (RewindPlan, Session) {
    let all = ids(&session.nodes);
    let (kept, removed) = all.into_iter().partition(|node| *node <= tip);
    let header =
        Session { main_chain_id: tip, nodes: Vec::new(), last_activity_at: 1_790_001_046.0, ..session.clone() };
    (RewindPlan { kept, removed, removed_tool_call_ids: vec!["call_exec_2".into()] }, header)
}

#[test]
fn another_node_becomes_the_newest_and_no_row_is_lost() {
    let demo = Demo::sample("tools");
    let before = rows(&demo, "SELECT * FROM message_nodes ORDER BY row_id");
    let (plan, header) = plan(&demo.read("brisk-lantern"), 8);
    Devin::rewind(&writing(&demo), &by_id("brisk-lantern"), &plan, header).unwrap();
    assert_eq!(rows(&demo, "SELECT * FROM message_nodes ORDER BY row_id"), before);
    assert_eq!(
        rows(&demo, "SELECT main_chain_id, last_activity_at FROM sessions"),
        [[Sql::Integer(8), Sql::Integer(1_790_001_046)]]
    );
    assert_eq!(demo.live("brisk-lantern"), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(demo.row("brisk-lantern").main_chain_id, 8);
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn a_session_without_messages_is_left_when_none_stays() {
    let demo = Demo::sample("basic");
    let others = |demo: &Demo| rows(demo, "SELECT * FROM message_nodes WHERE session_id <> 'amber-otter'");
    let before = others(&demo);
    let session = demo.read("amber-otter");
    let plan = RewindPlan { kept: vec![], removed: ids(&session.nodes), removed_tool_call_ids: vec![] };
    let header = Session { main_chain_id: 0, nodes: Vec::new(), ..session };
    Devin::rewind(&writing(&demo), &by_id("amber-otter"), &plan, header).unwrap();
    let read = demo.read("amber-otter");
    assert_eq!((read.nodes.len(), read.main_chain_id, read.prompt_history.len()), (0, 0, 3));
    assert_eq!(others(&demo), before);
}

#[test]
fn a_plan_that_does_not_fit_changes_nothing() {
    let demo = Demo::sample("tools");
    let before = everything(&demo);
    let session = demo.read("brisk-lantern");
    let host = writing(&demo);
    let (good, header) = plan(&session, 8);
    let error = Devin::rewind(&host, &by_id("brisk-lantern"), &good, Session { main_chain_id: 9, ..header.clone() });
    assert_eq!(error.unwrap_err().code, ErrorCode::Invalid);
    let gone = RewindPlan { kept: vec![1, 77], ..good };
    let error = Devin::rewind(&host, &by_id("brisk-lantern"), &gone, Session { main_chain_id: 77, ..header });
    assert_eq!(error.unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(everything(&demo), before);
}

#[test]
fn checkpoints_behind_the_cut_go() {
    let demo = Demo::new();
    let mut session = foreign();
    let point = |name: &str, at: f64| CheckpointRef {
        ref_: name.into(),
        created_at: at,
        run_count: Some(1),
        kind: Some("commit".into()),
    };
    session.checkpoints = vec![point("a", 1_767_225_601_000.0), point("b", 1_767_225_604_000.0)];
    let report = save(&demo, &session, &NEW).unwrap();
    let read = demo.read(&report.id);
    assert_eq!(read.checkpoints, session.checkpoints);
    assert_eq!(Devin::checkpoints(&writing(&demo), &by_id(&report.id)).unwrap(), session.checkpoints);
    let plan = RewindPlan { kept: vec![1], removed: vec![2, 3, 4], removed_tool_call_ids: vec![] };
    let header = Session {
        main_chain_id: 1,
        nodes: Vec::new(),
        checkpoints: session.checkpoints[..1].to_vec(),
        last_activity_at: 1_767_225_601.25,
        ..read
    };
    Devin::rewind(&writing(&demo), &by_id(&report.id), &plan, header).unwrap();
    let read = demo.read(&report.id);
    assert_eq!((read.checkpoints.len(), read.main_chain_id, demo.live(&report.id)), (1, 1, vec![1]));
    assert_eq!(meta(&read.metadata)["b"], 1);
}
