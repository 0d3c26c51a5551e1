//! The sample stores against what is known of them.

use crate::demo::{Demo, T0, contents, meta, shown, warnings};
use sepia_ir::{Block, MessageNode, Role, Session, SessionRef, SummaryDetail, ToolCallStatus};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const A: &str = "3f1c0a52-7d64-4f0b-9a1e-5b2c8d9e0a11";
const B: &str = "7c2d9b10-4e8a-4b61-8f35-0c1d2e3f4a22";
const C: &str = "9e4b7a33-1c55-4d2e-a6f0-8b9c0d1e2f33";
const C_FLAT: &str = "b0a1c2d3-2222-4333-8444-555566667777";
const D: &str = "d5e6f708-9a0b-4c1d-8e2f-3a4b5c6d7e44";
const D_SUB: &str = "e1f2a3b4-5c6d-4e7f-8a9b-0c1d2e3f4a55";
const E: &str = "c0ffee00-1111-4222-8333-444455556666";
const F: &str = "f1a2b3c4-d5e6-4f70-8192-a3b4c5d6e777";
const G: &str = "ac900000-aaaa-4bbb-8ccc-ddddeeeeffff";
const H: &str = "00112233-4455-4667-8899-aabbccddeeff";
const IDE: &str = "1d2e3f40-5162-4738-94a5-b6c7d8e9fa01";

fn expected() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cursor/expected.json");
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    all["sessions"].as_array().unwrap().clone()
}

fn blob(node: &MessageNode) -> String {
    meta(&node.metadata)["blob"].as_str().unwrap_or_default().to_owned()
}

fn text_of(parts: &Value) -> String {
    let texts = parts.as_array().unwrap().iter().filter(|part| part["type"] == "text");
    texts.map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// One node is what `expected.json` says of its message.
fn holds(node: &MessageNode, message: &Value) {
    let id = message["blob"].as_str().unwrap();
    assert_eq!(blob(node), id);
    assert_eq!(serde_json::to_value(node.role).unwrap(), message["role"], "{id}");
    let parts = message["parts"].as_array().unwrap();
    let metadata = meta(&node.metadata);
    if node.role == Role::Tool {
        assert_eq!(node.tool_call_id.as_deref(), parts[0]["toolCallId"].as_str(), "{id}");
        assert_eq!(node.tool_name.as_deref(), parts[0]["toolName"].as_str(), "{id}");
        let success = message["outcome"] == "success";
        assert_eq!(node.tool_result.unwrap().status == ToolCallStatus::Success, success, "{id}");
        let named = metadata["outcome"].as_str().unwrap_or("success");
        assert_eq!(named, message["outcome"].as_str().unwrap(), "{id}");
        return;
    }
    let text = text_of(&message["parts"]);
    let typed = text.strip_prefix("<user_query>\n").and_then(|text| text.strip_suffix("\n</user_query>"));
    assert_eq!(node.content, typed.unwrap_or(&text), "{id}");
    assert_eq!(metadata["kind"] == "context", message["context"] == json!(true), "{id}");
    assert_eq!(
        metadata["kind"] == "summary",
        message["summary"] == json!(true) || message["isSummary"] == json!(true),
        "{id}"
    );
    assert_eq!(node.request_id.as_deref(), message["requestId"].as_str(), "{id}");
    let calls: Vec<&Value> = parts.iter().filter(|part| part["type"] == "tool-call").collect();
    assert_eq!(node.tool_calls.len(), calls.len(), "{id}");
    for (call, told) in node.tool_calls.iter().zip(calls) {
        assert_eq!(
            (call.id.as_str(), call.name.as_str()),
            (told["toolCallId"].as_str().unwrap(), told["toolName"].as_str().unwrap())
        );
        assert_eq!(meta(&call.arguments), told["args"], "{id}");
    }
    let reasoning = parts.iter().find(|part| matches!(part["type"].as_str(), Some("reasoning" | "redacted-reasoning")));
    assert_eq!(node.thinking.is_some(), reasoning.is_some(), "{id}");
    let pictures = parts.iter().filter(|part| part["type"] == "image").count();
    assert_eq!(node.blocks.iter().filter(|block| matches!(block, Block::Image(_))).count(), pictures, "{id}");
}

#[test]
fn all_that_is_expected_of_chats_holds() {
    let demo = Demo::samples();
    for fact in expected().iter().filter(|fact| fact["messages"].is_array()) {
        let id = fact["id"].as_str().unwrap();
        let session = demo.read(id);
        assert_eq!(session.title, fact["title"].as_str().unwrap());
        assert_eq!(session.working_directory, fact["cwd"].as_str().unwrap());
        assert_eq!(session.created_at * 1000.0, fact["createdAtMs"].as_f64().unwrap());
        if let Some(updated) = fact["updatedAtMs"].as_f64() {
            assert_eq!(session.last_activity_at * 1000.0, updated);
        }
        assert_eq!(session.agent_mode, fact["mode"].as_str().unwrap());
        assert_eq!(session.model, fact["model"].as_str().unwrap_or_default());
        let metadata = meta(&session.metadata);
        assert_eq!(metadata["root"], fact["root"]);
        assert_eq!(metadata["runEverything"] == json!(true), fact["isRunEverything"] == json!(true));
        assert_eq!(metadata["turns"].as_u64().unwrap_or(0), fact["turns"].as_u64().unwrap_or(0), "{id}");
        assert_eq!(
            metadata["space"],
            if fact["space"] == "acp" { json!("acp-sessions") } else { fact["space"].clone() }
        );
        // A compaction puts what it archived before what it left.
        let archived: Vec<&Value> = fact["archivedMessages"].as_array().into_iter().flatten().collect();
        let messages: Vec<&Value> = fact["messages"].as_array().unwrap().iter().collect();
        let known = |message: &&&Value| archived.iter().any(|other| other["blob"] == message["blob"]);
        let (before, after): (Vec<&Value>, Vec<&Value>) = if archived.is_empty() {
            (messages, Vec::new())
        } else {
            (vec![messages[0]], messages[1..].iter().filter(|message| !known(message)).copied().collect())
        };
        let all: Vec<&Value> = before.into_iter().chain(archived.clone()).chain(after).collect();
        assert_eq!(session.nodes.len(), all.len(), "{id}");
        for (node, message) in session.nodes.iter().zip(all) {
            holds(node, message);
        }
        for sub in fact["subagents"].as_array().into_iter().flatten() {
            let read = demo.read(sub["id"].as_str().unwrap());
            assert_eq!(meta(&read.metadata)["toolUseId"], sub["parentToolCallId"]);
            let messages = sub["messages"].as_array().unwrap();
            assert_eq!(read.nodes.len(), messages.len());
            read.nodes.iter().zip(messages).for_each(|(node, message)| holds(node, message));
        }
    }
}

#[test]
fn the_list_has_each_session_once_and_nothing_else() {
    let demo = Demo::samples();
    let mut ids = vec![A, B, C, C_FLAT, D, D_SUB, E, F, G, IDE].into_iter().map(str::to_owned).collect::<Vec<_>>();
    ids.sort();
    assert_eq!(demo.ids(), ids);
    for unlisted in [H, "2e3f4051-6273-4849-a5b6-c7d8e9fa0b12"] {
        assert_eq!(demo.try_read(&crate::demo::of(unlisted)).unwrap_err().code, sepia_ir::ErrorCode::NotFound);
    }
}

#[test]
fn tools_tell_what_became_of_them() {
    let session = Demo::samples().read(A);
    assert_eq!(shown(&session).len(), 16);
    let node = |at: usize| &session.nodes[at];
    let call = |id: &str| session.nodes.iter().flat_map(|node| &node.tool_calls).find(|call| call.id == id).unwrap();
    assert_eq!(
        (node(3).thinking.as_deref(), node(3).thinking_signature.as_deref()),
        (Some("[redacted]"), Some("b3BhcXVlLXNlYWxlZC1yZWFzb25pbmctMQ=="))
    );
    assert_eq!(node(8).thinking.as_deref(), Some("Math.ceil rounds up; Math.round is right here."));
    assert_eq!(node(8).thinking_signature.as_deref(), Some("c2lnLXNhbXBsZQ=="));
    let failed = call("tool_a_sh1");
    assert_eq!(
        (failed.status, failed.exit_code, failed.duration_ms),
        (Some(ToolCallStatus::Error), Some(1), Some(2140.0))
    );
    let fine = call("tool_a_sh2");
    assert_eq!((fine.status, fine.exit_code, fine.duration_ms), (Some(ToolCallStatus::Success), Some(0), Some(1980.0)));
    let edit = call("tool_a_edit");
    assert_eq!(edit.diffs[0].old_text.as_deref(), Some("Math.ceil(total * 100)"));
    assert_eq!(edit.diffs[0].path, "/home/dev/shop/src/cart.ts");
    assert_eq!(call("tool_a_read").locations[0].path, "/home/dev/shop/src/cart.ts");
    let deleted = call("tool_a_del");
    assert_eq!((deleted.status, deleted.exit_code), (Some(ToolCallStatus::Error), None));
    assert_eq!(meta(&node(15).metadata)["rawErrorMessages"], json!(["ENOENT: no such file"]));
    assert_eq!(node(15).content, "Error: ENOENT: no such file /home/dev/shop/src/old.ts");
    assert_eq!((call("tool_a_grep").index, call("tool_a_read").index), (0, 1));
    let [Block::Text(text), Block::Image(image)] = &node(13).blocks[..] else { panic!("{:?}", node(13).blocks) };
    assert_eq!(text.text, "Now delete the old helper and list what is left to do.");
    assert_eq!(image.mime_type.as_deref(), Some("image/png"));
    assert!(image.data.as_deref().unwrap().starts_with("iVBORw0KGgo"));
    let metadata = meta(&session.metadata);
    assert_eq!(
        metadata["stats"],
        json!({
            "messages": 16, "userPrompts": 2, "assistantMessages": 7, "toolCalls": 7, "toolResults": 7, "toolErrors": 2,
        })
    );
    assert_eq!(metadata["context"], json!({"used": 11840.0, "max": 200_000.0}));
    assert_eq!(metadata["gitBranch"], json!("main"));
    assert_eq!(
        metadata["todos"].as_array().unwrap().iter().map(|todo| &todo["status"]).collect::<Vec<_>>(),
        ["completed", "pending"]
    );
    assert_eq!(metadata["alsoIn"][0]["space"], json!("agent-transcripts"));
    let typed: Vec<&str> = session.prompt_history.iter().map(|prompt| prompt.content.as_str()).collect();
    assert_eq!(
        typed,
        [
            "The cart total is off by one cent. Find the cause and fix it.",
            "Now delete the old helper and list what is left to do."
        ]
    );
}

#[test]
fn a_compaction_keeps_the_full_history_in_one_chain() {
    let session = Demo::samples().read(B);
    let seen: Vec<&str> = shown(&session).iter().map(|node| node.content.as_str()).collect();
    assert_eq!(
        seen,
        [
            "Plan the checkout page.",
            "The checkout needs an address form, a payment step and a review step.",
            "Which files will change?",
            "",
            "src/Cart.tsx\nsrc/App.tsx",
            "src/App.tsx and a new src/Checkout.tsx.",
            "Start with the address form.",
            "Adding the form.",
            "Wrote contents to src/Checkout.tsx",
            "The address form has a file to live in.",
        ]
    );
    assert_eq!(sepia_ir::chain::live(&session.nodes, session.main_chain_id).len(), session.nodes.len());
    let archived = session.nodes.iter().filter(|node| meta(&node.metadata)["archived"] == json!(true)).count();
    assert_eq!(archived, 7);
    let metadata = meta(&session.metadata);
    assert_eq!(metadata["compactions"], json!(1));
    assert_eq!(metadata["plan"], json!("# Checkout\n1. Address form\n2. Payment\n3. Review\n"));
    assert!(metadata["summary"].as_str().unwrap().starts_with("The user is building a checkout page"));
    assert_eq!((&metadata["stats"]["userPrompts"], &metadata["stats"]["messages"]), (&json!(3), &json!(10)));
    let diff =
        &session.nodes.iter().flat_map(|node| &node.tool_calls).find(|call| call.name == "Write").unwrap().diffs[0];
    assert_eq!(
        (diff.old_text.as_deref(), diff.new_text.as_deref()),
        (None, Some("export const Checkout = () => null;\n"))
    );
}

#[test]
fn a_pruned_chat_is_read_from_its_transcript() {
    let demo = Demo::samples();
    let session = demo.read(C);
    assert_eq!(contents(&session), ["Why does the dev server not start?", "Checking the port.", ""]);
    let tools: Vec<&str> =
        session.nodes.iter().flat_map(|node| &node.tool_calls).map(|call| call.name.as_str()).collect();
    assert_eq!(tools, ["Shell", "Read"]);
    assert_eq!(session.nodes.iter().filter(|node| node.thinking.as_deref() == Some("[redacted]")).count(), 2);
    let metadata = meta(&session.metadata);
    assert_eq!(metadata["turnEnded"], json!({"status": "error", "error": "Provider Error: overloaded"}));
    assert_eq!(
        (session.title.as_str(), &metadata["titleSource"]),
        ("Why does the dev server not start?", &json!("first-prompt"))
    );
    assert_eq!(metadata["timeSource"], json!("file"));
    assert_eq!(session.last_activity_at, crate::demo::FILES as f64);
    let flat = demo.read(C_FLAT);
    assert_eq!(contents(&flat), ["Why does the dev server not start?", "Checking the port.", ""]);
    assert_eq!(flat.nodes[1].tool_calls[0].name, "Shell");
    assert_eq!(meta(&flat.nodes[1].tool_calls[0].arguments), json!({"command": "ss -ltn"}));
    assert_eq!(meta(&flat.nodes[2].tool_calls[0].arguments), json!({"path": "/home/dev/shop/vite.config.ts"}));
}

#[test]
fn a_sub_agent_is_a_session_of_its_own() {
    let demo = Demo::samples();
    let row = demo.row(D_SUB);
    assert_eq!((row.parent_session_id.as_deref(), row.agent_id.as_deref()), (Some(D), Some(D_SUB)));
    assert_eq!((row.created_at, row.last_activity_at), (T0 + 7204.0, T0 + 7209.4));
    assert_eq!((row.model.as_str(), row.working_directory.as_str()), ("composer-2", "/home/dev/shop"));
    let metadata = meta(&row.metadata);
    assert_eq!((&metadata["toolUseId"], &metadata["status"]), (&json!("tool_d_task"), &json!("success")));
    assert_eq!(metadata["alsoIn"][0]["path"].as_str().unwrap().rsplit('/').nth(1), Some("subagents"));
    let by_parent = SessionRef { id: D.into(), agent_id: Some(D_SUB.into()) };
    assert_eq!(demo.try_read(&by_parent).unwrap(), demo.read(D_SUB));
    let parent = demo.read(D);
    let result = parent.nodes.iter().find(|node| node.tool_call_id.as_deref() == Some("tool_d_task")).unwrap();
    assert_eq!(meta(&result.metadata)["agentSession"], json!(D_SUB));
}

#[test]
fn a_missing_root_is_told_and_an_earlier_one_is_read() {
    let session = Demo::samples().read(E);
    assert_eq!(warnings(&session), ["missing-root"]);
    let fact = expected().into_iter().find(|fact| fact["sample"] == "E").unwrap();
    assert_eq!(meta(&session.metadata)["recoveredRoot"], fact["recoveryRoot"]);
    assert_eq!(session.nodes.len(), 4);
    assert_eq!(shown(&session)[0].content, "Add a favicon.");
}

#[test]
fn the_newest_turn_may_be_in_the_log_alone() {
    let demo = Demo::samples();
    let session = demo.read(F);
    let seen: Vec<&str> = shown(&session).iter().map(|node| node.content.as_str()).collect();
    assert_eq!(seen, ["Say hello.", "Hello.", "Say goodbye.", "Goodbye."]);
    let metadata = meta(&session.metadata);
    assert_eq!((&metadata["titleSource"], &metadata["firstPrompt"]), (&json!("default"), &json!("Say hello.")));
    fs::remove_file(demo.path(&format!(".cursor/chats/11e9fe063b91149eb10c6daf331adfaa/{F}/store.db-wal"))).unwrap();
    let before = demo.read(F);
    let fact = expected().into_iter().find(|fact| fact["sample"] == "F").unwrap();
    assert_eq!(meta(&before.metadata)["root"], fact["rootWithoutWal"]);
    assert_eq!(before.nodes.len(), 4);
}

#[test]
fn the_bubbles_of_the_ide_are_its_conversation() {
    let demo = Demo::samples();
    let session = demo.read(IDE);
    assert_eq!(session.title, "Add a discount field");
    assert_eq!((session.working_directory.as_str(), session.model.as_str()), ("/home/dev/shop", "composer-2"));
    assert_eq!((session.created_at, session.last_activity_at), (T0 + 86_400.0, T0 + 86_409.0));
    let bubbles: Vec<String> =
        session.nodes.iter().filter_map(|node| Some(meta(&node.metadata)["bubble"].as_str()?.to_owned())).collect();
    let fact = expected().into_iter().find(|fact| fact["sample"] == "IDE-1").unwrap();
    assert_eq!(json!(bubbles), fact["bubbles"]);
    let kinds: Vec<String> = session
        .nodes
        .iter()
        .filter(|node| node.role != Role::Tool)
        .map(|node| match (node.role, node.tool_calls.first()) {
            (Role::User, _) => "user".to_owned(),
            (_, Some(call)) => format!(
                "tool:{}:{}",
                call.name,
                if call.status == Some(ToolCallStatus::Success) { "completed" } else { "error" }
            ),
            _ if node.thinking.is_some() => "thinking".to_owned(),
            _ => "text".to_owned(),
        })
        .collect();
    assert_eq!(json!(kinds), fact["kinds"]);
    let failed = session.nodes.iter().flat_map(|node| &node.tool_calls).find(|call| call.id == "toolu_i2").unwrap();
    assert_eq!((failed.status, failed.exit_code), (Some(ToolCallStatus::Error), Some(2)));
    let used: Vec<_> =
        session.nodes.iter().filter_map(|node| node.usage).map(|usage| (usage.input, usage.output)).collect();
    assert_eq!(used, [(18_200.0, 310.0)]);
    let metadata = meta(&session.metadata);
    assert_eq!(metadata["modelMessages"], json!(8));
    assert_eq!(metadata["workspaceId"], fact["workspaceId"]);
    assert_eq!(metadata["stats"]["usage"]["input"], json!(18_200.0));
    assert_eq!(session.nodes[0].created_at, T0 + 86_401.0);
}

#[test]
fn reading_changes_no_byte_and_tells_no_secret() {
    let demo = Demo::samples();
    let before = demo.hash();
    for row in demo.rows(SummaryDetail::Stats) {
        let read: Session = demo.read(&row.id);
        assert!(!serde_json::to_string(&read).unwrap().contains("blobEncryptionKey"));
    }
    demo.rows(SummaryDetail::Row);
    assert_eq!(demo.hash(), before);
}
