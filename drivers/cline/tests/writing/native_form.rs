//! What is written, field by field, as the agent writes it.

use crate::stand::{Stand, foreign};
use sepia_ir::{Block, FileBlock, ImageBlock, MessageNode, Role, TextBlock};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_manifest_has_all_that_the_agent_asks_for() {
    let stand = Stand::new();
    let (report, _) = stand.saved(&foreign());
    let manifest = stand.manifest(&report.id);
    let path = stand.data().canonicalize().unwrap().join(format!("sessions/{0}/{0}.messages.json", report.id));
    let wanted = json!({
        "version": 1, "session_id": report.id, "source": "cli", "pid": 0,
        "started_at": "2026-01-01T00:00:00.000Z", "ended_at": "2026-01-01T00:00:06.000Z", "exit_code": 0,
        "status": "completed", "interactive": false, "provider": "unknown", "model": "model-x", "cwd": "/p/demo",
        "workspace_root": "/p/demo", "enable_tools": true, "enable_spawn": true, "enable_teams": true,
        "prompt": "Round it, please.\nWell?", "messages_path": path,
    });
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&manifest[name], value, "{name}");
    }
    let meta = &manifest["metadata"];
    assert_eq!(meta["title"], "Round the total");
    assert_eq!(meta["sessionHistoryOrigin"]["mode"], "user");
    assert_eq!(meta["usage"]["inputTokens"], 100);
    assert_eq!(meta["usage"], meta["aggregateUsage"]);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn the_messages_are_those_that_the_agent_sends_to_the_model() {
    let stand = Stand::new();
    let (report, _) = stand.saved(&foreign());
    let file = stand.json(&format!("sessions/{0}/{0}.messages.json", report.id));
    assert_eq!((&file["version"], &file["agent"], &file["sessionId"]), (&json!(1), &json!("lead"), &json!(report.id)));
    assert_eq!(file["origin"]["sessionId"], json!(report.id));
    let bare = |message: &Value| {
        let mut message = message.clone();
        let id = message["id"].take();
        assert!(id.as_str().is_some_and(|id| !id.is_empty()));
        let members = message.as_object_mut().unwrap();
        members.remove("id");
        members.remove("sepia");
        message
    };
    let messages: Vec<Value> = stand.messages(&report.id).iter().map(bare).collect();
    let info = json!({"id": "model-x", "provider": "unknown"});
    let wanted = [
        json!({"role": "user", "ts": 1_767_225_601_000u64, "content": [
            {"type": "text", "text": "<user_input mode=\"act\">Round it, please.\nWell?</user_input>"}]}),
        json!({"role": "assistant", "ts": 1_767_225_602_000u64, "modelInfo": info, "content": [
            {"type": "thinking", "thinking": "Where is it?"}, {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "c1", "name": "run_commands", "input": {"commands": ["ls -l"]}},
            {"type": "tool_use", "id": "c2", "name": "Strange", "input": {"zz": 1, "aa": {"y": 2, "x": 3}}}]}),
        json!({"role": "user", "ts": 1_767_225_603_000u64, "content": [{"type": "tool_result", "tool_use_id": "c1",
            "name": "run_commands", "content": [{"query": "ls -l", "result": "cart.py\n", "success": true}]}]}),
        json!({"role": "user", "ts": 1_767_225_604_000u64, "content": [{"type": "tool_result", "tool_use_id": "c2",
            "name": "Strange", "content": "it broke", "is_error": true}]}),
        json!({"role": "assistant", "ts": 1_767_225_605_000u64, "modelInfo": info, "content": [{"type": "text", "text": "Done."}],
            "metrics": {"inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 40, "cacheWriteTokens": 0}}),
    ];
    assert_eq!(messages, wanted);
}

#[test]
fn the_mode_of_the_session_is_that_of_its_prompts() {
    let stand = Stand::new();
    let mut session = foreign();
    session.agent_mode = "plan".into();
    let (report, read) = stand.saved(&session);
    let messages = stand.messages(&report.id);
    assert!(messages[0]["content"][0]["text"].as_str().unwrap().starts_with("<user_input mode=\"plan\">"));
    assert_eq!(read.agent_mode, "plan");
}

#[test]
fn images_and_files_stand_in_the_message_and_the_rest_is_said() {
    let stand = Stand::new();
    let mut session = foreign();
    session.nodes.truncate(1);
    let image = |data: Option<&str>, uri: Option<&str>| {
        Block::Image(ImageBlock {
            data: data.map(Into::into),
            mime_type: Some("image/gif".into()),
            uri: uri.map(Into::into),
        })
    };
    session.nodes[0].blocks = vec![
        Block::Text(TextBlock { text: "Look.".into() }),
        image(Some("R0lGOD=="), None),
        image(None, Some("https://x.test/a.png")),
        Block::File(FileBlock {
            uri: Some("file:///p/demo/a.txt".into()),
            text: Some("one".into()),
            ..FileBlock::default()
        }),
    ];
    session.nodes[0].content = "Look.".into();
    let (report, read) = stand.saved(&session);
    assert_eq!(
        stand.messages(&report.id)[0]["content"],
        json!([
            {"type": "text", "text": "<user_input mode=\"act\">Look.</user_input>"},
            {"type": "image", "data": "R0lGOD==", "mediaType": "image/gif"},
            {"type": "text", "text": "[image: https://x.test/a.png]"},
            {"type": "file", "path": "/p/demo/a.txt", "content": "one"},
        ])
    );
    assert_eq!(read.nodes[0].blocks, session.nodes[0].blocks);
    assert_eq!(report.losses.iter().map(|loss| loss.node_id).collect::<Vec<_>>(), [Some(1)]);
}

#[test]
fn arguments_become_the_object_that_they_have_to_be() {
    let stand = Stand::new();
    let mut session = foreign();
    let forms = ["{\"a\":1}", "\"{\\\"a\\\":1}\"", "null", "[1]", "\"ls\""];
    session.nodes.truncate(2);
    let call = session.nodes[1].tool_calls[1].clone();
    session.nodes[1].tool_calls = forms
        .iter()
        .enumerate()
        .map(|(at, arguments)| {
            let index = i64::try_from(at).unwrap();
            sepia_ir::ToolCall { id: format!("c{at}"), index, arguments: (*arguments).into(), ..call.clone() }
        })
        .collect();
    for at in 0..forms.len() {
        let mut answer = MessageNode::new(3 + i64::try_from(at).unwrap(), Role::Tool, session.created_at + 9.0);
        answer.parent_node_id = Some(answer.node_id - 1);
        answer.tool_call_id = Some(format!("c{at}"));
        answer.content = "x".into();
        session.nodes.push(answer);
    }
    session.main_chain_id = session.nodes.last().unwrap().node_id;
    let (report, read) = stand.saved(&session);
    let content = stand.messages(&report.id)[1]["content"].clone();
    let inputs: Vec<Value> = content.as_array().unwrap()[2..].iter().map(|block| block["input"].clone()).collect();
    assert_eq!(inputs, [json!({"a": 1}), json!({"a": 1}), json!({}), json!({"input": [1]}), json!({"input": "ls"})]);
    let arguments: Vec<&str> = read.nodes[1].tool_calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, forms);
}
