//! The sample stores, against the facts that stand beside them.

use crate::demo::{Demo, by_id, ids, meta, samples, warnings};
use sepia_conformance::tree_hash;
use sepia_driver_devin::Devin;
use sepia_ir::{Block, Branch, Role, Session, SessionRef, SummaryDetail, ToolCallStatus};
use sepia_sdk::SessionRead;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;

const CASES: [&str; 11] = [
    "basic",
    "branches",
    "compaction",
    "hidden",
    "locked",
    "malformed",
    "old-schema",
    "subagent",
    "tools",
    "twins",
    "wal",
];

fn facts(case: &str) -> Value {
    serde_json::from_slice(&fs::read(samples().join(case).join("expected.json")).unwrap()).unwrap()
}

fn whole(value: &Value) -> Vec<i64> {
    value.as_array().map(|list| list.iter().map(|id| id.as_i64().unwrap()).collect()).unwrap_or_default()
}

fn sessions(facts: &Value) -> Vec<(String, Value)> {
    facts["sessions"].as_object().unwrap().iter().map(|(id, expected)| (id.clone(), expected.clone())).collect()
}

#[test]
fn every_store_keeps_the_laws() {
    for case in CASES {
        let listed = Demo::sample(case).keeps_the_laws();
        let sub_agents = usize::from(case == "subagent");
        assert_eq!(listed, sessions(&facts(case)).len() + sub_agents, "{case}");
    }
}

#[test]
fn rows_are_those_of_the_store_in_its_order() {
    for case in CASES {
        let facts = facts(case);
        let demo = Demo::sample(case);
        let mut rows = demo.rows(SummaryDetail::Row);
        rows.retain(|row| !row.id.contains('/'));
        rows.sort_by(|a, b| b.last_activity_at.total_cmp(&a.last_activity_at));
        let order: Vec<Value> = rows.iter().map(|row| json!(row.id)).collect();
        assert_eq!(json!(order), facts["listOrder"], "{case}");
        for (id, expected) in sessions(&facts) {
            let row = rows.iter().find(|row| row.id == id).unwrap();
            if let Some(title) = expected["title"].as_str().filter(|title| !title.is_empty()) {
                assert_eq!((row.title.as_str(), &meta(&row.metadata)["titleSource"]), (title, &json!("agent")), "{id}");
            } else {
                assert_ne!(meta(&row.metadata)["titleSource"], json!("agent"), "{id}");
            }
            assert_eq!(row.hidden, expected["hidden"].as_i64().unwrap_or_default(), "{id}");
            let model = expected["effectiveModel"].as_str().or(expected["model"].as_str()).unwrap();
            assert_eq!(row.model, model, "{id}");
            assert_eq!(row.working_directory, "/home/dev/shop", "{id}");
            assert_eq!(row.parent_session_id.as_deref(), expected["parentSessionId"].as_str(), "{id}");
        }
    }
}

#[test]
fn nodes_chains_and_prompts_are_those_of_the_store() {
    for case in CASES {
        let demo = Demo::sample(case);
        for (id, expected) in sessions(&facts(case)) {
            let session = demo.read(&id);
            assert_eq!(json!(session.nodes.len()), expected["nodes"], "{id}");
            let chain = whole(&expected["chain"]);
            assert_eq!(demo.live(&id), chain, "{id}");
            let all = ids(&session.nodes);
            let off: Vec<i64> = all.iter().copied().filter(|node| !chain.contains(node)).collect();
            assert_eq!(off, whole(&expected["offChain"]), "{id}");
            let dangling = expected["tipDangling"] == json!(true);
            let tip = if dangling { all.last().copied() } else { expected["tip"].as_i64() };
            assert_eq!(session.main_chain_id, tip.unwrap_or_default(), "{id}");
            assert_eq!(demo.row(&id).main_chain_id, session.main_chain_id, "{id}");
            assert_eq!(warnings(&session.metadata).contains(&"dangling-tip".to_owned()), dangling, "{id}");
            let typed = session.nodes.iter().filter(|node| chain.contains(&node.node_id));
            let typed = typed.filter(|node| meta(&node.metadata)["isUserInput"] == json!(true));
            assert_eq!(typed.map(|node| node.node_id).collect::<Vec<_>>(), whole(&expected["userInputs"]), "{id}");
            for (node, usage) in expected["usage"].as_object().into_iter().flatten() {
                let node = node_of(&session, node.parse().unwrap());
                let told = node.usage.unwrap();
                let told = json!([told.input, told.output, told.cache_read, told.cache_write]);
                let as_float =
                    |list: &Value| json!(list.as_array().unwrap().iter().map(Value::as_f64).collect::<Vec<_>>());
                assert_eq!(as_float(&told), as_float(usage), "{id}");
            }
        }
    }
}

fn node_of(session: &Session, id: i64) -> &sepia_ir::MessageNode {
    session.nodes.iter().find(|node| node.node_id == id).unwrap()
}

#[test]
fn basic_thinking_blocks_prompts_and_fallbacks() {
    let demo = Demo::sample("basic");
    let session = demo.read("amber-otter");
    let answer = node_of(&session, 3);
    assert_eq!(answer.thinking.as_deref(), Some("Small change in one type."));
    assert_eq!(answer.thinking_signature.as_deref(), Some("sealed.v1.YmFzaWM="));
    assert_eq!((answer.model.as_deref(), answer.finish_reason.as_deref()), (Some("swe-2-high"), Some("stop")));
    assert_eq!(answer.request_id.as_deref(), Some("ab6fa82f-6bf5-5c9c-a70d-f14042a6925f"));
    // 2026-09-21T14:13:50Z, the message's own time.
    assert_eq!(answer.created_at, 1_790_000_030.0);
    assert_eq!(node_of(&session, 5).thinking, None);
    let [Block::Text(text), Block::File(file), Block::Image(image)] = &node_of(&session, 2).blocks[..] else {
        panic!("{:?}", node_of(&session, 2).blocks)
    };
    assert_eq!(text.text, node_of(&session, 2).content);
    assert_eq!((file.uri.as_deref(), file.size), (Some("file:///home/dev/shop/cart.md"), Some(120.0)));
    assert_eq!((image.data.as_deref(), image.mime_type.as_deref()), (Some("aGVsbG8="), Some("image/png")));
    assert!(node_of(&session, 4).blocks.is_empty());
    let prompts: Vec<Value> =
        session.prompt_history.iter().map(|prompt| json!([prompt.content, prompt.is_shell])).collect();
    assert_eq!(json!(prompts), facts("basic")["sessions"]["amber-otter"]["prompts"]);
    // Seconds in the store.
    assert_eq!(session.prompt_history[0].timestamp, 1_790_000_005_000.0);
    assert!(session.cogs_json.contains("core/model"));
    assert_eq!(meta(&session.metadata)["total_credit_cost"], json!(0));
    let other = demo.read("5d3c1c52-7f6e-4a35-9a43-0c3d5a1d2e11");
    assert_eq!((other.title.as_str(), other.agent_mode.as_str()), ("Outline the release steps.", "plan"));
    assert_eq!((other.cogs_json.as_str(), other.backend_type.as_str()), ("[]", "Windsurf"));
    assert_eq!(other.workspace_dirs, r#"["/home/dev/shop","/home/dev/shop-lib"]"#);
    assert_eq!(demo.row("amber-otter").cogs_json, "[]");
}

#[test]
fn branches_copies_are_told_and_count_once() {
    let demo = Demo::sample("branches");
    let session = demo.read("cobalt-heron");
    let mut messages: Vec<String> =
        session.nodes.iter().map(|node| meta(&node.metadata)["messageId"].as_str().unwrap().to_owned()).collect();
    let by_node: HashMap<i64, String> = ids(&session.nodes).into_iter().zip(messages.clone()).collect();
    for (copy, original) in [(5, 0), (6, 1), (7, 2)] {
        assert_eq!(by_node[&copy], by_node[&original]);
    }
    messages.sort();
    messages.dedup();
    assert_eq!(messages.len(), 7);
    let tips: Vec<i64> =
        meta(&session.metadata)["branches"].as_array().unwrap().iter().map(|b| b["tip"].as_i64().unwrap()).collect();
    assert_eq!(tips, [4]);
    let stats = &meta(&demo.summary("cobalt-heron").metadata)["stats"];
    // What was given up: one prompt and one answer, no copies.
    assert_eq!((&stats["offChain"]["nodes"], &stats["offChain"]["messages"]), (&json!(5), &json!(2)));
}

#[test]
fn tools_the_weightier_place_tells_what_became_of_a_call() {
    let expected = &facts("tools")["sessions"]["brisk-lantern"];
    let session = Demo::sample("tools").read("brisk-lantern");
    let calls: Vec<_> = session.nodes.iter().flat_map(|node| &node.tool_calls).collect();
    for (id, outcome) in expected["calls"].as_object().unwrap() {
        let call = calls.iter().find(|call| call.id == *id).unwrap();
        let told = json!([call.status, call.exit_code, call.duration_ms.map(|ms| ms as i64)]);
        assert_eq!(&told, outcome, "{id}");
        assert_eq!(json!(call.diffs.len()), expected["diffs"].get(id).cloned().unwrap_or(json!(0)), "{id}");
    }
    let diffs = |id: &str| &calls.iter().find(|call| call.id == id).unwrap().diffs[0];
    assert_eq!(diffs("call_edit_1").old_text.as_deref(), Some("total = sub"));
    assert_eq!(
        (diffs("call_write_1").old_text.clone(), diffs("call_write_1").path.as_str()),
        (None, "/home/dev/shop/src/new.ts")
    );
    assert_eq!(calls[0].locations[0].line, Some(1));
    let refused = node_of(&session, 8);
    assert_eq!((refused.tool_name.as_deref(), refused.role), (Some("write"), Role::Tool));
    assert_eq!(refused.tool_result.unwrap().status, ToolCallStatus::Error);
    assert_eq!(meta(&refused.metadata)["extensions"]["chisel/tool_failure"], json!({"reason": "permission_denied"}));
    assert_eq!(warnings(&session.metadata), ["broken-tool-state"]);
}

#[test]
fn subagent_both_readings() {
    let demo = Demo::sample("subagent");
    let child = demo.read("fern-saddle/explore-1");
    assert_eq!(ids(&child.nodes), [10, 11, 12, 13]);
    assert_eq!(
        (child.parent_session_id.as_deref(), child.agent_id.as_deref()),
        (Some("fern-saddle"), Some("explore-1"))
    );
    assert_eq!((child.title.as_str(), child.model.as_str()), ("List the checkout modules.", "swe-1-7-mini"));
    assert_eq!(meta(&child.metadata)["toolUseId"], json!("call_sub_1"));
    assert_eq!((child.created_at, child.last_activity_at), (1_790_003_012.0, 1_790_003_050.0));
    let by_parent = SessionRef { id: "fern-saddle".into(), agent_id: Some("explore-1".into()) };
    assert_eq!(demo.try_read(&by_parent).unwrap(), child);
    let parent = demo.read("fern-saddle");
    assert_eq!(warnings(&parent.metadata), ["dangling-sub-agent"]);
    assert_eq!(meta(&node_of(&parent, 4).metadata)["agentSession"], json!("fern-saddle/explore-1"));
    assert!(meta(&demo.summary("fern-saddle").metadata)["stats"].get("offChain").is_none());
    assert!(demo.try_read(&SessionRef { id: "fern-saddle".into(), agent_id: Some("ghost-1".into()) }).is_err());
    let spawned = demo.read("golden-ferry-sub");
    assert_eq!(spawned.parent_session_id.as_deref(), Some("golden-ferry"));
    assert_eq!(meta(&spawned.metadata)["spawnedAt"], json!(2));
    let by_parent = SessionRef { id: "golden-ferry".into(), agent_id: Some("golden-ferry-sub".into()) };
    assert_eq!(demo.try_read(&by_parent).unwrap(), spawned);
}

#[test]
fn twins_count_once() {
    let demo = Demo::sample("twins");
    let id = "9b7c2f6e-3c0a-4d6b-8a51-1f2e3d4c5b6a";
    let session = demo.read(id);
    for (first, second) in [(4, 5), (8, 9)] {
        assert_eq!(meta(&node_of(&session, first).metadata)["twin"], json!(second));
        assert!(node_of(&session, first).usage.is_none() && node_of(&session, second).usage.is_some());
    }
    let stats = &meta(&demo.summary(id).metadata)["stats"];
    let told =
        ["messages", "userPrompts", "assistantMessages", "toolCalls", "toolResults"].map(|name| stats[name].as_u64());
    assert_eq!(told, [5, 2, 2, 1, 1].map(Some));
    assert_eq!(stats["usage"], json!({"input": 110, "output": 8, "cacheRead": 0, "cacheWrite": 0}));
    let copies = demo.read("hazel-kite");
    assert!(node_of(&copies, 2).usage.is_none());
    let usage = node_of(&copies, 3).usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read), (100.0, 20.0, Some(400.0)));
    let stats = &meta(&demo.summary("hazel-kite").metadata)["stats"];
    assert_eq!((&stats["usage"]["input"], &stats["offChain"]["usage"]["input"]), (&json!(100), &json!(0)));
}

#[test]
fn compaction_is_told_and_is_no_turn() {
    let demo = Demo::sample("compaction");
    let session = demo.read("olive-harbor");
    for node in [21, 22] {
        assert_eq!(meta(&node_of(&session, node).metadata)["summarizedFrom"], json!(5));
    }
    // Following it leads to the window before.
    let before = sepia_ir::chain::live(&session.nodes, 5);
    assert_eq!(before.iter().map(|at| session.nodes[*at].node_id).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(meta(&node_of(&session, 11).metadata)["kind"], json!("summariser-prompt"));
    assert_eq!(meta(&node_of(&session, 20).metadata)["priorNodeIds"], json!([1]));
    let stats = &meta(&demo.summary("olive-harbor").metadata)["stats"];
    assert_eq!((&stats["userPrompts"], &stats["assistantMessages"]), (&json!(2), &json!(2)));
}

#[test]
fn malformed_rows_cost_themselves_alone() {
    let session = Demo::sample("malformed").read("plain-thistle");
    for (node, expected) in facts("malformed")["referenceReading"].as_object().unwrap() {
        let node = node_of(&session, node.parse().unwrap());
        assert_eq!(json!([node.role, node.content]), *expected);
    }
    assert_eq!(warnings(&node_of(&session, 2).metadata), ["broken-message"]);
    assert_eq!(node_of(&session, 7).parent_node_id, None);
    assert_eq!(meta(&node_of(&session, 7).metadata)["namedParent"], json!(404));
    let mut told = warnings(&session.metadata);
    told.sort();
    told.dedup();
    assert_eq!(
        told,
        ["broken-call", "broken-link", "broken-message", "broken-metadata", "odd-content", "unknown-role"]
    );
}

#[test]
fn wal_what_is_only_in_the_log_is_seen() {
    let demo = Demo::sample("wal");
    assert_eq!(demo.row("quiet-rivet").title, "Live store, renamed");
    assert_eq!(ids(&demo.read("quiet-rivet").nodes), [1, 2, 3, 4]);
}

#[test]
fn reading_changes_nothing() {
    for case in CASES {
        let demo = Demo::sample(case);
        let before = tree_hash(demo.root()).unwrap();
        for row in demo.rows(SummaryDetail::Stats) {
            demo.read(&row.id);
            demo.summary(&row.id);
            demo.page(&row.id, Branch::All, 2, None);
        }
        Devin::locks(&demo.host()).unwrap();
        assert!(Devin::open(&demo.host(), &by_id("nobody")).is_err());
        assert_eq!(tree_hash(demo.root()).unwrap(), before, "{case}");
    }
}
