//! Renaming.

use crate::demo::{S1, base};
use crate::written::{Ground, by_id, chain, says, session};
use sepia_driver_claude::Claude;
use sepia_ir::{ErrorCode, Role};
use sepia_sdk::SessionWrite;
use serde_json::json;

#[test]
fn a_title_is_one_record_at_the_end() {
    let ground = Ground::new();
    let path = ground.demo.session(S1, &base(1));
    let before = std::fs::read_to_string(&path).unwrap();
    Claude::rename(&ground.host(), &by_id(S1), "Tax \"work\"").unwrap();
    let after = std::fs::read_to_string(&path).unwrap();
    let added = after.strip_prefix(&before).unwrap();
    assert!(added.ends_with('\n'));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(added).unwrap(),
        json!({"type": "custom-title", "customTitle": "Tax \"work\"", "sessionId": S1})
    );
    assert_eq!(ground.demo.row(S1).title, "Tax \"work\"");
    assert_eq!(ground.demo.read(S1).title, "Tax \"work\"");
}

#[test]
fn a_title_beside_the_session_is_changed_too() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(1));
    ground.demo.write(&format!("projects/-p-demo/{S1}/custom-title.json"), "{\"customTitle\":\"Old\"}");
    Claude::rename(&ground.host(), &by_id(S1), "New").unwrap();
    assert_eq!(ground.demo.row(S1).title, "New");
}

#[test]
fn what_was_brought_here_can_be_renamed() {
    let ground = Ground::new();
    for title in ["Work", "two\nlines", ""] {
        let mut session = session(chain(vec![says(Role::User, "a"), says(Role::Assistant, "b")]));
        session.title = title.into();
        let (report, _) = ground.saved(&session);
        Claude::rename(&ground.host(), &by_id(&report.id), "Other").unwrap();
        assert_eq!(
            (ground.demo.row(&report.id).title, ground.demo.read(&report.id).title),
            ("Other".into(), "Other".into())
        );
        assert_eq!(ground.demo.read(&report.id).main_chain_id, 2);
    }
}

#[test]
fn a_line_that_is_not_ended_is_not_added_to() {
    let ground = Ground::new();
    let text = crate::demo::lines(&base(1));
    let path = ground.demo.write(&format!("projects/-p-demo/{S1}.jsonl"), text.trim_end());
    let error = Claude::rename(&ground.host(), &by_id(S1), "x").unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict);
    assert_eq!(std::fs::read_to_string(path).unwrap(), text.trim_end());
}

#[test]
fn odd_titles_are_refused() {
    let ground = Ground::new();
    ground.demo.session(S1, &base(1));
    let before = ground.demo.bytes();
    for title in ["", "  ", "a\nb", "a\u{1b}[31m"] {
        assert_eq!(Claude::rename(&ground.host(), &by_id(S1), title).unwrap_err().code, ErrorCode::Invalid);
    }
    assert_eq!(ground.demo.bytes(), before);
}
