//! Sessions taken away and brought back.

use crate::demo::{Demo, by_id};
use crate::store::{NEW, everything, foreign, native, native_writing, save, writing};
use sepia_conformance::tree_hash;
use sepia_driver_devin::Devin;
use sepia_ir::{DeleteOutcome, ErrorCode};
use sepia_sdk::{Host, SessionWrite};
use sepia_services::TrashEntry;
use std::path::Path;

fn places(demo: &Demo, id: &str) -> Vec<String> {
    Devin::plan_delete(&writing(demo), &by_id(id)).unwrap().into_iter().map(|artifact| artifact.place).collect()
}

fn delete(demo: &Demo, id: &str, trash: &Path) -> DeleteOutcome {
    Devin::delete(&Host::new(native(demo)).and_writing(native_writing(demo, Some(trash))), &by_id(id)).unwrap()
}

/// Puts files back as the host does.
fn put_back(trash: &Path) {
    let entry = TrashEntry::read(trash.to_owned()).unwrap();
    entry.items().iter().for_each(|item| entry.put_back(item).unwrap());
}

#[test]
fn a_plan_names_all_that_belongs_to_a_session_and_nothing_else() {
    let demo = Demo::sample("basic");
    demo.write("session_locks/amber-otter.lock", "1");
    demo.write("session_locks/amber-otter2.lock", "1");
    demo.write("summaries/amber-otter.md", "x");
    demo.write("summaries/root/amber-otter.md", "x");
    demo.write("transcripts/amber-otter.json.bak", "x");
    let before = tree_hash(demo.root()).unwrap();
    let expected = [
        "message_nodes:amber-otter",
        "prompt_history:amber-otter",
        "sessions:amber-otter",
        "transcripts/amber-otter.json",
        "summaries/amber-otter.md",
        "session_locks/amber-otter.lock",
    ];
    assert_eq!(places(&demo, "amber-otter"), expected);
    assert_eq!(tree_hash(demo.root()).unwrap(), before);
}

#[test]
fn what_is_deleted_comes_back_to_the_byte() {
    for (case, id) in [
        ("basic", "amber-otter"),
        ("tools", "brisk-lantern"),
        ("subagent", "fern-saddle"),
        ("old-schema", "c0a8f7f2-4a55-4b0e-9a61-77d0b5a9e001"),
    ] {
        let demo = Demo::sample(case);
        let trash = tempfile::tempdir().unwrap();
        let trash = trash.path().join("entry");
        let before = everything(&demo);
        let transcripts = demo.root().join("transcripts");
        let files = |folder: &Path| -> Vec<(String, Vec<u8>)> {
            let mut files: Vec<_> =
                std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            files.into_iter().map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
        };
        let held = files(&transcripts);
        let plan = Devin::plan_delete(&writing(&demo), &by_id(id)).unwrap();
        let outcome = delete(&demo, id, &trash);
        assert_eq!((outcome.removed, outcome.failed), (plan, vec![]));
        assert!(demo.try_read(&by_id(id)).is_err());
        assert!(demo.scan().entries.iter().all(|entry| entry.session_id.as_deref() != Some(id)));
        let again = Devin::delete(&writing(&demo), &by_id(id)).unwrap_err();
        assert_eq!(again.code, ErrorCode::NotFound);
        put_back(&trash);
        Devin::undelete(&writing(&demo), &outcome.undo).unwrap();
        assert_eq!(everything(&demo), before, "{case}");
        assert_eq!(files(&transcripts), held);
        // Twice would be one too many.
        assert_eq!(Devin::undelete(&writing(&demo), &outcome.undo).unwrap_err().code, ErrorCode::Conflict);
    }
}

#[test]
fn sub_agents_go_with_their_session_and_alone() {
    let demo = Demo::sample("subagent");
    let trash = tempfile::tempdir().unwrap();
    let before = everything(&demo);
    assert!(places(&demo, "golden-ferry").contains(&"sessions:golden-ferry-sub".to_owned()));
    let outcome = delete(&demo, "golden-ferry", &trash.path().join("a"));
    assert!(demo.try_read(&by_id("golden-ferry-sub")).is_err());
    assert!(demo.try_read(&by_id("fern-saddle")).is_ok());
    Devin::undelete(&writing(&demo), &outcome.undo).unwrap();
    assert_eq!(everything(&demo), before);
    let outcome = delete(&demo, "golden-ferry-sub", &trash.path().join("b"));
    assert!(demo.try_read(&by_id("golden-ferry")).is_ok() && demo.try_read(&by_id("golden-ferry-sub")).is_err());
    Devin::undelete(&writing(&demo), &outcome.undo).unwrap();
    assert_eq!(everything(&demo), before);
}

#[test]
fn a_summary_goes_with_the_only_session_that_names_it() {
    let demo = Demo::sample("compaction");
    let summary = "summaries/root/history_0a1b2c3d.md".to_owned();
    assert!(places(&demo, "olive-harbor").contains(&summary));
    let copy = demo.read("olive-harbor");
    let report = save(&demo, &sepia_ir::Session { id: String::new(), ..copy }, &NEW).unwrap();
    assert!(!places(&demo, "olive-harbor").contains(&summary));
    assert!(!places(&demo, &report.id).contains(&summary));
}

#[test]
fn a_session_that_is_only_a_transcript_goes_too() {
    let demo = Demo::sample("basic");
    let before = everything(&demo);
    demo.write("transcripts/only-there.json", r#"{"schema_version":"ATIF-v1.7","steps":[]}"#);
    let trash = tempfile::tempdir().unwrap();
    let outcome = delete(&demo, "only-there", &trash.path().join("a"));
    assert_eq!((outcome.removed.len(), outcome.undo.len()), (1, 0));
    assert!(!demo.root().join("transcripts/only-there.json").exists());
    assert_eq!(everything(&demo), before);
}

#[test]
fn what_stays_is_said() {
    let demo = Demo::sample("basic");
    // No trash: files can't be moved anywhere.
    let outcome = Devin::delete(&writing(&demo), &by_id("amber-otter")).unwrap();
    let failed: Vec<&str> = outcome.failed.iter().map(|(artifact, _)| artifact.place.as_str()).collect();
    assert_eq!(failed, ["transcripts/amber-otter.json"]);
    assert!(outcome.failed.iter().all(|(_, reason)| !reason.is_empty()));
    assert!(outcome.removed.iter().all(|artifact| artifact.place != "transcripts/amber-otter.json"));
    assert!(demo.root().join("transcripts/amber-otter.json").exists());
}

#[test]
fn a_table_of_a_later_version_is_emptied_too() {
    let demo = Demo::new();
    demo.sql("CREATE TABLE later (id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, note BLOB, weight REAL)");
    let report = save(&demo, &foreign(), &NEW).unwrap();
    demo.sql(&format!(
        "INSERT INTO later (session_id, note, weight) VALUES ('{0}', x'00ff', 0.1), ('other', x'01', 2.5)",
        report.id
    ));
    let before = everything(&demo);
    let outcome = Devin::delete(&writing(&demo), &by_id(&report.id)).unwrap();
    assert_eq!(crate::store::rows(&demo, "SELECT session_id FROM later").len(), 1);
    Devin::undelete(&writing(&demo), &outcome.undo).unwrap();
    assert_eq!(everything(&demo), before);
}

#[test]
fn undo_that_was_tampered_with_writes_nowhere_else() {
    let demo = Demo::sample("basic");
    let before = everything(&demo);
    let undo = r#"{"version":1,"sessions":[{"database":"sessions.db","id":"x","tables":[{"table":"app_state","columns":["key","value"],"rows":[["a","b"]]}]}]}"#;
    assert!(Devin::undelete(&writing(&demo), undo.as_bytes()).is_err());
    assert_eq!(everything(&demo), before);
}
