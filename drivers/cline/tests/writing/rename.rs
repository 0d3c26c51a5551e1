//! Another title, where the agent keeps it.

use crate::stand::{Stand, WRITE, by_id, foreign};
use sepia_driver_cline::Cline;
use sepia_ir::ErrorCode;
use sepia_sdk::SessionWrite;
use serde_json::Value;

const ID: &str = "1796033899098_ixt7m";

#[test]
fn row_and_manifest_get_it_and_nothing_else_changes() {
    let stand = Stand::sample("store");
    let before = stand.manifest(ID);
    let text = std::fs::read_to_string(stand.data().join(format!("sessions/{ID}/{ID}.json"))).unwrap();
    Cline::rename(&stand.host(), &by_id(ID), "What \"it\" holds").unwrap();
    assert_eq!(stand.read(ID).title, "What \"it\" holds");
    let mut wanted = before;
    wanted["metadata"]["title"] = "What \"it\" holds".into();
    assert_eq!(stand.manifest(ID), wanted);
    // Down to the form of the file.
    let new = std::fs::read_to_string(stand.data().join(format!("sessions/{ID}/{ID}.json"))).unwrap();
    assert_eq!(new.trim_end(), text.replace("\"Cart contents\"", "\"What \\\"it\\\" holds\"").trim_end());
    let (meta, lock): (String, i64) = stand
        .database()
        .query_row("SELECT metadata_json, status_lock FROM sessions WHERE session_id = ?", [ID], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let meta: Value = serde_json::from_str(&meta).unwrap();
    assert_eq!(meta, wanted["metadata"]);
    assert!(lock > 0);
    stand.holds_the_laws();
}

#[test]
fn a_saved_session_and_one_of_only_a_row_can_be_renamed() {
    let stand = Stand::sample("store");
    let id = stand.save(&foreign(), &WRITE).unwrap().id;
    std::fs::remove_dir_all(stand.data().join(format!("sessions/{ID}"))).unwrap();
    let child = "1796033877642_gjr43__agent_1796033878295_t9nnmi";
    for id in [id.as_str(), ID, child] {
        Cline::rename(&stand.host(), &by_id(id), "Another").unwrap();
        assert_eq!(stand.read(id).title, "Another", "{id}");
    }
    stand.holds_the_laws();
}

#[test]
fn long_titles_are_cut_as_the_agent_cuts_them() {
    let stand = Stand::new();
    let id = stand.save(&foreign(), &WRITE).unwrap().id;
    Cline::rename(&stand.host(), &by_id(&id), &"x".repeat(200)).unwrap();
    assert_eq!(stand.read(&id).title.len(), 120);
    for title in ["", " ", "a\nb"] {
        assert_eq!(Cline::rename(&stand.host(), &by_id(&id), title).unwrap_err().code, ErrorCode::Invalid);
    }
}
