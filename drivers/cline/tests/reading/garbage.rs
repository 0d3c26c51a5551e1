//! Whatever bytes a store holds: nothing panics, and no list fails.

use crate::demo::{Demo, S1, S2, talk, transcript};
use proptest::prelude::*;
use sepia_ir::SummaryDetail;

/// Bytes that look like the real thing now and then.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "\"messages\"",
        "\"role\"",
        "\"user\"",
        "\"assistant\"",
        "\"content\"",
        "\"type\"",
        "\"tool_use\"",
        "\"tool_result\"",
        "\"tool_use_id\"",
        "\"id\"",
        "\"ts\"",
        "1e999",
        "-1",
        "null",
        "true",
        "\"text\"",
        "\"ask\"",
        "\"say\"",
        "\"task\"",
        "\\ud83d",
        "\u{feff}",
        " ",
        "\n",
        "\"metrics\"",
        "\"version\"",
        "1",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat().into_bytes()),
    ]
}

/// A real document with some bytes replaced, removed or cut off.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let whole = transcript(S1, &talk(2)).into_bytes();
    let length = whole.len();
    (prop::collection::vec((0..length, any::<u8>()), 0..8), 0..=length).prop_map(move |(changes, end)| {
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(end);
        bytes
    })
}

fn hold(demo: &Demo) {
    let rows = demo.rows(SummaryDetail::Row);
    let stats = demo.rows(SummaryDetail::Stats);
    assert_eq!(rows.len(), stats.len());
    for row in rows {
        let session = demo.read(&row.id);
        assert_eq!(
            (session.title, session.created_at, session.last_activity_at),
            (row.title, row.created_at, row.last_activity_at)
        );
        let page = demo.page(&row.id, 1000, None, None);
        assert_eq!(page.nodes, session.nodes);
        assert_eq!(demo.page(&row.id, 1000, None, page.index).nodes, session.nodes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_a_session_folder(manifest in bytes(), messages in prop_oneof![bytes(), damaged()], sidecar in bytes(), agent in bytes()) {
        let demo = Demo::new();
        demo.session(S2, &talk(1));
        demo.write(&format!("sessions/{S1}/{S1}.json"), manifest);
        demo.write(&format!("sessions/{S1}/{S1}.messages.json"), messages);
        demo.write(&format!("sessions/{S1}/{S1}.compaction.json"), sidecar);
        demo.write(&format!("sessions/{S1}/agent_1.messages.json"), agent);
        hold(&demo);
        prop_assert!(demo.ids().contains(&S2.to_owned()));
        prop_assert_eq!(demo.ids().len(), 3);
    }

    #[test]
    fn in_a_task(api in bytes(), shown in bytes(), list in bytes()) {
        let demo = Demo::new();
        demo.session(S2, &talk(1));
        demo.task("1700000000001", "api_conversation_history.json", api);
        demo.task("1700000000001", "ui_messages.json", shown);
        std::fs::create_dir_all(demo.extension().join("state")).unwrap();
        std::fs::write(demo.extension().join("state/taskHistory.json"), list).unwrap();
        hold(&demo);
        prop_assert!(demo.ids().len() >= 2);
    }

    #[test]
    fn in_the_index(text in ".{0,40}", blob in prop::collection::vec(any::<u8>(), 0..40), number in any::<i64>(), real in any::<f64>()) {
        let demo = Demo::new();
        demo.messages(S1, &talk(1));
        let database = demo.database();
        let insert = "INSERT INTO sessions (session_id, pid, started_at, ended_at, exit_code, status, model, cwd, prompt, metadata_json, messages_path, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?3, ?4, ?6, ?3, ?3, ?5)";
        for id in [S1, S2] {
            database.execute(insert, rusqlite::params![id, number, text, blob, real, text]).unwrap();
        }
        drop(database);
        hold(&demo);
        prop_assert_eq!(demo.ids(), [S1, S2]);
    }
}
