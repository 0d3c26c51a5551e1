//! Where sessions are, and which directory they belong to.

use crate::demo::{Demo, S1, S2, S3, base, lines, u, with};
use sepia_driver_claude::Claude;
use sepia_ir::SummaryDetail;
use sepia_sdk::SessionRead;
use serde_json::json;
use std::os::unix::fs::symlink;

#[test]
fn the_directory_is_what_the_records_say() {
    let demo = Demo::new();
    let cwds = [(S1, "/p/my_app.v2/a b"), (S2, "/p/my-app-v2/a-b"), (S3, "/p/my/app/v2/a/b")];
    for (id, cwd) in cwds {
        let record = with(u("m1", None, "hi", 1), &[("cwd", json!(cwd))]);
        demo.write(&format!("projects/-p-my-app-v2-a-b/{id}.jsonl"), lines(&[record]));
    }
    let windows = with(u("m1", None, "hi", 1), &[("cwd", json!("C:\\w\\my_p"))]);
    demo.write("projects/C--w-my-p/w.jsonl", lines(&[windows]));
    for (id, cwd) in cwds.into_iter().chain([("w", "C:\\w\\my_p")]) {
        assert_eq!(demo.row(id).working_directory, cwd);
    }
    let unknown = with(u("m1", None, "hi", 1), &[("cwd", json!(null))]);
    demo.write("projects/-p-secret/n.jsonl", lines(&[unknown]));
    assert_eq!(demo.row("n").working_directory, "");
}

#[test]
fn linked_projects_are_read_once() {
    let shared = tempfile::tempdir().unwrap();
    let folder = shared.path().join("-p-demo");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(format!("{S1}.jsonl")), lines(&base(1))).unwrap();
    let demo = Demo::new();
    let projects = demo.root().join("projects");
    std::fs::create_dir(&projects).unwrap();
    symlink(&folder, projects.join("-p-demo")).unwrap();
    symlink(&projects, projects.join("-p-loop")).unwrap();
    symlink("-p-demo", projects.join("-p-dup")).unwrap();
    symlink(shared.path().join("nowhere"), projects.join("-p-gone")).unwrap();
    let host = demo.host();
    let keys: Vec<String> = Claude::scan(&host).unwrap().entries.into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys.len(), 1);
    let summaries = Claude::summaries(&host, &keys, SummaryDetail::Row).unwrap();
    assert_eq!(summaries[0].sessions[0].id, S1);
    assert_eq!(demo.read(S1).nodes.len(), 2);
}

#[test]
fn both_layouts_of_sub_agents_are_found() {
    let demo = Demo::new();
    demo.session(S1, &base(1));
    let agent = |agent: &str| {
        let record = with(u("s1", None, "look around", 3), &[("isSidechain", json!(true)), ("agentId", json!(agent))]);
        lines(&[record])
    };
    demo.write("projects/-p-demo/agent-old1.jsonl", agent("old1"));
    demo.write(&format!("projects/-p-demo/{S1}/subagents/agent-new1.jsonl"), agent("new1"));
    for (id, agent_id) in [("agent-old1", "old1"), ("agent-new1", "new1")] {
        let row = demo.row(id);
        assert_eq!((row.parent_session_id.as_deref(), row.agent_id.as_deref()), (Some(S1), Some(agent_id)));
        assert_eq!((row.title.as_str(), demo.read(id).nodes.len()), ("look around", 1));
    }
}

#[test]
fn a_stamp_changes_with_all_that_a_row_is_made_of() {
    let demo = Demo::new();
    demo.session(S1, &base(1));
    let stamp = || Claude::scan(&demo.host()).unwrap().entries[0].stamp.clone();
    let first = stamp();
    assert_eq!(stamp(), first);
    demo.write(&format!("projects/-p-demo/{S1}/custom-title.json"), "{\"customTitle\":\"Mine\"}");
    let titled = stamp();
    assert_ne!(titled, first);
    demo.session(S1, &base(2));
    assert_ne!(stamp(), titled);
    let entry = Claude::scan(&demo.host()).unwrap().entries.remove(0);
    assert_eq!((entry.session_id.as_deref(), entry.changed_at), (Some(S1), 1_798_000_000.0));
}
