//! Conversations made for a test.

use serde_json::{Value, json};

/// One with so many turns, with calls and results, which says of itself what it is.
pub(crate) fn talk(title: &str, turns: u64) -> Value {
    let mut nodes: Vec<Value> = Vec::new();
    let mut add = |mut node: Value| {
        let id = u32::try_from(nodes.len() + 1).unwrap();
        node["nodeId"] = json!(id);
        if node["toolCalls"].is_null() {
            node["toolCalls"] = json!([]);
        }
        node["createdAt"] = json!(1_767_225_600.0 + f64::from(id));
        if id > 1 {
            node["parentNodeId"] = json!(id - 1);
        }
        nodes.push(node);
    };
    for turn in 0..turns.max(1) {
        let call = format!("call_{turn}");
        add(json!({"role": "user", "content": format!("{title}: question {turn}")}));
        add(json!({"role": "assistant", "content": "", "model": "m", "toolCalls": [{"id": call, "name": "weather",
            "arguments": {"city": "Ulm", "turn": turn}, "status": "success"}]}));
        let content = format!("rain, and again rain; {}", "so it goes on ".repeat(40));
        add(json!({"role": "tool", "content": content, "toolCallId": call, "toolName": "weather",
            "toolResult": {"status": "success"}}));
        add(json!({"role": "assistant", "content": format!("{title}: answer {turn}"), "model": "m"}));
    }
    let last = nodes.len();
    json!({
        "id": "x", "title": title, "workingDirectory": "/p/demo", "model": "m", "createdAt": 1_767_225_600.0,
        "lastActivityAt": 1_767_229_200.0, "mainChainId": last, "backendType": "elsewhere", "nodes": nodes,
    })
}
