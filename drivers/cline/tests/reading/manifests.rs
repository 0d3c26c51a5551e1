//! Manifests: what they tell, and what makes the agent pass over one.

use crate::demo::{Demo, S1, S2, T0, date, meta, t, talk, warnings};
use sepia_ir::SummaryDetail;
use serde_json::{Value, json};

#[test]
fn a_folder_with_messages_alone_is_shown_as_hidden() {
    let demo = Demo::new();
    demo.messages(S1, &talk(2));
    let row = demo.row(S1);
    assert_eq!((row.title.as_str(), row.hidden), ("prompt 1", 1));
    // Its first message, and when the file was written.
    assert_eq!((row.created_at, row.last_activity_at), (T0 + 1.0, T0 + 50.0));
    assert_eq!(warnings(&row), ["unlisted"]);
    assert_eq!(demo.read(S1).nodes.len(), 4);
}

#[test]
fn a_manifest_alone_is_a_session_without_messages() {
    let demo = Demo::new();
    demo.manifest(S1, &[]);
    let session = demo.read(S1);
    assert_eq!((session.title.as_str(), session.nodes.len(), session.main_chain_id), ("prompt 1", 0, 0));
    assert_eq!(warnings(&session), ["no-transcript"]);
    assert_eq!(demo.page(S1, 10, None, None).total, 0);
}

#[test]
fn what_the_agent_passes_over_is_a_warning_and_its_messages_are_read() {
    let wrong = [
        ("version", json!(2)),
        ("session_id", json!("another")),
        ("source", json!("")),
        ("pid", json!("7")),
        ("status", json!("sleeping")),
        ("interactive", json!(1)),
        ("ended_at", json!(5)),
        ("prompt", json!({"a": 1})),
        ("metadata", json!([])),
        ("cwd", Value::Null),
        ("enable_teams", Value::Null),
    ];
    for (name, value) in wrong {
        let demo = Demo::new();
        demo.session(S1, &talk(1));
        demo.manifest(S1, &[(name, value)]);
        let session = demo.read(S1);
        assert_eq!(warnings(&session), ["invalid-manifest", "unlisted"], "{name}");
        assert_eq!((session.nodes.len(), session.title.as_str()), (2, "prompt 1"), "{name}");
    }
    for broken in ["", "null", "[]", "{\"version\":1", "\u{0}\u{0}", "{}"] {
        let demo = Demo::new();
        demo.session(S1, &talk(1));
        demo.write(&format!("sessions/{S1}/{S1}.json"), broken);
        assert_eq!(warnings(&demo.row(S1)), ["invalid-manifest", "unlisted"], "{broken:?}");
    }
}

#[test]
fn null_ends_and_unknown_members_are_told_apart() {
    let demo = Demo::new();
    demo.session(S1, &talk(1));
    let path = demo.manifest(S1, &[("exit_code", json!(null)), ("more", json!({"x": 1}))]);
    let manifest = std::fs::read_to_string(&path).unwrap();
    assert_eq!(warnings(&demo.row(S1)), [""; 0]);
    std::fs::write(&path, manifest.replace(&format!("\"{}\"", t(60)), "null")).unwrap();
    assert_eq!(warnings(&demo.row(S1)), ["invalid-manifest", "unlisted"]);
    std::fs::write(&path, format!("\u{feff}{manifest}")).unwrap();
    assert_eq!(warnings(&demo.row(S1)), [""; 0]);
}

#[test]
fn the_newest_activity_is_that_of_the_conversation() {
    let demo = Demo::new();
    // An end; no end, so when the messages were written; an end that somebody else noted.
    demo.session(S1, &talk(1));
    let s3 = "1767225602000_ccccc";
    for id in [S2, s3] {
        demo.messages(id, &talk(1));
    }
    demo.manifest(S2, &[("ended_at", Value::Null), ("status", json!("idle"))]);
    let marked = json!({"title": "x", "terminal_marker": "dead process", "terminal_marker_pid": 1});
    demo.manifest(s3, &[("ended_at", json!(t(9000))), ("status", json!("failed")), ("metadata", marked)]);
    let at = |id: &str| demo.row(id).last_activity_at - T0;
    assert_eq!([at(S1), at(S2), at(s3)], [60.0, 50.0, 50.0]);
    assert_eq!(meta(&demo.row(s3).metadata)["terminalMarker"], json!("dead process"));
}

#[test]
fn a_time_after_its_files_is_brought_back_to_them() {
    let demo = Demo::new();
    let messages = demo.session(S1, &talk(1));
    let manifest = demo.manifest(S1, &[("ended_at", json!("2099-01-01T00:00:00.000Z")), ("started_at", json!("soon"))]);
    date(&messages, 1_767_225_700);
    date(&manifest, 1_767_225_800);
    let row = demo.row(S1);
    assert_eq!((row.created_at, row.last_activity_at), (T0 + 1.0, 1_767_225_800.0));
    assert_eq!(meta(&row.metadata)["timeSource"], json!("clamped"));
    let stats = demo.rows(SummaryDetail::Stats).remove(0);
    assert_eq!(stats.last_activity_at, row.last_activity_at);
}

#[test]
fn a_path_in_the_store_is_followed_within_its_folder_only() {
    let demo = Demo::new();
    let secret = demo.write("settings/providers.json", "{\"messages\":[{\"role\":\"user\",\"content\":\"secret\"}]}");
    let other = demo.session(S2, &talk(3));
    demo.messages(S1, &talk(1));
    let inner = demo.write(&format!("sessions/{S1}/other.json"), "[]");
    for (path, nodes) in [
        (other.display().to_string(), 2),
        (secret.display().to_string(), 2),
        ("/etc/passwd".to_owned(), 2),
        (format!("{}/sessions/{S1}/../{S2}/{S2}.messages.json", demo.root().display()), 2),
        (format!("{}/sessions/{S1}/{S1}.json", demo.root().display()), 2),
        ("/home/dev/.cline/data/sessions/x/x.messages.json".to_owned(), 2),
        (inner.display().to_string(), 0),
    ] {
        demo.manifest(S1, &[("messages_path", json!(path))]);
        assert_eq!(demo.read(S1).nodes.len(), nodes, "{path}");
    }
}

#[test]
fn titles_are_one_line_and_end_at_a_character() {
    let demo = Demo::new();
    demo.messages(S1, &talk(1));
    demo.manifest(S1, &[("metadata", json!({"title": format!("a\n\u{1b}[2Jb {}", "é".repeat(300))}))]);
    let title = demo.row(S1).title;
    assert!(title.starts_with("a [2Jb é") && title.ends_with("é…"), "{title}");
    assert_eq!(title.chars().count(), 201);
}
