//! What a provider takes: objects as arguments, ids and names of its form, no empty message, pictures where it shows them.

use crate::written::{Ground, calls, chain, result, says, session};
use sepia_ir::{AudioBlock, Block, FileBlock, ImageBlock, LossKind, MessageNode, Role, TextBlock, ToolCallStatus};
use serde_json::{Value, json};

fn with_blocks(role: Role, text: &str, blocks: Vec<Block>) -> MessageNode {
    MessageNode { blocks, ..says(role, text) }
}

fn text(text: &str) -> Block {
    Block::Text(TextBlock { text: text.into() })
}

fn picture(data: Option<&str>, mime_type: Option<&str>, uri: Option<&str>) -> Block {
    let own = |text: Option<&str>| text.map(str::to_owned);
    Block::Image(ImageBlock { data: own(data), mime_type: own(mime_type), uri: own(uri) })
}

/// Content of the first record that is a message.
fn content(ground: &Ground, id: &str) -> Value {
    ground.records(id)[0]["message"]["content"].clone()
}

#[test]
fn arguments_are_objects() {
    let arguments = [
        (r#"{"a":1}"#, json!({"a": 1})),
        (r#""{\"b\":[1]}""#, json!({"b": [1]})),
        (r#""plain""#, json!({"input": "plain"})),
        ("[1,2]", json!({"input": [1, 2]})),
        ("null", json!({})),
    ];
    for (given, written) in arguments {
        let ground = Ground::new();
        let (report, read) = ground.saved(&session(chain(vec![
            says(Role::User, "go"),
            calls("", &[("c", "run", given)]),
            result("c", "run", "done", ToolCallStatus::Success),
        ])));
        assert_eq!(ground.records(&report.id)[1]["message"]["content"][0]["input"], written);
        assert_eq!(read.nodes[1].tool_calls[0].arguments, given, "the way back restores it");
    }
}

#[test]
fn arguments_keep_the_order_of_their_members_and_fit_on_a_line() {
    let ground = Ground::new();
    let arguments = "{\"z\":1,\"a\":{\"y\":2,\"b\":1.50}}";
    let (_, read) = ground.saved(&session(chain(vec![
        says(Role::User, "go"),
        calls("", &[("c", "run", arguments)]),
        result("c", "run", "done", ToolCallStatus::Success),
    ])));
    assert_eq!(read.nodes[1].tool_calls[0].arguments, arguments);
    let pretty = session(chain(vec![
        says(Role::User, "go"),
        calls("", &[("c", "run", "{\n  \"z\": 1\r\n}")]),
        result("c", "run", "done", ToolCallStatus::Success),
    ]));
    let report = ground.save(&pretty, &crate::written::NEW).unwrap();
    assert_eq!(ground.records(&report.id)[1]["message"]["content"][0]["input"], json!({"z": 1}));
}

#[test]
fn ids_and_names_have_the_providers_form_and_come_back_as_they_were() {
    let ground = Ground::new();
    let long = "x".repeat(200);
    let (report, read) = ground.saved(&session(chain(vec![
        says(Role::User, "go"),
        calls("", &[("functions.run:0", "shell/run it", "{}"), ("functions.run:0b|é", &long, "{}"), ("", "", "{}")]),
        result("functions.run:0", "shell/run it", "1", ToolCallStatus::Success),
        result("functions.run:0b|é", &long, "2", ToolCallStatus::Success),
        result("", "", "3", ToolCallStatus::Success),
        // The same id in another turn.
        calls("", &[("again", "run", "{}")]),
        result("again", "run", "4", ToolCallStatus::Success),
        calls("", &[("again", "run", "{}")]),
        result("again", "run", "5", ToolCallStatus::Success),
    ])));
    let records = ground.records(&report.id);
    let blocks = || records.iter().filter_map(|record| record["message"]["content"].get(0));
    let of = |kind: &str, member: &str| -> Vec<String> {
        blocks().filter(|b| b["type"] == *kind).map(|b| b[member].as_str().unwrap().to_owned()).collect()
    };
    let ids = of("tool_use", "id");
    assert_eq!(ids, of("tool_result", "tool_use_id"));
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
    for word in ids.iter().chain(&of("tool_use", "name")) {
        assert!(
            word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') && !word.is_empty(),
            "{word}"
        );
        assert!(word.len() <= 128);
    }
    assert_eq!(read.nodes[1].tool_calls[0].id, "functions.run:0");
    assert_eq!(read.nodes[2].tool_name.as_deref(), Some("shell/run it"));
    assert!(report.losses.iter().any(|loss| loss.kind == LossKind::Mapped && loss.node_id == Some(2)));
}

#[test]
fn nothing_is_empty_before_a_provider() {
    let ground = Ground::new();
    let (report, _) = ground.saved(&session(chain(vec![
        says(Role::User, ""),
        says(Role::Assistant, " \n"),
        says(Role::User, "\t"),
        says(Role::Assistant, ""),
        with_blocks(Role::User, "", vec![text(" ")]),
    ])));
    for record in ground.records(&report.id).iter().take(5) {
        let content = &record["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap();
        assert_eq!(text, "(no content)");
    }
}

#[test]
fn pictures_and_files_are_shown_where_a_provider_takes_them() {
    let pdf = Block::File(FileBlock {
        name: Some("a.pdf".into()),
        mime_type: Some("application/pdf".into()),
        size: Some(3.0),
        data: Some("JVBE".into()),
        ..FileBlock::default()
    });
    let note = Block::File(FileBlock {
        name: Some("n.txt".into()),
        mime_type: Some("text/plain".into()),
        text: Some("note".into()),
        ..FileBlock::default()
    });
    let ground = Ground::new();
    let blocks = vec![
        text("Look"),
        picture(Some("iVBO"), Some("image/png"), None),
        pdf,
        note,
        picture(None, None, Some("https://x/y.png")),
    ];
    let (report, _) = ground.saved(&session(chain(vec![with_blocks(Role::User, "Look", blocks)])));
    assert_eq!(
        content(&ground, &report.id),
        json!([
            {"type": "text", "text": "Look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}, "title": "a.pdf"},
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "note"}, "title": "n.txt"},
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        ])
    );
    assert!(report.losses.is_empty());
    // Nothing is carried of what the record has.
    assert_eq!(ground.records(&report.id)[0]["sepia"].as_object().unwrap().keys().collect::<Vec<_>>(), ["metadata"]);
}

#[test]
fn what_a_provider_does_not_take_is_named_and_carried() {
    let ground = Ground::new();
    let blocks = vec![
        picture(Some("PHN2"), Some("image/svg+xml"), None),
        picture(None, None, Some("file:///p/demo/x.png")),
        Block::Audio(AudioBlock { data: Some("UklG".into()), mime_type: Some("audio/wav".into()) }),
        Block::File(FileBlock { uri: Some("file:///p/demo/y.bin".into()), ..FileBlock::default() }),
    ];
    let (report, _) = ground.saved(&session(chain(vec![
        with_blocks(Role::User, "", blocks.clone()),
        MessageNode { blocks, ..says(Role::Assistant, "Drawn.") },
    ])));
    let stand_ins = content(&ground, &report.id);
    let stand_ins: Vec<&str> = stand_ins.as_array().unwrap().iter().map(|b| b["text"].as_str().unwrap()).collect();
    assert_eq!(
        stand_ins,
        [
            "[image: image/svg+xml]",
            "[image: file:///p/demo/x.png]",
            "[audio: audio/wav]",
            "[file: file:///p/demo/y.bin]"
        ]
    );
    let told: Vec<_> = report.losses.iter().map(|loss| (loss.kind, loss.node_id)).collect();
    assert_eq!(told, [(LossKind::MetadataOnly, Some(1)), (LossKind::MetadataOnly, Some(2))]);
}

#[test]
fn results_show_pictures_too() {
    let ground = Ground::new();
    let mut shown = result("c", "see", "a picture", ToolCallStatus::Success);
    shown.blocks = vec![text("a picture"), picture(Some("iVBO"), Some("image/png"), None)];
    let (report, _) =
        ground.saved(&session(chain(vec![says(Role::User, "go"), calls("", &[("c", "see", "{}")]), shown])));
    assert_eq!(
        ground.records(&report.id)[2]["message"]["content"][0]["content"],
        json!([
            {"type": "text", "text": "a picture"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
        ])
    );
}

#[test]
fn a_result_without_its_call_is_no_result() {
    let ground = Ground::new();
    let (report, _) = ground.saved(&session(chain(vec![
        says(Role::User, "go"),
        result("gone", "run", "orphan", ToolCallStatus::Success),
        says(Role::Assistant, "x"),
    ])));
    let records = ground.records(&report.id);
    assert_eq!(records[1]["type"], json!("system"));
    assert!(!serde_json::to_string(&records).unwrap().contains("tool_result"));
    assert_eq!(report.losses[0].node_id, Some(2));
}

#[test]
fn times_that_the_agent_can_not_write_come_back() {
    let ground = Ground::new();
    let mut nodes = chain(vec![says(Role::User, "a"), says(Role::Assistant, "b"), says(Role::User, "c")]);
    nodes[0].created_at = 0.0;
    nodes[1].created_at = 1_767_225_601.000_25;
    let mut session = session(nodes);
    session.last_activity_at = 1_767_225_602.0;
    let (report, _) = ground.saved(&session);
    for record in ground.records(&report.id).iter().take(3) {
        assert_eq!(record["timestamp"].as_str().unwrap().len(), 24);
    }
}

#[test]
fn odd_titles_and_prompts_come_back() {
    for title in ["", "two\nlines", "  spaces  ", "a"] {
        let ground = Ground::new();
        let mut session = session(chain(vec![says(Role::User, "a"), says(Role::Assistant, "b")]));
        session.title = title.into();
        session.agent_mode = "plan".into();
        session.hidden = 1;
        session.workspace_dirs = "[\"/p/demo\"]".into();
        session.prompt_history =
            vec![sepia_ir::PromptHistoryEntry { content: "other".into(), timestamp: 7.0, is_shell: true }];
        let (report, _) = ground.saved(&session);
        let row = ground.demo.row(&report.id);
        assert_eq!((row.title.as_str(), row.agent_mode.as_str(), row.hidden), (title, "plan", 1));
    }
}

#[test]
fn what_is_carried_is_as_hostile_as_the_rest() {
    let ground = Ground::new();
    let (report, read) = ground.saved(&session(chain(vec![says(Role::User, "a"), says(Role::Assistant, "b")])));
    let path = ground.file(&report.id);
    let text = std::fs::read_to_string(&path).unwrap();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for carried in [
        "7",
        "[]",
        "\"x\"",
        "{\"createdAt\":-5,\"lastActivityAt\":9e99,\"role\":1,\"metadata\":[1],\"cogsJson\":\"x\"}",
        &deep,
    ] {
        let hostile: String = text
            .lines()
            .map(|line| {
                let mut record: serde_json::Map<String, Value> = serde_json::from_str(line).unwrap();
                let had = record.remove("sepia").is_some();
                let line = Value::Object(record).to_string();
                if had { format!("{},\"sepia\":{carried}}}\n", &line[..line.len() - 1]) } else { line + "\n" }
            })
            .collect();
        std::fs::write(&path, hostile).unwrap();
        let again = ground.demo.read(&report.id);
        assert_eq!(again.nodes.len(), 2);
        assert_eq!((&again.nodes[0].content, again.nodes[0].role), (&read.nodes[0].content, Role::User));
        assert!(again.created_at >= 0.0 && again.created_at <= again.last_activity_at, "{carried}");
        assert_eq!(again.cogs_json, "[]");
        assert!(serde_json::from_str::<Value>(&again.metadata).unwrap().is_object());
    }
}
