//! What the model does not see, and what is carried beside it.

use crate::stand::{Stand, foreign};
use sepia_conformance::InProcess;
use sepia_driver_cline::Cline;
use sepia_ir::{Branch, HistoryQuery, LossKind, MessageNode, Role, Session};
use sepia_sdk::{Host, SessionRead};
use serde_json::{Value, json};

/// A prompt that was answered, taken back, and asked in another way; a system prompt before all.
fn branched() -> Session {
    let mut session = foreign();
    let node = |id: i64, parent: i64, role, content: &str| {
        let mut node = MessageNode::new(id, role, session.created_at);
        node.parent_node_id = (parent > 0).then_some(parent);
        node.content = content.into();
        node
    };
    session.nodes = vec![
        node(1, 0, Role::System, "You are another."),
        node(2, 1, Role::User, "First"),
        node(3, 2, Role::Assistant, "Wrong"),
        node(4, 3, Role::User, "No!"),
        node(5, 2, Role::Assistant, "Right"),
        node(6, 5, Role::User, "Good."),
    ];
    session.main_chain_id = 6;
    session
}

fn seen(message: &Value) -> bool {
    message["metadata"]["displayOnly"] != json!(true)
}

#[test]
fn a_branch_that_was_left_is_not_for_the_model_and_comes_back() {
    let stand = Stand::new();
    let (report, read) = stand.saved(&branched());
    let messages = stand.messages(&report.id);
    let texts: Vec<String> =
        messages.iter().filter(|message| seen(message)).map(|m| m["content"][0]["text"].to_string()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[1].contains("Right") && !texts.iter().any(|text| text.contains("Wrong") || text.contains("another")));
    // What is not for the model has no content at all.
    assert!(messages.iter().filter(|message| !seen(message)).all(|message| message["content"] == json!([])));
    let parents: Vec<Option<i64>> = read.nodes.iter().map(|node| node.parent_node_id).collect();
    assert_eq!(parents, [None, Some(1), Some(2), Some(3), Some(2), Some(5)]);
    assert_eq!(read.main_chain_id, 6);
    let told: Vec<(LossKind, Option<i64>)> = report.losses.iter().map(|loss| (loss.kind, loss.node_id)).collect();
    assert_eq!(told, [1, 3, 4].map(|node| (LossKind::MetadataOnly, Some(node))));
    stand.holds_the_laws();
}

#[test]
fn pages_follow_the_live_branch() {
    let stand = Stand::new();
    let (report, _) = stand.saved(&branched());
    let host = Host::new(stand.native().unwrap());
    let page = |branch, limit, before| {
        let query = HistoryQuery { limit, before, branch, index: None };
        let page = Cline::history(&host, &crate::stand::by_id(&report.id), &query).unwrap();
        (page.nodes.iter().map(|node| node.node_id).collect::<Vec<_>>(), page.total, page.start)
    };
    assert_eq!(page(Branch::Live, 2, None), (vec![5, 6], 4, 2));
    assert_eq!(page(Branch::Live, 2, Some(2)), (vec![1, 2], 4, 0));
    assert_eq!(page(Branch::All, 3, None), (vec![4, 5, 6], 6, 3));
}

#[test]
fn what_is_carried_is_found_by_searching() {
    let stand = Stand::new();
    let (report, _) = stand.saved(&branched());
    let host = Host::new(stand.native().unwrap());
    let keys: Vec<String> = Cline::scan(&host).unwrap().entries.into_iter().map(|entry| entry.key).collect();
    let query = sepia_ir::SearchQuery {
        text: "You are another".into(),
        regex: false,
        ignore_case: false,
        parts: Vec::new(),
        hits: 5,
        context: 20,
    };
    let found = Cline::search(&host, &keys, &query).unwrap();
    assert_eq!(found[0].sessions[0].session.id, report.id);
}

#[test]
fn what_the_agent_does_with_the_session_counts() {
    let stand = Stand::new();
    let (report, _) = stand.saved(&foreign());
    let id = &report.id;
    // The agent goes on: it takes the end out of the manifest, and drops members of the file it does not know.
    let path = stand.data().join(format!("sessions/{id}/{id}.json"));
    let mut manifest = stand.manifest(id);
    manifest.as_object_mut().unwrap().remove("ended_at");
    manifest["status"] = json!("idle");
    manifest["metadata"]["title"] = json!("Another title");
    std::fs::write(&path, manifest.to_string()).unwrap();
    let transcript = format!("sessions/{id}/{id}.messages.json");
    let mut messages = stand.json(&transcript)["messages"].take();
    let new = json!({"id": "x", "role": "user", "ts": 1_767_312_000_000u64,
        "content": [{"type": "text", "text": "<user_input mode=\"act\">Go on.</user_input>"}]});
    messages.as_array_mut().unwrap().push(new);
    let file = format!("{{\"version\":1,\"updated_at\":\"2026-01-02T00:00:00.000Z\",\"messages\":{messages}}}");
    std::fs::write(stand.data().join(&transcript), file).unwrap();
    let read = stand.read(id);
    assert_eq!((read.title.as_str(), read.last_activity_at), ("Another title", 1_767_312_000.0));
    assert_eq!((read.nodes.len(), read.nodes[5].parent_node_id, read.main_chain_id), (6, Some(5), 6));
    // What only the other agent knew is still there.
    let metadata: Value = serde_json::from_str(&read.metadata).unwrap();
    assert_eq!((&metadata["elsewhere"]["b"], &metadata["status"]), (&json!(2), &json!("idle")));
    stand.holds_the_laws();
}

#[test]
fn what_is_carried_may_be_anything() {
    let stand = Stand::new();
    let (report, _) = stand.saved(&branched());
    let id = &report.id;
    let transcript = format!("sessions/{id}/{id}.messages.json");
    let file = stand.json(&transcript);
    let odd = [
        json!(7),
        json!({"node": 5, "back": -3, "side": "yes", "calls": {}, "outcome": []}),
        json!({"node": {"nodeId": 1, "parentNodeId": 6, "role": "tool", "toolCallId": "c", "createdAt": 9e9}, "back": 4e9}),
        json!({"side": true}),
        json!({"side": true, "back": 1}),
        json!({"back": 0}),
        json!({"node": {"metadata": {"hidden": true}, "toolCalls": [{"id": "c", "name": "x"}, {"id": "c", "name": "y"}]}}),
    ];
    for beside in odd {
        let mut file = file.clone();
        for message in file["messages"].as_array_mut().unwrap() {
            message["sepia"] = beside.clone();
        }
        std::fs::write(stand.data().join(&transcript), file.to_string()).unwrap();
        stand.holds_the_laws();
        let read = InProcess::<Cline>::on(stand.host()).read(&crate::stand::by_id(id), 2).unwrap();
        assert_eq!(read.nodes.len(), 6, "{beside}");
    }
    let path = stand.data().join(format!("sessions/{id}/{id}.json"));
    let mut manifest = stand.manifest(id);
    let ended = manifest["ended_at"].clone();
    for carried in [
        json!([]),
        json!({"session": 1, "metadata": 2, "endedAt": ended}),
        json!({"session": {"id": "x", "nodes": [], "lastActivityAt": 9e9, "createdAt": 9e9, "title": "a\nb", "cogsJson": "{", "parentSessionId": "p"}, "endedAt": ended}),
        json!({"session": {"title": {}, "promptHistory": 5}, "metadata": {"stats": 7, "warnings": 8}, "endedAt": ended}),
    ] {
        manifest["metadata"]["sepia"] = carried;
        std::fs::write(&path, manifest.to_string()).unwrap();
        let read = stand.read(id);
        assert_eq!((read.id.as_str(), read.parent_session_id.as_deref()), (id.as_str(), None));
        assert!(!read.title.contains('\n') && read.last_activity_at < 8e9);
    }
}
