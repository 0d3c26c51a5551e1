//! Rows field by field, as the agent itself writes them.

use crate::demo::{Demo, by_id, meta};
use crate::store::{NEW, foreign, rows, save, saved};
use rusqlite::types::Value as Sql;
use sepia_conformance::equal_but_for;
use sepia_ir::{Block, FileBlock, ImageBlock, LossKind, PromptHistoryEntry, TextBlock};
use serde_json::{Value, json};

fn text(value: &Sql) -> &str {
    match value {
        Sql::Text(text) => text,
        other => panic!("a text: {other:?}"),
    }
}

fn message(demo: &Demo, node: i64) -> Value {
    let found = rows(demo, &format!("SELECT chat_message FROM message_nodes WHERE node_id = {node}"));
    meta(text(&found[0][0]))
}

#[test]
fn the_row_of_a_session_has_what_the_agent_writes() {
    let demo = Demo::new();
    let report = save(&demo, &foreign(), &NEW).unwrap();
    let words: Vec<&str> = report.id.split('-').collect();
    assert_eq!(words.len(), 2, "{}", report.id);
    assert_eq!(report.resume_command, ["devin", "--resume", &report.id]);
    assert_eq!(report.working_directory, "/p/demo");
    let found = rows(
        &demo,
        "SELECT id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at, title, main_chain_id, \
         shell_last_seen_index, workspace_dirs, hidden, cogs_json, metadata FROM sessions",
    );
    let [row] = &found[..] else { panic!("one session: {found:?}") };
    let expected: Vec<Sql> = vec![
        Sql::Text(report.id.clone()),
        Sql::Text("/p/demo".into()),
        Sql::Text("windsurf".into()),
        Sql::Text("other-model".into()),
        Sql::Text("accept-edits".into()),
        Sql::Integer(1_767_225_600),
        Sql::Integer(1_767_225_661),
        Sql::Text("Fix the cart".into()),
        Sql::Integer(4),
        Sql::Integer(0),
        Sql::Text(r#"["/p/demo"]"#.into()),
        Sql::Integer(0),
    ];
    assert_eq!(row[..12], expected[..]);
    let cogs = meta(text(&row[12]));
    let names: Vec<&Value> = cogs.as_array().unwrap().iter().map(|cog| &cog["lifetime"]["Unique"]).collect();
    assert_eq!(json!(names), json!(["core/plan_mask", "core/accept_edits", "core/parallel-tool-calls", "core/model"]));
    assert_eq!(cogs[3]["model"], json!("other-model"));
    assert_eq!(cogs[0]["source"], json!({"Session": "User"}));
    assert_eq!(cogs[3]["source"], json!({"Session": "System"}));
    let metadata = meta(text(&row[13]));
    assert_eq!(
        (&metadata["total_credit_cost"], &metadata["total_acu_cost"], &metadata["response_dimensions"]),
        (&json!(0), &json!(0), &json!([]))
    );
}

#[test]
fn the_model_of_the_cogs_is_one_that_the_agent_uses() {
    let demo = Demo::sample("basic");
    let report = save(&demo, &foreign(), &NEW).unwrap();
    let cogs = |id: &str| meta(text(&rows(&demo, &format!("SELECT cogs_json FROM sessions WHERE id = '{id}'"))[0][0]));
    assert_eq!(cogs(&report.id)[3]["model"], json!("swe-2-high"));
    // What is written here is nobody's model.
    let again = save(&demo, &foreign(), &NEW).unwrap();
    assert_eq!(cogs(&again.id)[3]["model"], json!("swe-2-high"));
    assert_eq!(demo.row(&report.id).model, "other-model");
}

#[test]
fn rows_of_messages_have_what_the_agent_writes() {
    let demo = Demo::new();
    let (report, _) = saved(&demo, &foreign());
    let found = rows(&demo, "SELECT session_id, node_id, parent_node_id, created_at, metadata FROM message_nodes");
    let null = Sql::Null;
    let marks = Sql::Text(r#"{"summarized_from":null,"num_tokens_preceding":null,"is_system_prefix":null}"#.into());
    let row = |node: i64, marks: &Sql| {
        let parent = if node == 1 { Sql::Null } else { Sql::Integer(node - 1) };
        vec![
            Sql::Text(report.id.clone()),
            Sql::Integer(node),
            parent,
            Sql::Integer(1_767_225_600 + node),
            marks.clone(),
        ]
    };
    assert_eq!(found, [row(1, &null), row(2, &marks), row(3, &null), row(4, &marks)]);

    let prompt = message(&demo, 1);
    assert_eq!((&prompt["role"], &prompt["content"]), (&json!("user"), &json!("Fix the cart test.")));
    assert_eq!(prompt["metadata"]["is_user_input"], json!(true));
    assert_eq!(prompt["metadata"]["created_at"], json!("2026-01-01T00:00:01.250Z"));
    assert_eq!(prompt["metadata"]["telemetry"], json!({"source": "user", "operation": "input"}));
    assert_eq!(prompt["message_id"].as_str().unwrap().len(), 36);

    let answer = message(&demo, 2);
    assert_eq!((&answer["role"], &answer["content"]), (&json!("assistant"), &json!("Looking.")));
    assert_eq!(
        answer["tool_calls"],
        json!([{"id": "toolu_1", "name": "exec", "arguments": {"command": "npm test", "workdir": "/p/demo"}, "index": 0, "kind": "function"}])
    );
    // The agent's backend refuses reasoning that it did not seal.
    assert_eq!(answer.get("thinking"), None);
    let about = &answer["metadata"];
    assert_eq!(
        (&about["generation_model"], &about["finish_reason"], &about["request_id"], &about["num_tokens"]),
        (&json!("other-model"), &json!("tool_calls"), &json!(null), &json!(5))
    );
    let metrics = &about["metrics"];
    assert_eq!(
        json!([
            metrics["input_tokens"],
            metrics["output_tokens"],
            metrics["cache_read_tokens"],
            metrics["cache_creation_tokens"]
        ]),
        json!([10, 5, 3, null])
    );
    let shown = &about["extensions"]["chisel/tool_call_content"]["toolu_1"];
    assert_eq!(
        *shown,
        json!({"toolCallId": "toolu_1", "title": "exec", "status": "failed", "kind": "execute",
               "rawInput": {"command": "npm test", "workdir": "/p/demo"}, "locations": [],
               "_meta": {"cognition.ai/inferenceToolName": "exec"}})
    );

    let result = message(&demo, 3);
    assert_eq!(
        (&result["role"], &result["content"], &result["tool_call_id"]),
        (&json!("tool"), &json!("1 failed"), &json!("toolu_1"))
    );
    let extensions = &result["metadata"]["extensions"];
    assert_eq!(extensions["chisel/tool_result_meta"], json!({"success": false, "kind": "exec"}));
    assert_eq!(
        extensions["chisel/terminal_output"],
        json!({"text": "1 failed", "cwd": "/p/demo", "exit": {"terminal_id": "t0", "exit_code": 1}})
    );
    assert_eq!(extensions["chisel/tool_call_timing"]["duration_ms"], json!(1500.0));
    assert_eq!(extensions["chisel/tool_call_timing"]["started_at"], json!("2026-01-01T00:00:01.750Z"));

    let states = rows(&demo, "SELECT session_id, tool_call_id, tool_call_update_json FROM tool_call_state");
    let [state] = &states[..] else { panic!("one state: {states:?}") };
    assert_eq!((text(&state[0]), text(&state[1])), (report.id.as_str(), "toolu_1"));
    assert_eq!(
        meta(text(&state[2])),
        json!({"toolCallId": "toolu_1", "status": "failed", "_meta": {"cognition.ai/terminal_exit": {"exit_code": 1}}})
    );
}

#[test]
fn nothing_is_lost_and_what_the_agent_does_not_see_is_said() {
    let demo = Demo::new();
    let session = foreign();
    let (report, read) = saved(&demo, &session);
    assert_eq!(equal_but_for(&session, &read, &report.losses), Ok(()));
    // To the letter, members in the order that they had.
    assert_eq!(read.metadata, session.metadata);
    assert_eq!(read.nodes, session.nodes);
    assert_eq!(
        (read.created_at.to_bits(), read.last_activity_at.to_bits()),
        (session.created_at.to_bits(), session.last_activity_at.to_bits())
    );
    let row = demo.row(&report.id);
    assert_eq!((row.created_at, row.agent_mode.as_str()), (session.created_at, "careful"));
    let of_node = |node: i64| {
        report.losses.iter().filter(|loss| loss.node_id == Some(node)).map(|loss| loss.kind).collect::<Vec<_>>()
    };
    assert_eq!((of_node(2), of_node(1)), (vec![LossKind::MetadataOnly], vec![]));
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn sealed_reasoning_is_written_and_the_rest_is_kept_beside() {
    let demo = Demo::new();
    let mut session = foreign();
    session.nodes[1].thinking_signature = Some("sealed.v1.YWJj".into());
    session.nodes[3].thinking = Some("[redacted]".into());
    session.nodes[3].thinking_signature = Some("sealed.v1.eA==".into());
    let (report, read) = saved(&demo, &session);
    assert_eq!(
        message(&demo, 2)["thinking"],
        json!({"thinking": "I should look first.", "signature": "sealed.v1.YWJj", "signature_type": "sealed"})
    );
    assert_eq!(message(&demo, 4)["thinking"]["thinking"], json!(""));
    assert_eq!(read.nodes, session.nodes);
    assert!(report.losses.iter().all(|loss| loss.node_id.is_none()), "{:?}", report.losses);
}

#[test]
fn what_is_attached_to_a_prompt_is_in_its_blocks() {
    let demo = Demo::new();
    let mut session = foreign();
    let prompt = &mut session.nodes[0];
    prompt.blocks = vec![
        Block::Text(TextBlock { text: prompt.content.clone() }),
        Block::Image(ImageBlock { data: Some("aGVsbG8=".into()), mime_type: Some("image/png".into()), uri: None }),
        Block::File(FileBlock {
            uri: Some("file:///p/demo/cart.md".into()),
            name: Some("cart.md".into()),
            mime_type: Some("text/markdown".into()),
            size: Some(120.0),
            ..FileBlock::default()
        }),
        Block::File(FileBlock {
            uri: Some("file:///p/demo/a.txt".into()),
            text: Some("inside".into()),
            ..FileBlock::default()
        }),
    ];
    let (report, read) = saved(&demo, &session);
    assert_eq!(
        message(&demo, 1)["metadata"]["extensions"]["chisel/acp-content-blocks"],
        json!([
            {"type": "text", "text": "Fix the cart test."},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///p/demo/cart.md", "name": "cart.md", "mimeType": "text/markdown", "size": 120},
            {"type": "resource", "resource": {"uri": "file:///p/demo/a.txt", "text": "inside"}},
        ])
    );
    assert_eq!(read.nodes, session.nodes);
    assert!(report.losses.iter().all(|loss| loss.node_id != Some(1)), "{:?}", report.losses);

    // What has no form there, or only a part of one, comes back all the same.
    let mut odd = foreign();
    odd.nodes[0].blocks = vec![
        Block::Image(ImageBlock { uri: Some("https://example.org/a.png".into()), ..ImageBlock::default() }),
        Block::File(FileBlock { uri: Some("file:///p/b".into()), ..FileBlock::default() }),
        Block::File(FileBlock { name: Some("c".into()), data: Some("AA==".into()), ..FileBlock::default() }),
    ];
    odd.nodes[2].blocks =
        vec![Block::Image(ImageBlock { data: Some("AA==".into()), mime_type: Some("image/png".into()), uri: None })];
    let (report, read) = saved(&demo, &odd);
    assert_eq!(read.nodes, odd.nodes);
    for node in [1, 3] {
        assert!(report.losses.iter().any(|loss| loss.node_id == Some(node) && loss.kind == LossKind::MetadataOnly));
    }
}

#[test]
fn prompts_are_in_the_unit_of_those_that_are_there() {
    let prompt = |content: &str, timestamp: f64, is_shell: bool| PromptHistoryEntry {
        content: content.into(),
        timestamp,
        is_shell,
    };
    let mut session = foreign();
    session.prompt_history =
        vec![prompt("Fix it", 1_767_225_601_250.0, false), prompt("!ls", 1_767_225_602_000.0, true)];
    let stored = |demo: &Demo, id: &str| {
        rows(demo, &format!("SELECT content, timestamp, is_shell FROM prompt_history WHERE session_id = '{id}'"))
    };
    let row = |content: &str, timestamp: i64, is_shell: i64| {
        vec![Sql::Text(content.into()), Sql::Integer(timestamp), Sql::Integer(is_shell)]
    };
    let demo = Demo::new();
    let (report, read) = saved(&demo, &session);
    assert_eq!(stored(&demo, &report.id), [row("Fix it", 1_767_225_601, 0), row("!ls", 1_767_225_602, 1)]);
    assert_eq!(read.prompt_history, session.prompt_history);

    let demo = Demo::new();
    demo.sql("INSERT INTO prompt_history (content, timestamp, session_id) VALUES ('x', 1767225000123, 'other')");
    let (report, read) = saved(&demo, &session);
    assert_eq!(stored(&demo, &report.id), [row("Fix it", 1_767_225_601_250, 0), row("!ls", 1_767_225_602_000, 1)]);
    assert_eq!(read.prompt_history, session.prompt_history);
}

#[test]
fn an_older_database_gets_the_columns_that_it_has() {
    let demo = Demo::sample("old-schema");
    let session = foreign();
    let (report, read) = saved(&demo, &session);
    assert_eq!(read.nodes, session.nodes);
    // There is no column that could keep the rest of the session.
    assert!(report.losses.iter().any(|loss| loss.node_id.is_none() && loss.kind == LossKind::Dropped));
    assert_eq!(read.title, "Fix the cart");
    assert!(demo.try_read(&by_id(&report.id)).is_ok());
}

#[test]
fn a_database_that_another_tool_made_gets_no_nulls() {
    let demo = Demo::bare();
    demo.sql(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT NOT NULL, backend_type TEXT NOT NULL,
          model TEXT NOT NULL, agent_mode TEXT NOT NULL, created_at INTEGER NOT NULL, last_activity_at INTEGER NOT NULL,
          title TEXT NOT NULL, main_chain_id INTEGER NOT NULL, shell_last_seen_index INTEGER NOT NULL DEFAULT 0,
          cogs_json TEXT NOT NULL DEFAULT '[]', workspace_dirs TEXT NOT NULL DEFAULT '[]',
          hidden INTEGER NOT NULL DEFAULT 0, metadata TEXT NOT NULL DEFAULT '{}');
         CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY, session_id TEXT NOT NULL, node_id INTEGER NOT NULL,
          parent_node_id INTEGER, chat_message TEXT NOT NULL, created_at INTEGER NOT NULL, metadata TEXT);",
    );
    let mut session = foreign();
    session.title = String::new();
    session.model = String::new();
    let (report, read) = saved(&demo, &session);
    assert_eq!(equal_but_for(&session, &read, &report.losses), Ok(()));
    let mut empty = foreign();
    empty.nodes.clear();
    empty.main_chain_id = 0;
    let (_, read) = saved(&demo, &empty);
    assert_eq!((read.nodes.len(), read.main_chain_id), (0, 0));
}

#[test]
fn what_the_agent_changes_later_counts() {
    let demo = Demo::new();
    let session = foreign();
    let (report, _) = saved(&demo, &session);
    demo.sql("UPDATE sessions SET title = 'Renamed by the agent', last_activity_at = 1767230000, agent_mode = 'plan'");
    let read = demo.read(&report.id);
    assert_eq!(
        (read.title.as_str(), read.last_activity_at, read.agent_mode.as_str(), read.created_at),
        ("Renamed by the agent", 1_767_230_000.0, "plan", session.created_at)
    );
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn a_row_that_the_agent_copies_tells_its_tokens_once() {
    let demo = Demo::new();
    let (report, _) = saved(&demo, &foreign());
    demo.sql(
        "INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata)
         SELECT session_id, node_id + 10, CASE WHEN node_id > 1 THEN parent_node_id + 10 END, chat_message, created_at, metadata
         FROM message_nodes;
         UPDATE sessions SET main_chain_id = 14;",
    );
    let read = demo.read(&report.id);
    let told: Vec<i64> = read.nodes.iter().filter(|node| node.usage.is_some()).map(|node| node.node_id).collect();
    assert_eq!(told, [12]);
    assert_eq!(read.nodes[5].thinking.as_deref(), Some("I should look first."));
    assert_eq!(demo.keeps_the_laws(), 1);
}
