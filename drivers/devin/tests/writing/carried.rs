//! What rides along is as hostile as the rest of a store.

use crate::demo::{Demo, user, with};
use serde_json::{Value, json};

/// A session of one prompt that carries this.
fn carrying(carried: &Value) -> Demo {
    let demo = Demo::new();
    demo.session("a", Some(1));
    demo.node("a", 1, None, with(user("Hello"), &[("metadata.extensions", json!({"sepia": carried}))]), None);
    demo
}

#[test]
fn members_that_no_node_may_have_are_passed_over() {
    let hostile = [
        json!({"role": "tool"}),
        json!({"role": "user", "toolCallId": "call_1"}),
        json!({"toolCalls": [{"id": "", "name": "exec"}]}),
        json!({"toolCalls": [{"id": "a", "name": "x"}, {"id": "a", "name": "y"}]}),
        json!({"toolCalls": 7}),
        json!({"usage": {"input": -1, "output": 2}}),
        json!({"createdAt": 1e300}),
        json!({"createdAt": -5}),
        json!({"createdAt": 99_999_999_999_i64}),
        json!({"blocks": [{"type": "text", "text": "something else"}, {"type": "image", "data": "AA=="}]}),
        json!({"content": ["x"]}),
        json!({"thinking": {"deep": true}}),
        json!([1, 2]),
        json!("text"),
        json!(null),
    ];
    for carried in hostile {
        let demo = carrying(&carried);
        let node = demo.read("a").nodes.remove(0);
        assert_eq!((node.content.as_str(), node.tool_calls.len(), node.usage), ("Hello", 0, None), "{carried}");
        assert_eq!(demo.keeps_the_laws(), 1, "{carried}");
    }
}

#[test]
fn numbers_and_links_of_nodes_are_those_of_the_rows() {
    let demo = carrying(&json!({"nodeId": 77, "parentNodeId": 5, "model": "m", "unknown": {"x": 1}}));
    let node = demo.read("a").nodes.remove(0);
    assert_eq!((node.node_id, node.parent_node_id, node.model.as_deref()), (1, None, Some("m")));
    assert_eq!(demo.keeps_the_laws(), 1);
}

#[test]
fn a_page_and_a_session_tell_the_same() {
    let demo = carrying(&json!({"thinking": "carried", "metadata": {"b": 1, "a": [1.50]}}));
    let whole = demo.read("a").nodes;
    let page = demo.page("a", sepia_ir::Branch::Live, 10, None);
    assert_eq!(page.nodes, whole);
    assert_eq!(whole[0].metadata, r#"{"a":[1.5],"b":1}"#);
    assert_eq!(whole[0].thinking.as_deref(), Some("carried"));
}

#[test]
fn a_session_stays_one_whatever_it_carries() {
    let hostile = [
        json!({"title": "two\nlines\u{1b}[31m"}),
        json!({"createdAt": 1e300}),
        json!({"createdAt": 1_767_300_000}),
        json!({"lastActivityAt": "now"}),
        json!({"workspaceDirs": "{}", "cogsJson": "not json"}),
        json!({"metadata": [1], "checkpoints": 7}),
        json!({"promptHistory": "x"}),
        json!({"id": "../x", "workingDirectory": "/etc", "mainChainId": 99, "backendType": "claude"}),
        json!([]),
        json!("x"),
    ];
    for carried in hostile {
        let demo = carrying(&json!({}));
        demo.sql(&format!("UPDATE sessions SET metadata = '{}'", json!({"total_acu_cost": 1, "sepia": carried})));
        let session = demo.read("a");
        assert_eq!((session.id.as_str(), session.title.as_str()), ("a", "Title of a"), "{carried}");
        assert_eq!((session.working_directory.as_str(), session.main_chain_id), ("/p/demo", 1), "{carried}");
        assert_eq!(demo.keeps_the_laws(), 1, "{carried}");
    }
}
