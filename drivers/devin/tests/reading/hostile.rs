//! Whatever is in the store: no panic, no failure of the list, nothing changed.

use crate::demo::{Demo, SCHEMA, answer, user};
use proptest::prelude::*;
use rusqlite::{Connection, params};
use sepia_driver_devin::Devin;
use sepia_ir::{Branch, HistoryQuery, SummaryDetail};
use sepia_sdk::SessionRead;
use std::fs;

/// Asks for everything; only the calls about a single session may fail.
fn everything(demo: &Demo) -> usize {
    let host = demo.host();
    let scan = Devin::scan(&host).unwrap();
    let keys: Vec<String> = scan.entries.iter().map(|entry| entry.key.clone()).collect();
    let mut listed = 0;
    for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
        // The database may be damaged in a place that the scan did not see.
        let Ok(summaries) = Devin::summaries(&host, &keys, detail) else { continue };
        assert_eq!(summaries.len(), keys.len());
        listed = summaries.iter().map(|summary| summary.sessions.len()).sum();
    }
    for entry in &scan.entries {
        let session = crate::demo::by_id(entry.session_id.as_ref().unwrap());
        let _ = demo.try_read(&session);
        let query = HistoryQuery { limit: 2, before: None, branch: Branch::Live, index: None };
        let _ = Devin::history(&host, &session, &query);
        let _ = Devin::summary_of(&host, &session);
    }
    let _ = Devin::locks(&host);
    listed
}

/// JSON-like text of the members that are looked at, and any other text.
fn message() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("\"x\"".to_owned()),
        Just("5".to_owned()),
        Just("-1e300".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("[{\"id\":\"c\",\"name\":\"n\",\"arguments\":{}}]".to_owned()),
        Just("{\"is_user_input\":true,\"metrics\":{\"input_tokens\":1e308,\"output_tokens\":-5}}".to_owned()),
        Just("{\"extensions\":{\"chisel/tool_call_content\":{\"c\":{\"locations\":[1,{\"path\":\"p\"}],\"content\":[null]}},\"subagent/agent_id\":\"a\"}}".to_owned()),
        Just("\"\\ud800\"".to_owned()),
    ];
    let name = prop_oneof![
        Just("role"),
        Just("content"),
        Just("tool_calls"),
        Just("metadata"),
        Just("thinking"),
        Just("tool_call_id"),
        Just("message_id"),
        Just("images"),
    ];
    let role = prop_oneof![Just("user"), Just("assistant"), Just("tool"), Just("system")];
    prop_oneof![
        (role, prop::collection::vec((name, value), 0..6)).prop_map(|(role, members)| {
            let members: Vec<String> =
                members.into_iter().map(|(name, value)| format!(",\"{name}\":{value}")).collect();
            format!("{{\"role\":\"{role}\"{}}}", members.concat())
        }),
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_rows(
        rows in prop::collection::vec((-2_i64..12, prop::option::of(-2_i64..12), message(), prop::option::of(message())), 0..12),
        tip in prop::option::of(-2_i64..14),
        heads in prop::collection::vec((message(), -2_i64..14), 0..3),
        state in message(),
        id in "s[a-z/]{0,5}",
    ) {
        let demo = Demo::new();
        demo.session(&id, tip);
        let database = Connection::open(demo.database()).unwrap();
        for (node, parent, message, metadata) in rows {
            let sql = "INSERT OR IGNORE INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata) VALUES (?, ?, ?, ?, ?, ?)";
            database.execute(sql, params![id, node, parent, message, node, metadata]).unwrap();
        }
        for (agent, tip) in heads {
            database.execute("INSERT OR IGNORE INTO subagent_heads VALUES (?, ?, ?, 5)", params![id, agent, tip]).unwrap();
        }
        database.execute("INSERT INTO tool_call_state VALUES (?, 'c', ?, ?)", params![id, state, state]).unwrap();
        database.execute("UPDATE sessions SET metadata = ?, cogs_json = ?, title = ?", params![state, state, state]).unwrap();
        drop(database);
        prop_assert!(demo.keeps_the_laws() >= 1);
        prop_assert!(everything(&demo) >= 1);
    }

    #[test]
    fn any_bytes_as_files(
        database in prop::collection::vec(any::<u8>(), 0..600),
        header in any::<bool>(),
        lock in prop::collection::vec(any::<u8>(), 0..40),
        transcript in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let demo = Demo::bare();
        let start: &[u8] = if header { b"SQLite format 3\0" } else { b"" };
        demo.write("sessions.db", [start, &database].concat());
        demo.write("session_locks/s.lock", lock);
        demo.write("transcripts/t.json", transcript);
        everything(&demo);
    }

    #[test]
    fn a_database_with_wrong_bytes(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let demo = Demo::bare();
        demo.sql(SCHEMA);
        for id in ["a", "b"] {
            demo.session(id, Some(2));
            demo.node(id, 1, None, user(&"q".repeat(3000)), None);
            demo.node(id, 2, Some(1), answer("a"), None);
        }
        let mut bytes = fs::read(demo.database()).unwrap();
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        demo.write("sessions.db", bytes);
        everything(&demo);
    }
}
