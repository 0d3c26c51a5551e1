//! The index: what only it knows, what it knows otherwise, and when it can't be read.

use crate::demo::{Demo, S1, S2, T0, contents, meta, t, talk, warnings};
use sepia_ir::{SessionRef, SummaryDetail};
use serde_json::json;

fn row(demo: &Demo, id: &str) {
    let insert = "INSERT INTO sessions (session_id, source, pid, started_at, ended_at, exit_code, status, interactive, provider,
        model, cwd, workspace_root, prompt, metadata_json, messages_path, updated_at)
        VALUES (?1, 'cli', 4000000, ?2, ?3, 0, 'completed', 0, 'some', 'model-2', '/p/row', '/p/row', 'prompt of the row',
        '{\"title\":\"Title of the row\"}', '/nowhere/x.messages.json', ?3)";
    demo.database().execute(insert, rusqlite::params![id, t(5), t(70)]).unwrap();
}

#[test]
fn the_manifest_wins_and_the_row_fills_in() {
    let demo = Demo::new();
    for id in [S1, S2] {
        demo.messages(id, &talk(1));
        row(&demo, id);
    }
    demo.manifest(S1, &[("metadata", json!({}))]);
    let known = demo.row(S1);
    assert_eq!((known.working_directory.as_str(), known.model.as_str()), ("/p/demo", "model-1"));
    assert_eq!(known.title, "Title of the row");
    // A row without a manifest is a session, too.
    let only = demo.row(S2);
    assert_eq!(
        (only.title.as_str(), only.working_directory.as_str(), only.model.as_str()),
        ("Title of the row", "/p/row", "model-2")
    );
    assert_eq!((only.created_at, only.last_activity_at, only.hidden), (T0 + 5.0, T0 + 70.0, 0));
    assert_eq!(contents(&demo.read(S2)), ["prompt 1", "answer 2"]);
    assert_eq!(demo.ids(), [S1, S2]);
}

#[test]
fn a_changed_row_changes_the_stamp() {
    let demo = Demo::new();
    demo.messages(S1, &talk(1));
    row(&demo, S1);
    let before = demo.scan().entries[0].stamp.clone();
    assert_eq!(demo.scan().entries[0].stamp, before);
    demo.database().execute("UPDATE sessions SET status_lock = status_lock + 1", []).unwrap();
    assert_ne!(demo.scan().entries[0].stamp, before);
}

#[test]
fn a_row_alone_is_listed_with_its_state() {
    let demo = Demo::new();
    row(&demo, S1);
    let session = demo.read(S1);
    assert_eq!((session.title.as_str(), session.nodes.len()), ("Title of the row", 0));
    assert_eq!(warnings(&session), ["no-transcript"]);
    let child = format!("{S1}__agent_1767225603000_x");
    row(&demo, &child);
    demo.database()
        .execute("UPDATE sessions SET parent_session_id = ?1, agent_id = 'agent_1767225603000_x', is_subagent = 1 WHERE session_id = ?2", [S1, &child])
        .unwrap();
    let by_parent = SessionRef { id: S1.into(), agent_id: Some("agent_1767225603000_x".into()) };
    assert_eq!(demo.try_read(&by_parent).unwrap().id, child);
}

#[test]
fn columns_that_are_missing_are_not_asked_for() {
    let demo = Demo::new();
    let database = demo.database();
    database
        .execute_batch("DROP TABLE sessions; CREATE TABLE sessions (session_id TEXT, title TEXT, cwd BLOB, extra)")
        .unwrap();
    database.execute("INSERT INTO sessions VALUES (?1, 'x', x'2f70', 5), (?2, NULL, NULL, NULL)", [S1, S2]).unwrap();
    drop(database);
    assert_eq!(demo.ids(), [S1, S2]);
    assert_eq!(demo.row(S1).working_directory, "/p");
}

#[test]
fn an_index_that_can_not_be_read_hides_nothing_else() {
    for broken in [
        &b"this is no database, and long enough to be looked at as one........................"[..],
        b"",
        b"SQLite format 3\0",
    ] {
        let demo = Demo::new();
        demo.session(S1, &talk(1));
        demo.messages(S2, &talk(1));
        demo.write("db/sessions.db", broken);
        let scan = demo.scan();
        assert_eq!(scan.entries.len(), 2);
        assert_eq!(
            scan.warnings.iter().map(|w| w.code.as_str()).collect::<Vec<_>>(),
            ["unreadable-index"],
            "{broken:?}"
        );
        assert_eq!(demo.ids(), [S1, S2]);
        assert_eq!(warnings(&demo.row(S1)), [""; 0]);
        assert_eq!(demo.read(S2).nodes.len(), 2);
    }
    let demo = Demo::new();
    demo.session(S1, &talk(1));
    demo.database().execute_batch("ALTER TABLE sessions RENAME TO other").unwrap();
    assert_eq!(demo.scan().warnings.len(), 1);
    assert_eq!(demo.ids(), [S1]);
}

#[test]
fn rows_of_a_live_writer_are_seen() {
    let demo = Demo::new();
    let writer = demo.database();
    writer.pragma_update(None, "journal_mode", "wal").unwrap();
    row(&demo, S1);
    writer.execute("UPDATE sessions SET status = 'running', ended_at = NULL", []).unwrap();
    // Not `ids`: the writer's own side files may change under the hash.
    let host = demo.host();
    let entries = <sepia_driver_cline::Cline as sepia_sdk::SessionRead>::scan(&host).unwrap().entries;
    let keys: Vec<String> = entries.into_iter().map(|entry| entry.key).collect();
    let rows =
        <sepia_driver_cline::Cline as sepia_sdk::SessionRead>::summaries(&host, &keys, SummaryDetail::Row).unwrap();
    assert_eq!(meta(&rows[0].sessions[0].metadata)["status"], json!("running"));
    drop(writer);
}

#[test]
fn odd_ids_in_the_index_are_no_paths() {
    let demo = Demo::new();
    demo.write("victim.messages.json", "[]");
    for id in ["../victim", "a/b", "", "x\ny", &"y".repeat(5000)] {
        row(&demo, id);
    }
    row(&demo, S1);
    assert_eq!(demo.ids(), [S1]);
    assert_eq!(demo.scan().warnings.len(), 5);
}
