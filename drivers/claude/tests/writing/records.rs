//! The records that are written, member by member, as the agent writes them.

use crate::demo::{T0, t};
use crate::written::{Ground, calls, chain, result, says, session};
use sepia_ir::{LossKind, Role, TokenUsage, ToolCallStatus};
use serde_json::{Value, json};

const HOUR: &str = "2026-01-01T";

fn is_uuid(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.len() == 36 && text.bytes().filter(|b| *b == b'-').count() == 4
}

/// Names of members in their order, as the line has them.
fn names(line: &str) -> Vec<String> {
    let object: sepia_sdk::json::Object<'_> = sepia_sdk::json::parse(line).unwrap();
    object.0.into_iter().map(|(name, _)| name.into_owned()).collect()
}

/// A turn with two parallel calls, one of which fails.
fn turn() -> sepia_ir::Session {
    let mut answer = calls(
        "Two at once.",
        &[("toolu_1", "Bash", r#"{"command":"ls"}"#), ("toolu_2", "Read", r#"{"file_path":"/p/demo/a"}"#)],
    );
    answer.usage = Some(TokenUsage {
        input: 110.0,
        output: 8.0,
        cache_read: Some(1000.0),
        cache_write: Some(7.0),
        ..TokenUsage::default()
    });
    answer.request_id = Some("req_1".into());
    answer.finish_reason = Some("tool_use".into());
    answer.tool_calls[1].status = Some(ToolCallStatus::Error);
    session(chain(vec![
        says(Role::User, "Look around"),
        answer,
        result("toolu_1", "Bash", "a\nb", ToolCallStatus::Success),
        result("toolu_2", "Read", "no such file", ToolCallStatus::Error),
        calls("Done.", &[]),
    ]))
}

#[test]
fn every_record_is_whole() {
    let ground = Ground::new();
    let (report, _) = ground.saved(&turn());
    assert!(is_uuid(&json!(report.id)));
    assert_eq!(report.resume_command, ["claude", "--resume", &report.id]);
    assert_eq!(report.working_directory, "/p/demo");
    let records = ground.records(&report.id);
    let kinds: Vec<&str> = records.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "user",
            "assistant",
            "assistant",
            "assistant",
            "user",
            "user",
            "assistant",
            "custom-title",
            "sepia",
            "last-prompt"
        ]
    );
    // The envelope of every record of the tree.
    for record in &records[..7] {
        assert!(is_uuid(&record["uuid"]));
        assert_eq!(record["sessionId"], json!(report.id));
        assert_eq!(record["cwd"], json!("/p/demo"));
        assert_eq!(record["isSidechain"], json!(false));
        assert_eq!(record["userType"], json!("external"));
        assert_eq!(record["version"], json!("2.1.197"));
        assert_eq!(record["gitBranch"], json!("HEAD"));
        assert_eq!(record["entrypoint"], json!("sdk-cli"));
        assert!(record["timestamp"].as_str().unwrap().starts_with(HOUR));
    }
    // Each follows the one before it.
    assert_eq!(records[0]["parentUuid"], Value::Null);
    for pair in records[..7].windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
    assert_eq!(records[0]["message"], json!({"role": "user", "content": "Look around"}));
    assert_eq!(records[0]["timestamp"], json!(t(0)));
    assert!(is_uuid(&records[0]["promptId"]));
    let usage = json!({
        "input_tokens": 110, "output_tokens": 8, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 7,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    });
    let blocks = [
        json!({"type": "text", "text": "Two at once."}),
        json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}),
        json!({"type": "tool_use", "id": "toolu_2", "name": "Read", "input": {"file_path": "/p/demo/a"}}),
    ];
    let message = &records[1]["message"]["id"];
    assert!(message.as_str().unwrap().starts_with("msg_"));
    for (record, block) in records[1..4].iter().zip(blocks) {
        assert_eq!(
            record["message"],
            json!({
                "id": message, "type": "message", "role": "assistant", "model": "gpt-5", "content": [block],
                "stop_reason": "tool_use", "stop_sequence": null, "usage": usage, "stop_details": null,
            })
        );
        assert_eq!(record["requestId"], json!("req_1"));
        assert_eq!(record["timestamp"], json!(t(1)));
    }
    assert_eq!(
        records[4]["message"],
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a\nb"}]})
    );
    assert_eq!(records[4]["sourceToolAssistantUUID"], records[2]["uuid"]);
    let failed = json!({"type": "tool_result", "tool_use_id": "toolu_2", "content": "no such file", "is_error": true});
    assert_eq!(records[5]["message"]["content"], json!([failed]));
    assert_eq!(records[5]["sourceToolAssistantUUID"], records[3]["uuid"]);
    assert_eq!(records[5]["promptId"], records[0]["promptId"]);
    assert_ne!(records[6]["message"]["id"], *message);
    assert_eq!(records[7], json!({"type": "custom-title", "customTitle": "Work", "sessionId": report.id}));
    let leaf = json!({
        "type": "last-prompt", "lastPrompt": "Look around", "leafUuid": records[6]["uuid"], "sessionId": report.id,
    });
    assert_eq!(records[9], leaf);
}

#[test]
fn members_stand_where_the_agent_looks_for_them() {
    let ground = Ground::new();
    let (report, _) = ground.saved(&turn());
    let text = std::fs::read_to_string(ground.file(&report.id)).unwrap();
    for line in text.lines().take(7) {
        assert!(line.starts_with("{\"parentUuid\":"), "{line}");
        let names = names(line);
        let at = |name: &str| names.iter().position(|n| n == name).unwrap();
        assert_eq!(at("timestamp"), at("uuid") + 1, "the agent finds ids in long files by the time after them");
    }
}

#[test]
fn a_file_is_for_the_person_only_and_new() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::new();
    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(2);
    let (report, _) = ground.saved(&turn());
    let about = std::fs::metadata(ground.file(&report.id)).unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    assert!(about.modified().unwrap() > before, "old times would have the agent sweep it away");
}

#[test]
fn the_last_answer_always_has_a_model() {
    let ground = Ground::new();
    for (model, expected) in [("", "<synthetic>"), ("gpt-5", "gpt-5")] {
        let mut session = session(chain(vec![says(Role::User, "a"), says(Role::Assistant, "b")]));
        session.model = model.into();
        let (report, read) = ground.saved(&session);
        assert_eq!(ground.records(&report.id)[1]["message"]["model"], json!(expected));
        assert_eq!(read.nodes[1].model, None);
    }
}

#[test]
fn a_branch_that_was_left_is_not_the_one_that_is_resumed() {
    let ground = Ground::new();
    // 1 - 2 - 3, and 4 after 2; the person stands at 3, or went back to 2.
    for tip in [3, 2] {
        let mut nodes = chain(vec![
            says(Role::User, "one"),
            says(Role::Assistant, "two"),
            says(Role::User, "three"),
            says(Role::User, "four"),
        ]);
        nodes[3].parent_node_id = Some(2);
        let mut session = session(nodes);
        session.main_chain_id = tip;
        let (report, read) = ground.saved(&session);
        assert_eq!(read.main_chain_id, tip);
        let records = ground.records(&report.id);
        let last = records.last().unwrap();
        assert_eq!(last["leafUuid"], records[usize::try_from(tip).unwrap() - 1]["uuid"]);
        assert_eq!(last["explicit"], json!(true));
        let row = ground.demo.row(&report.id);
        assert!(row.main_chain_id == 0 || row.main_chain_id == tip);
    }
}

#[test]
fn what_the_agent_adds_later_is_on_top_of_what_is_carried() {
    let ground = Ground::new();
    let (report, read) = ground.saved(&turn());
    assert_eq!((read.agent_mode.as_str(), read.model.as_str()), ("accept-edits", "gpt-5"));
    let records = ground.records(&report.id);
    let message =
        json!({"id": "msg_x", "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": "new"}]});
    let next = json!({
        "parentUuid": records[6]["uuid"], "type": "assistant", "message": message, "uuid": "11111111-1111-4111-8111-aaaaaaaaaaaa",
        "timestamp": t(60), "sessionId": report.id, "cwd": "/p/demo",
    });
    let mut text = std::fs::read_to_string(ground.file(&report.id)).unwrap();
    text += &(next.to_string() + "\n");
    std::fs::write(ground.file(&report.id), text).unwrap();
    let read = ground.demo.read(&report.id);
    assert_eq!(read.nodes.len(), 6);
    assert_eq!((read.nodes[5].parent_node_id, read.main_chain_id), (Some(5), 6));
    assert_eq!((read.model.as_str(), read.last_activity_at), ("claude-x", T0 + 60.0));
    assert_eq!((read.title.as_str(), read.created_at), ("Work", T0));
    let row = ground.demo.row(&report.id);
    assert_eq!((row.model, row.title, row.last_activity_at), ("claude-x".into(), "Work".into(), T0 + 60.0));
}

#[test]
fn a_system_message_is_a_note_that_the_way_back_restores() {
    let ground = Ground::new();
    let session = session(chain(vec![
        says(Role::System, "You are a helper."),
        says(Role::User, "one"),
        says(Role::System, "Mind the gap."),
        says(Role::Assistant, "two"),
        says(Role::System, "The end."),
    ]));
    let (report, read) = ground.saved(&session);
    assert_eq!(read.main_chain_id, 5);
    let lost: Vec<_> = report.losses.iter().map(|loss| (loss.kind, loss.node_id.unwrap())).collect();
    assert_eq!(lost, [1, 3, 5].map(|node| (LossKind::MetadataOnly, node)));
    let records = ground.records(&report.id);
    assert_eq!(
        (&records[0]["type"], &records[0]["subtype"], &records[0]["content"], &records[0]["level"]),
        (&json!("system"), &json!("informational"), &json!("You are a helper."), &json!("info"))
    );
    assert_eq!(records[1]["parentUuid"], records[0]["uuid"]);
}
