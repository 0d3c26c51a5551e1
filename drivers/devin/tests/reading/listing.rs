//! Rows of a list.

use crate::demo::{Demo, T0, answer, by_id, meta, user, with};
use rusqlite::Connection;
use sepia_driver_devin::Devin;
use sepia_ir::SummaryDetail;
use serde_json::json;

fn title(demo: &Demo, id: &str) -> (String, String) {
    let row = demo.row(id);
    let source = meta(&row.metadata)["titleSource"].as_str().unwrap().to_owned();
    assert_eq!(demo.read(id).title, row.title);
    (row.title, source)
}

#[test]
fn a_title_is_the_agents_else_the_first_prompt_else_the_first_message_else_the_id() {
    let demo = Demo::new();
    for id in ["a", "b", "c", "d", "e"] {
        demo.session(id, Some(2));
    }
    demo.sql(
        "UPDATE sessions SET title = NULL WHERE id IN ('b', 'd'); UPDATE sessions SET title = 'Untitled' WHERE id = 'c';
         UPDATE sessions SET title = '' WHERE id = 'e';
         UPDATE sessions SET title = 'two' || char(10) || 'lines' || char(27) || '[31m' WHERE id = 'a';
         INSERT INTO prompt_history (content, timestamp, session_id, is_shell) VALUES ('!ls', 1, 'b', 1), ('Fix  it' || char(10) || 'now', 2, 'b', 0), ('Later', 3, 'b', 0);",
    );
    demo.node("c", 1, None, with(user("<context>"), &[("metadata.is_user_input", json!(null))]), None);
    demo.node("c", 2, Some(1), user(&"é".repeat(300)), None);
    demo.node("d", 1, None, json!({"role": "system", "content": "x"}), None);
    demo.node("d", 2, Some(1), json!({"role": "user", "content": "said by an older writer"}), None);
    assert_eq!(title(&demo, "a"), ("two lines[31m".into(), "agent".into()));
    assert_eq!(title(&demo, "b"), ("Fix it now".into(), "first-prompt".into()));
    assert_eq!(title(&demo, "c"), (format!("{}…", "é".repeat(200)), "first-prompt".into()));
    assert_eq!(title(&demo, "d"), ("said by an older writer".into(), "first-prompt".into()));
    assert_eq!(title(&demo, "e"), ("e".into(), "id".into()));
    assert_eq!(demo.keeps_the_laws(), 5);
}

#[test]
fn an_empty_model_is_that_of_the_last_live_answer() {
    let demo = Demo::new();
    demo.session("s", Some(3));
    demo.sql("UPDATE sessions SET model = ''");
    let by = |text: &str, model: &str| with(answer(text), &[("metadata.generation_model", json!(model))]);
    demo.node("s", 1, None, user("q"), None);
    demo.node("s", 2, Some(1), by("a", "first"), None);
    demo.node("s", 3, Some(2), by("b", ""), None);
    demo.node("s", 4, Some(1), by("c", "off"), None);
    assert_eq!((demo.row("s").model, demo.read("s").model), ("first".into(), "first".into()));
}

#[test]
fn times_are_taken_by_magnitude_and_only_when_plausible() {
    let demo = Demo::new();
    let now = T0 + 5_000;
    for (id, created, active) in [
        ("plain", T0.to_string(), now.to_string()),
        ("millis", (T0 * 1000).to_string(), (now * 1000).to_string()),
        ("text", format!("'{T0}'"), format!("'{now}'")),
        ("future", T0.to_string(), "4070908800".to_owned()),
        ("backwards", now.to_string(), T0.to_string()),
        ("none", "0".to_owned(), "-7".to_owned()),
        ("odd", "x'00ff'".to_owned(), "'soon'".to_owned()),
    ] {
        demo.session(id, None);
        demo.sql(&format!("UPDATE sessions SET created_at = {created}, last_activity_at = {active} WHERE id = '{id}'"));
    }
    let times = |id: &str| {
        let row = demo.row(id);
        (row.created_at as i64, row.last_activity_at as i64, meta(&row.metadata)["timeSource"].clone())
    };
    for id in ["plain", "millis", "text"] {
        assert_eq!(times(id), (T0, now, json!(null)), "{id}");
    }
    assert_eq!(times("future"), (T0, T0, json!("created")));
    assert_eq!(times("backwards"), (now, now, json!(null)));
    assert_eq!((times("none"), times("odd")), ((0, 0, json!("created")), (0, 0, json!("created"))));
    for (entry, row) in demo.scan().entries.iter().zip(demo.rows(SummaryDetail::Row)) {
        assert!(entry.changed_at >= row.last_activity_at, "{}", row.id);
    }
    assert_eq!(demo.keeps_the_laws(), 7);
}

#[test]
fn a_stamp_changes_with_the_row_its_messages_and_its_sub_agents() {
    let demo = Demo::new();
    demo.session("s", Some(1));
    demo.session("other", None);
    demo.node("s", 1, None, user("q"), None);
    let mut stamps = vec![demo.scan().entries];
    for change in [
        "UPDATE sessions SET title = 'new' WHERE id = 's'",
        "UPDATE sessions SET hidden = 1 WHERE id = 's'",
        "INSERT INTO message_nodes (session_id, node_id, chat_message, created_at) VALUES ('s', 2, '{}', 0)",
        "INSERT INTO subagent_heads VALUES ('s', 'explore-1', 2, 0)",
        "UPDATE subagent_heads SET updated_at = 9",
        "DELETE FROM message_nodes WHERE node_id = 2",
    ] {
        demo.sql(change);
        let entries = demo.scan().entries;
        assert_ne!(entries[0].stamp, stamps.last().unwrap()[0].stamp, "{change}");
        assert_eq!((&entries[0].key, &entries[1]), (&stamps[0][0].key, &stamps[0][1]), "{change}");
        stamps.push(entries);
    }
}

#[test]
fn listing_looks_at_no_message() {
    let demo = Demo::new();
    demo.session("s", Some(2));
    demo.node("s", 1, None, user("q"), None);
    demo.node("s", 2, Some(1), answer("a"), None);
    // What the driver asks, as SQLite plans it: the table of messages is never touched.
    for sql in Devin::listing_queries(&demo.host()).unwrap() {
        let database = Connection::open(demo.database()).unwrap();
        let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let parameters: &[&str] = if statement.parameter_count() == 1 { &["[\"s\"]"] } else { &[] };
        let plan = statement.query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>(3)).unwrap();
        for step in plan.map(Result::unwrap) {
            let of_nodes = step.contains(" n ") || step.ends_with(" n") || step.contains("message_nodes");
            assert!(!of_nodes || step.contains("COVERING INDEX"), "{step}");
        }
    }
}

#[test]
fn what_would_make_a_session_another_agents_is_set_right() {
    let demo = Demo::new();
    for (id, backend) in [("a", "Windsurf"), ("b", "claude"), ("c", ""), ("d", "local")] {
        demo.session(id, None);
        demo.sql(&format!("UPDATE sessions SET backend_type = '{backend}' WHERE id = '{id}'"));
    }
    let backends: Vec<String> = demo.rows(SummaryDetail::Row).into_iter().map(|row| row.backend_type).collect();
    assert_eq!(backends, ["Windsurf", "windsurf", "windsurf", "local"]);
}

#[test]
fn ids_are_looked_up_and_never_more() {
    let demo = Demo::new();
    for id in ["amber-otter", "5d3c1c52-7f6e-4a35-9a43-0c3d5a1d2e11", "-odd", "y\"; touch canary; \"", "../up"] {
        demo.session(id, None);
        assert_eq!(demo.read(id).id, id);
    }
    demo.sql(
        "INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at)
         VALUES (NULL, '', '', '', '', 0, 0), ('', '', '', '', '', 0, 0), ('a' || char(10), '', '', '', '', 0, 0)",
    );
    demo.sql(&format!(
        "INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at)
         VALUES ('{}', '', '', '', '', 0, 0)",
        "x".repeat(5_000)
    ));
    let scan = demo.scan();
    assert_eq!((scan.entries.len(), scan.warnings.len()), (5, 1));
    assert_eq!(scan.warnings[0].code, "invalid-id");
    for id in ["", "..", "amber-otter/x", "amber-otter\0", "AMBER-OTTER", "%"] {
        assert!(demo.try_read(&by_id(id)).is_err(), "{id:?}");
    }
    assert_eq!(demo.keeps_the_laws(), 5);
}
