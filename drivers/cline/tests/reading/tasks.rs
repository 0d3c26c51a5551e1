//! Tasks of the editor's extension.

use crate::demo::{Demo, S1, contents, meta, of_role, talk, warnings};
use sepia_ir::{Block, Role, ToolCallStatus};
use serde_json::{Value, json};

pub const TASK: &str = "1700000000001";
/// Epoch seconds that the task's id tells.
const BEGUN: f64 = 1_700_000_000.001;

/// What went to the model.
pub fn api() -> Value {
    json!([
        {"role": "user", "content": [
            {"type": "text", "text": "<task>\nFix the parser\n</task>"},
            {"type": "text", "text": "<environment_details>\n# Current Working Directory (/p/demo) Files\na.ts\n</environment_details>"},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "sig"},
            {"type": "text", "text": "I will write it."},
            {"type": "tool_use", "id": "t1", "name": "write_to_file", "input": {"path": "a.ts", "content": "x\n"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "saved"}]},
            {"type": "text", "text": "<environment_details>\nnow\n</environment_details>"},
        ]},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": [
            {"type": "text", "text": "<feedback>\nAlso this picture\n</feedback>"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "Seen."}]},
    ])
}

/// What was shown.
pub fn shown() -> Value {
    let at = |n: u64| 1_700_000_000_001 + n * 1000;
    let request = |n: u64, index: i64, input: u64| {
        let text =
            json!({"request": "…", "tokensIn": input, "tokensOut": 7, "cacheWrites": 3, "cacheReads": 50, "cost": 0.5});
        json!({"ts": at(n), "type": "say", "say": "api_req_started", "text": text.to_string(), "conversationHistoryIndex": index})
    };
    json!([
        {"ts": at(0), "type": "say", "say": "task", "text": "Fix the parser", "conversationHistoryIndex": -1},
        request(1, -1, 10),
        {"ts": at(2), "type": "say", "say": "text", "text": "I will write it.", "conversationHistoryIndex": 0},
        {"ts": at(3), "type": "say", "say": "tool", "text": "{\"tool\":\"newFileCreated\",\"path\":\"a.ts\",\"content\":\"x\"}", "conversationHistoryIndex": 1, "lastCheckpointHash": "abc123"},
        request(4, 1, 20),
        {"ts": at(5), "type": "ask", "ask": "completion_result", "text": "", "conversationHistoryIndex": 3},
        {"ts": at(6), "type": "say", "say": "user_feedback", "text": "Also this picture", "images": ["data:image/png;base64,AAAA"], "conversationHistoryIndex": 3},
        request(7, 3, 30),
        {"ts": at(8), "type": "say", "say": "completion_result", "text": "Seen.", "conversationHistoryIndex": 5},
    ])
}

pub fn item(id: &str) -> Value {
    json!({
        "id": id, "ulid": "x", "ts": 1_700_000_100_000u64, "task": "Fix the parser", "tokensIn": 60, "tokensOut": 21,
        "cacheWrites": 9, "cacheReads": 150, "totalCost": 1.5, "size": 1000, "cwdOnTaskInitialization": "/p/demo",
        "modelId": "model-9", "isFavorited": true,
    })
}

fn whole() -> Demo {
    let demo = Demo::new();
    demo.task(TASK, "api_conversation_history.json", api().to_string());
    demo.task(TASK, "ui_messages.json", shown().to_string());
    demo.list(&json!([item(TASK)]));
    demo
}

#[test]
fn a_task_is_a_row() {
    let demo = whole();
    let row = demo.row(TASK);
    assert_eq!(
        (row.title.as_str(), row.working_directory.as_str(), row.model.as_str()),
        ("Fix the parser", "/p/demo", "model-9")
    );
    assert_eq!((row.created_at, row.last_activity_at), (BEGUN, 1_700_000_100.0));
    let metadata = meta(&row.metadata);
    assert_eq!(
        (&metadata["state"], &metadata["favorite"], &metadata["totalCost"]),
        (&json!("complete"), &json!(true), &json!(1.5))
    );
    assert_eq!(metadata["readFrom"], json!(format!("tasks/{TASK}/api_conversation_history.json")));
    assert_eq!(
        metadata["aggregateUsage"],
        json!({"tokensIn": 60, "tokensOut": 21, "cacheWrites": 9, "cacheReads": 150})
    );
}

#[test]
fn a_task_is_read_with_the_times_and_tokens_that_were_shown() {
    let demo = whole();
    let session = demo.read(TASK);
    assert_eq!(
        contents(&session),
        ["Fix the parser", "I will write it.", "saved", "", "Done.", "Also this picture", "Seen."]
    );
    let roles: Vec<Role> = session.nodes.iter().map(|node| node.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant, Role::User, Role::Assistant]
    );
    let prompts: Vec<&str> = session.prompt_history.iter().map(|prompt| prompt.content.as_str()).collect();
    assert_eq!(prompts, ["Fix the parser", "Also this picture"]);
    let seconds: Vec<f64> = session.nodes.iter().map(|node| (node.created_at - BEGUN).round()).collect();
    assert_eq!(seconds, [0.0, 3.0, 5.0, 5.0, 5.0, 8.0, 8.0]);
    let usage: Vec<_> = of_role(&session, Role::Assistant)
        .iter()
        .map(|node| node.usage.unwrap())
        .map(|usage| (usage.input, usage.output, usage.cache_read, usage.cost))
        .collect();
    assert_eq!(
        usage,
        [(10.0, 7.0, Some(50.0), Some(0.5)), (20.0, 7.0, Some(50.0), Some(0.5)), (30.0, 7.0, Some(50.0), Some(0.5))]
    );
    let stats = &meta(&session.metadata)["stats"];
    assert_eq!(
        (&stats["userPrompts"], &stats["usage"]["input"], &stats["usage"]["cacheWrite"]),
        (&json!(2), &json!(60), &json!(9))
    );
    assert_eq!(
        (session.checkpoints[0].ref_.as_str(), session.checkpoints[0].kind.as_deref()),
        ("abc123", Some("shadow-git"))
    );
    // The name of a tool stands with the call alone.
    assert_eq!(session.nodes[2].tool_name.as_deref(), Some("write_to_file"));
    let call = &session.nodes[1].tool_calls[0];
    assert_eq!((call.status, call.diffs[0].path.as_str()), (Some(ToolCallStatus::Success), "a.ts"));
    assert_eq!(
        (session.nodes[1].thinking.as_deref(), session.nodes[1].thinking_signature.as_deref()),
        (Some("Let me see."), Some("sig"))
    );
    let Block::Image(image) = &session.nodes[5].blocks[1] else { panic!("an image") };
    assert_eq!((image.data.as_deref(), image.mime_type.as_deref()), (Some("AAAA"), Some("image/png")));
    let hidden = meta(&session.nodes[3].metadata);
    assert_eq!(
        (&hidden["hidden"], &hidden["originalTexts"]),
        (&json!(true), &json!(["<environment_details>\nnow\n</environment_details>"]))
    );
    // A page says the same.
    let page = demo.page(TASK, 4, None, None);
    assert_eq!(page.nodes, session.nodes[3..]);
    assert_eq!(demo.page(TASK, 4, None, page.index).nodes, session.nodes[3..]);
}

#[test]
fn what_was_shown_stands_for_what_can_not_be_read() {
    let demo = Demo::new();
    demo.task(TASK, "claude_messages.json", shown().to_string());
    let session = demo.read(TASK);
    assert_eq!(contents(&session), ["Fix the parser", "I will write it.", "", "Also this picture", "Seen."]);
    assert_eq!(
        (session.nodes[2].tool_calls[0].name.as_str(), session.nodes[2].tool_calls[0].status),
        ("newFileCreated", None)
    );
    let metadata = meta(&session.metadata);
    assert_eq!((&metadata["state"], &metadata["timeSource"]), (&json!("unlisted"), &json!("file")));
    assert_eq!(metadata["readFrom"], json!(format!("tasks/{TASK}/claude_messages.json")));
    assert_eq!((session.title.as_str(), session.nodes[0].created_at), ("Fix the parser", BEGUN));
    assert!(matches!(session.nodes[3].blocks[1], Block::Image(_)));
}

#[test]
fn tasks_below_the_data_directory_and_both_places_of_the_list() {
    let demo = whole();
    let other = "1700000000002";
    demo.session(S1, &talk(1));
    demo.write(&format!("tasks/{other}/api_conversation_history.json"), api().to_string());
    demo.write(
        "tasks/taskHistory.json",
        json!([item(other), {"id": "1700000000003", "task": "Gone", "ts": 1_700_000_200_000u64}]).to_string(),
    );
    assert_eq!(demo.ids(), [TASK, other, "1700000000003", S1]);
    assert_eq!(demo.row(other).working_directory, "/p/demo");
    let gone = demo.read("1700000000003");
    assert_eq!((gone.title.as_str(), gone.nodes.len(), warnings(&gone)), ("Gone", 0, vec!["no-transcript".to_owned()]));
    assert_eq!(meta(&gone.metadata)["state"], json!("no-files"));
    // One id in two places is one session.
    demo.write(&format!("tasks/{TASK}/ui_messages.json"), shown().to_string());
    assert_eq!(demo.ids().len(), 4);
    assert_eq!(demo.scan().warnings[0].code, "duplicate-task");
}

#[test]
fn a_change_of_the_list_changes_the_stamp_of_its_task_alone() {
    let demo = whole();
    let other = "1700000000002";
    demo.task(other, "ui_messages.json", shown().to_string());
    demo.list(&json!([item(TASK), item(other)]));
    let stamps = |demo: &Demo| demo.scan().entries.into_iter().map(|entry| entry.stamp).collect::<Vec<_>>();
    let before = stamps(&demo);
    let mut changed = item(other);
    changed["task"] = json!("Another name");
    demo.list(&json!([item(TASK), changed]));
    let after = stamps(&demo);
    assert_eq!((before[0] == after[0], before[1] == after[1]), (true, false));
    assert_eq!(demo.row(other).title, "Another name");
}

#[test]
fn results_as_text_are_no_prompts() {
    let demo = Demo::new();
    let messages = json!([
        {"role": "user", "content": [{"type": "text", "text": "<task>\nRead a\n</task>"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "<read_file>\n<path>a</path>\n</read_file>"}]},
        {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a'] Result:"}, {"type": "text", "text": "content of a"}]},
    ]);
    demo.task(TASK, "api_conversation_history.json", messages.to_string());
    let session = demo.read(TASK);
    assert_eq!(session.prompt_history.len(), 1);
    assert_eq!(meta(&session.nodes[2].metadata)["kind"], json!("tool-report"));
    assert_eq!(session.nodes[2].content, "[read_file for 'a'] Result:\ncontent of a");
    assert_eq!(meta(&session.metadata)["state"], json!("unlisted"));
}
