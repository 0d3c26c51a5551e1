//! Where the store may be: behind links, beside other things, and by which variable.

use crate::demo::{Demo, S1, S2, talk};
use sepia_driver_cline::Cline;
use sepia_ir::SummaryDetail;
use sepia_sdk::Driver;
use std::os::unix::fs::symlink;

#[test]
fn linked_session_folders_are_followed_once_and_linked_files_not_out() {
    let shared = Demo::new();
    shared.session(S1, &talk(1));
    shared.session(S2, &talk(2));
    let demo = Demo::new();
    let sessions = demo.root().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    symlink(shared.root().join("sessions").join(S1), sessions.join(S1)).unwrap();
    symlink(&sessions, sessions.join("loop")).unwrap();
    symlink(demo.root().join("nowhere"), sessions.join("gone")).unwrap();
    demo.manifest("3_c", &[]);
    symlink(shared.root().join(format!("sessions/{S2}/{S2}.messages.json")), sessions.join("3_c/3_c.messages.json"))
        .unwrap();
    let host = demo.host();
    let entries = <Cline as sepia_sdk::SessionRead>::scan(&host).unwrap().entries;
    let ids: Vec<_> = entries.iter().filter_map(|entry| entry.session_id.as_deref()).collect();
    assert_eq!(ids, [S1, "3_c"]);
    let keys: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    let rows = <Cline as sepia_sdk::SessionRead>::summaries(&host, &keys, SummaryDetail::Stats).unwrap();
    assert!(rows.iter().all(|summary| summary.warnings.is_empty() && summary.sessions.len() == 1));
    assert!(rows[1].sessions[0].metadata.contains("no-transcript"));
    assert!(rows[0].sessions[0].metadata.contains("\"messages\":2"));
}

#[test]
fn what_lies_beside_sessions_is_none() {
    let demo = Demo::new();
    demo.session(S1, &talk(1));
    demo.write("sessions/stray.json", "{}");
    demo.write("sessions/stray.messages.json", "[]");
    demo.write(&format!("sessions/{S1}/notes.txt"), "x");
    demo.write("sessions/empty/notes.txt", "x");
    demo.write("settings/providers.json", "{\"apiKey\":\"x\"}");
    demo.write("tasks/stray.json", "[]");
    demo.write("tasks/1/other.json", "[]");
    assert_eq!(demo.ids(), [S1]);
    assert_eq!(demo.scan().warnings, []);
}

#[test]
fn the_agents_own_variables_move_the_store() {
    let place = |set: &[&str]| {
        let request = Cline::manifest().stores.into_iter().find(|store| store.name == "cline").unwrap();
        let moved = request.env.iter().find(|entry| set.contains(&entry.split('/').next().unwrap()));
        moved.cloned().unwrap_or(request.default_path)
    };
    assert_eq!(place(&["CLINE_DIR", "CLINE_DATA_DIR"]), "CLINE_DATA_DIR");
    assert_eq!(place(&["CLINE_DIR"]), "CLINE_DIR/data");
    assert_eq!(place(&[]), "~/.cline/data");
}
