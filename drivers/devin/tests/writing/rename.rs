//! Another title.

use crate::demo::{Demo, by_id, meta};
use crate::store::{NEW, everything, foreign, rows, save, writing};
use rusqlite::types::Value as Sql;
use sepia_driver_devin::Devin;
use sepia_ir::ErrorCode;
use sepia_sdk::SessionWrite;

#[test]
fn a_title_is_in_the_column_and_nothing_else_changes() {
    let demo = Demo::sample("basic");
    let before = everything(&demo);
    Devin::rename(&writing(&demo), &by_id("amber-otter"), "Another title").unwrap();
    let after = everything(&demo);
    let is_renamed = |value: &Sql| *value == Sql::Text("Another title".into());
    let mut changed = 0;
    for ((table, before), (_, after)) in before.iter().zip(&after) {
        for (before, after) in before.iter().zip(after) {
            changed += before.iter().zip(after).filter(|(old, new)| old != new).count();
            assert!(before == after || table == "sessions" && after.iter().any(is_renamed));
        }
    }
    assert_eq!(changed, 1);
    let row = demo.row("amber-otter");
    assert_eq!((row.title.as_str(), &meta(&row.metadata)["titleSource"]), ("Another title", &"agent".into()));
}

#[test]
fn a_title_that_rode_along_is_none_any_more() {
    let demo = Demo::new();
    let mut session = foreign();
    session.title = "Untitled".into();
    let report = save(&demo, &session, &NEW).unwrap();
    assert_eq!(demo.read(&report.id).title, "Untitled");
    Devin::rename(&writing(&demo), &by_id(&report.id), "Fix the cart test.").unwrap();
    assert_eq!(
        (demo.read(&report.id).title.as_str(), demo.row(&report.id).title.as_str()),
        ("Fix the cart test.", "Fix the cart test.")
    );
    assert_eq!(demo.read(&report.id).nodes, session.nodes);
}

#[test]
fn titles_are_one_line_and_not_endless() {
    let demo = Demo::sample("basic");
    let before = rows(&demo, "SELECT title FROM sessions");
    for title in ["", "two\nlines", &"x".repeat(201), "a\u{1b}[31m"] {
        let error = Devin::rename(&writing(&demo), &by_id("amber-otter"), title).unwrap_err();
        assert_eq!(error.code, ErrorCode::Invalid);
    }
    assert_eq!(rows(&demo, "SELECT title FROM sessions"), before);
    demo.write("transcripts/only-there.json", r#"{"schema_version":"ATIF-v1.7","steps":[]}"#);
    let error = Devin::rename(&writing(&demo), &by_id("only-there"), "x").unwrap_err();
    assert_eq!(error.code, ErrorCode::Unsupported);
}
