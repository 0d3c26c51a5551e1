//! Sub-agents and teammates: sessions of their own, with or without the index.

use crate::demo::{Demo, S1, contents, meta, talk, text, transcript, user};
use sepia_ir::{ErrorCode, SessionRef, SummaryDetail};
use serde_json::json;
use std::fs;

const LEAD: &str = "1796033877642_gjr43";
const AGENT: &str = "agent_1796033878295_t9nnmi";
const TEAM: &str = "1796033881650_kvapw";

fn hold(demo: &Demo) {
    let agent = demo.row(&format!("{LEAD}__{AGENT}"));
    assert_eq!((agent.parent_session_id.as_deref(), agent.agent_id.as_deref()), (Some(LEAD), Some(AGENT)));
    assert_eq!(
        (agent.title.as_str(), agent.working_directory.as_str()),
        ("Count the files in the project.", "/home/dev/shop")
    );
    assert_eq!(agent.model, "mock-1");
    let mate = demo.row(&format!("{TEAM}__teamtask__scout__aIFHpe"));
    assert_eq!((mate.parent_session_id.as_deref(), mate.agent_id.as_deref()), (Some(TEAM), Some("scout")));
    assert_eq!((mate.title.as_str(), &meta(&mate.metadata)["agentType"]), ("Count files.", &json!("teammate")));
    for (id, parent, own) in [(agent.id, LEAD, AGENT), (mate.id, TEAM, "scout")] {
        let read = demo.read(&id);
        assert_eq!(read.nodes.len(), 4, "{id}");
        assert_eq!(contents(&read)[3], "There are 3 files.");
        let by_parent = demo.try_read(&SessionRef { id: parent.into(), agent_id: Some(own.into()) }).unwrap();
        assert_eq!(by_parent, read);
    }
}

#[test]
fn of_the_samples_with_the_index() {
    let demo = Demo::sample("store");
    hold(&demo);
    let row = demo.row(&format!("{LEAD}__{AGENT}"));
    // 2026-11-30T10:17:58.297Z and .609Z
    assert_eq!((row.created_at, row.last_activity_at), (1_796_033_878.297, 1_796_033_878.609));
    assert_eq!(meta(&row.metadata)["parentAgentId"], json!("agent_1796033877858_u1c494"));
}

#[test]
fn of_the_samples_without_the_index() {
    let demo = Demo::sample("store");
    fs::remove_dir_all(demo.root().join("db")).unwrap();
    hold(&demo);
    assert_eq!(demo.rows(SummaryDetail::Row).len(), 13);
    let row = demo.row(&format!("{LEAD}__{AGENT}"));
    // The first message, and when the file was written.
    assert_eq!((row.created_at, row.last_activity_at), (1_796_033_878.301, 1_796_033_878.605));
}

#[test]
fn several_tasks_of_one_teammate_are_told_apart() {
    let demo = Demo::new();
    demo.session(S1, &talk(1));
    for (task, n) in [("aaaaaa", 1), ("bbbbbb", 2)] {
        let messages = [user("x", text(&format!("Task {task}")), n)];
        demo.write(&format!("sessions/{S1}/scout__{task}.messages.json"), transcript("x", &messages));
    }
    let row = |task: &str| demo.row(&format!("{S1}__teamtask__scout__{task}"));
    assert_eq!(row("aaaaaa").agent_id.as_deref(), Some("scout__aaaaaa"));
    assert_eq!(row("bbbbbb").title, "Task bbbbbb");
    let read = |agent: &str| demo.try_read(&SessionRef { id: S1.into(), agent_id: Some(agent.into()) });
    assert_eq!(contents(&read("scout__aaaaaa").unwrap()), ["Task aaaaaa"]);
    assert!(read("scout").is_ok());
    assert_eq!(read("nobody").unwrap_err().code, ErrorCode::NotFound);
    // The lead's own messages are no sub-agent's.
    assert_eq!(read(S1).unwrap_err().code, ErrorCode::NotFound);
}
