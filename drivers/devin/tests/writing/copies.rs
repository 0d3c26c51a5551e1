//! Sessions of the agent itself, written again.

use crate::demo::{Demo, by_id, samples};
use crate::store::{NEW, REPLACE, everything, rows, save, saved, writing};
use rusqlite::types::Value as Sql;
use sepia_conformance::equal_but_for;
use sepia_ir::Session;

const CASES: [&str; 9] =
    ["basic", "tools", "branches", "subagent", "twins", "hidden", "compaction", "malformed", "old-schema"];

fn sessions(case: &str) -> Vec<Session> {
    let demo = Demo::sample(case);
    let ids = rows(&demo, "SELECT id FROM sessions ORDER BY id");
    let id = |row: Vec<Sql>| match &row[0] {
        Sql::Text(id) => id.clone(),
        other => panic!("an id: {other:?}"),
    };
    ids.into_iter().map(|row| demo.read(&id(row))).collect()
}

#[test]
fn samples_come_back_whole_under_another_id_and_under_their_own() {
    assert!(samples().join("basic").is_dir());
    for case in CASES {
        for session in sessions(case) {
            for id in ["", session.id.as_str()] {
                let demo = Demo::new();
                let (report, read) = saved(&demo, &Session { id: id.into(), ..session.clone() });
                let wanted = Session { agent_id: None, parent_session_id: None, ..session.clone() };
                assert_eq!(equal_but_for(&wanted, &read, &report.losses), Ok(()), "{case}: {}", session.id);
                for (wanted, found) in session.nodes.iter().zip(&read.nodes) {
                    assert_eq!(wanted, found, "{case}: {}", session.id);
                }
                demo.keeps_the_laws();
            }
        }
    }
}

#[test]
fn rows_of_a_copy_are_those_of_the_original() {
    let demo = Demo::sample("compaction");
    let other = Demo::new();
    save(&other, &demo.read("olive-harbor"), &NEW).unwrap();
    // All that a reader takes; how fast the model was, and the like, it does not tell.
    let sql = "SELECT n.node_id, n.parent_node_id, n.created_at, json_extract(n.metadata, '$.summarized_from'), \
               json_extract(n.metadata, '$.is_system_prefix'), json_extract(n.metadata, '$.extensions'), \
               json_extract(n.chat_message, '$.message_id'), json_extract(n.chat_message, '$.role'), \
               json_extract(n.chat_message, '$.content'), json_extract(n.chat_message, '$.metadata.is_user_input'), \
               json_extract(n.chat_message, '$.metadata.request_id'), json_extract(n.chat_message, '$.metadata.finish_reason'), \
               json_extract(n.chat_message, '$.metadata.generation_model'), \
               json_extract(n.chat_message, '$.metadata.metrics.input_tokens'), \
               json_extract(n.chat_message, '$.metadata.extensions.\"compact/edited_files\"'), \
               json_extract(n.chat_message, '$.metadata.extensions.\"chisel/client-message-id\"'), \
               json_extract(n.chat_message, '$.metadata.extensions.sepia') \
               FROM message_nodes n ORDER BY n.node_id";
    let (wanted, found) = (rows(&demo, sql), rows(&other, sql));
    assert_eq!(wanted.len(), found.len());
    for (wanted, found) in wanted.iter().zip(&found) {
        assert_eq!(wanted, found);
    }
    let sql = "SELECT id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at, title, main_chain_id, \
               cogs_json, hidden FROM sessions";
    assert_eq!(rows(&demo, sql), rows(&other, sql));
    let sql = "SELECT content, timestamp, session_id, is_shell FROM prompt_history ORDER BY id";
    assert_eq!(rows(&demo, sql), rows(&other, sql));
}

#[test]
fn sealed_reasoning_of_a_copy_is_the_same_to_the_byte() {
    let demo = Demo::sample("basic");
    let other = Demo::new();
    save(&other, &demo.read("amber-otter"), &NEW).unwrap();
    let sql = "SELECT json_extract(chat_message, '$.thinking') FROM message_nodes WHERE session_id = 'amber-otter' ORDER BY node_id";
    assert_eq!(rows(&demo, sql), rows(&other, sql));
}

#[test]
fn a_copy_has_the_sub_agents_that_are_among_its_nodes() {
    let demo = Demo::sample("subagent");
    let original = demo.read("fern-saddle");
    let (report, _) = saved(&demo, &Session { id: String::new(), ..original.clone() });
    let child = demo.read(&format!("{}/explore-1", report.id));
    let original_child = demo.read("fern-saddle/explore-1");
    assert_eq!(child.nodes, original_child.nodes);
    assert_eq!(child.parent_session_id.as_deref(), Some(report.id.as_str()));
    // Written over itself, it keeps them.
    save(&demo, &original, &REPLACE).unwrap();
    assert_eq!(demo.read("fern-saddle/explore-1").nodes, original_child.nodes);
}

#[test]
fn replacing_leaves_one_session_and_touches_no_other() {
    let demo = Demo::sample("basic");
    let others = |demo: &Demo| {
        let of_others = |(table, rows): (String, Vec<Vec<Sql>>)| {
            let own = Sql::Text("amber-otter".into());
            (table, rows.into_iter().filter(|row| !row.contains(&own)).collect::<Vec<_>>())
        };
        everything(demo).into_iter().map(of_others).collect::<Vec<_>>()
    };
    let before = others(&demo);
    let mut session = crate::store::foreign();
    session.id = "amber-otter".into();
    let report = save(&demo, &session, &REPLACE).unwrap();
    assert_eq!(report.id, "amber-otter");
    assert_eq!(others(&demo), before);
    let read = demo.read("amber-otter");
    assert_eq!(read.nodes, session.nodes);
    assert_eq!(read.prompt_history, []);
}

#[test]
fn a_replacement_that_is_taken_back_leaves_what_was_there() {
    use sepia_driver_devin::Devin;
    use sepia_sdk::{Draft, SessionWrite};
    let demo = Demo::sample("tools");
    let before = everything(&demo);
    let mut session = crate::store::foreign();
    session.id = "brisk-lantern".into();
    let nodes = std::mem::take(&mut session.nodes);
    let mut draft = Devin::begin(&writing(&demo), session, &REPLACE).unwrap();
    draft.append(nodes).unwrap();
    draft.commit().unwrap();
    assert_ne!(everything(&demo), before);
    draft.undo().unwrap();
    drop(draft);
    assert_eq!(everything(&demo), before);
    assert!(demo.try_read(&by_id("brisk-lantern")).is_ok());
}
