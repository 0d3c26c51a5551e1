//! Long transcripts and long messages: pages, batches, and what is not held.

use crate::demo::{Demo, S1, a, call, contents, meta, result, text, u, user, warnings};
use sepia_driver_cline::Cline;
use sepia_ir::{Role, SessionRef};
use sepia_sdk::{SessionRead, Transcript};
use serde_json::{Value, json};

/// A session of more bytes than are kept in memory at once: `turns` of a prompt, a call, its
/// result and an answer.
fn long(turns: u32) -> Demo {
    let mut messages = Vec::new();
    for n in 0..turns {
        let id = format!("c{n}");
        messages.push(u(&format!("u{n}"), &format!("prompt {n}"), n));
        messages.push(a(&format!("a{n}"), json!([call(&id, "run_commands", json!({"commands": ["x"]}))]), n));
        let said = format!("{n} {}", "lorem ipsum ".repeat(400));
        let ok = n % 3 != 0;
        let item = json!([{"query": "x", "result": said, "success": ok}]);
        messages.push(user(&format!("r{n}"), json!([result(&id, "run_commands", item)]), n));
        messages.push(a(&format!("b{n}"), text(&format!("answer {n}")), n));
    }
    let demo = Demo::new();
    demo.session(S1, &messages);
    demo
}

#[test]
fn a_long_session_is_the_same_in_batches_and_pages() {
    let demo = long(1000);
    let host = demo.host();
    let session = SessionRef { id: S1.into(), agent_id: None };
    let read = |max: usize| {
        let mut transcript = Cline::open(&host, &session).unwrap();
        let mut nodes = Vec::new();
        loop {
            let batch = transcript.next(max).unwrap();
            if batch.is_empty() {
                return (transcript.header(), nodes);
            }
            assert!(batch.len() <= max);
            nodes.extend(batch);
        }
    };
    let (header, nodes) = read(7);
    assert_eq!((nodes.len(), header.main_chain_id), (4000, 4000));
    assert_eq!(read(100_000).1, nodes);
    // Outcomes stand on calls that were handed out before.
    let failed = nodes
        .iter()
        .filter(|node| node.tool_calls.iter().any(|call| call.status == Some(sepia_ir::ToolCallStatus::Error)));
    assert_eq!(failed.count(), 334);
    let newest = demo.page(S1, 50, None, None);
    assert_eq!((newest.total, newest.start), (4000, 3950));
    assert_eq!(newest.nodes, nodes[3950..]);
    let index = newest.index.unwrap();
    assert!(index.len() < 1 << 20, "{}", index.len());
    for (limit, before) in [(1, 3), (10, 2003), (50, 4000), (3, 1)] {
        let page = demo.page(S1, limit, Some(before), Some(index.clone()));
        let start = usize::try_from(before).unwrap().saturating_sub(limit as usize);
        assert_eq!(page.nodes, nodes[start..usize::try_from(before).unwrap()]);
        assert_eq!(page.index, None);
        assert_eq!(HistoryEnds::of(&demo.page(S1, limit, Some(before), None)), HistoryEnds::of(&page));
    }
    // The call of a result at the start of a page comes along.
    let page = demo.page(S1, 1, Some(3), Some(index.clone()));
    assert_eq!((page.nodes[0].role, page.tool_call_nodes.len()), (Role::Tool, 1));
    assert_eq!(page.tool_call_nodes[0], nodes[1]);
    // Of another file an index is worth nothing.
    let other = long(2);
    let page = other.page(S1, 50, None, Some(index));
    assert_eq!((page.total, page.index.is_some()), (8, true));
}

#[derive(Debug, PartialEq)]
struct HistoryEnds(Vec<i64>, Vec<i64>, u64);

impl HistoryEnds {
    fn of(page: &sepia_ir::HistoryPage) -> Self {
        let ids = |nodes: &[sepia_ir::MessageNode]| nodes.iter().map(|node| node.node_id).collect();
        Self(ids(&page.nodes), ids(&page.tool_call_nodes), page.total)
    }
}

#[test]
fn a_message_that_is_too_long_is_told_by_its_place() {
    let demo = Demo::new();
    let long = "x".repeat(17 << 20);
    let messages = [
        u("m1", "go", 1),
        a("m2", json!([call("c1", "run_commands", json!({}))]), 2),
        user("m3", json!([result("c1", "run_commands", json!(long))]), 3),
        a("m4", text("after"), 4),
    ];
    let path = demo.session(S1, &messages);
    let session = demo.read(S1);
    assert_eq!(contents(&session), ["go", "", "", "after"]);
    assert_eq!(warnings(&session), ["long-message"]);
    let stub = &session.nodes[2];
    assert_eq!((stub.role, stub.tool_call_id.as_deref()), (Role::Tool, Some("c1")));
    let told = meta(&stub.metadata);
    let (offset, bytes) = (told["offset"].as_u64().unwrap(), told["bytes"].as_u64().unwrap());
    let file = std::fs::read(path).unwrap();
    let range = usize::try_from(offset).unwrap()..usize::try_from(offset + bytes).unwrap();
    let message: Value = serde_json::from_slice(&file[range]).unwrap();
    assert_eq!(message["id"], json!("m3"));
    assert_eq!(demo.page(S1, 2, Some(3), None).nodes, session.nodes[1..3]);
}

#[test]
fn a_long_first_prompt_still_gives_a_title() {
    let demo = Demo::new();
    demo.manifest(S1, &[("metadata", json!({})), ("prompt", Value::Null)]);
    demo.messages(S1, &[u("m1", &"long ".repeat(400_000), 1)]);
    assert_eq!(demo.row(S1).title.chars().count(), 200);
}
