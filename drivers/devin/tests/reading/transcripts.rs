//! Transcripts of sessions that have no rows.

use crate::demo::{Demo, meta};
use sepia_ir::{Role, SummaryDetail};
use serde_json::{Value, json};

fn document(steps: Value) -> String {
    json!({"schema_version": "ATIF-v1.7", "session_id": "x", "agent": {"name": "devin", "version": "3000", "model_name": "SWE"}, "steps": steps}).to_string()
}

#[test]
fn one_without_rows_is_a_session_and_one_with_rows_is_not_read() {
    let demo = Demo::sample("basic");
    let at = |second: u32| format!("2026-01-01T00:00:{second:02}.000Z");
    demo.write(
        "transcripts/gone-slug.json",
        document(json!([
            {"step_id": 1, "timestamp": at(0), "source": "system", "message": "You are Devin."},
            {"step_id": 2, "timestamp": at(1), "source": "user", "message": "Count\nthem"},
            {"step_id": 3, "timestamp": at(2), "source": "agent", "message": "", "model_name": "SWE 2", "reasoning_content": "Hm.",
             "tool_calls": [{"tool_call_id": "c1", "function_name": "exec", "arguments": {"command": "ls"}}, {"tool_call_id": "c2", "function_name": "read", "arguments": {}}],
             "observation": {"results": [{"content": "a b"}, {"source_call_id": "c2", "content": [{"type": "text", "text": "x"}]}]},
             "metrics": {"prompt_tokens": 4600, "completion_tokens": 80, "cached_tokens": 3400}},
            {"step_id": 4, "timestamp": at(9), "source": "agent", "message": "Two."},
        ])),
    );
    let rows = demo.rows(SummaryDetail::Row);
    assert_eq!(rows.len(), 3);
    let session = demo.read("gone-slug");
    assert_eq!((session.title.as_str(), session.model.as_str()), ("Count them", "SWE"));
    assert_eq!((session.created_at, session.last_activity_at), (1_767_225_600.0, 1_767_225_609.0));
    let told: Vec<_> = session.nodes.iter().map(|node| (node.role, node.content.as_str())).collect();
    assert_eq!(
        told,
        [
            (Role::System, "You are Devin."),
            (Role::User, "Count\nthem"),
            (Role::Assistant, ""),
            (Role::Tool, "a b"),
            (Role::Tool, "x"),
            (Role::Assistant, "Two.")
        ]
    );
    let asked = &session.nodes[2];
    let usage = asked.usage.unwrap();
    // The prompt's tokens include the cached ones.
    assert_eq!((usage.input, usage.output, usage.cache_read), (1200.0, 80.0, Some(3400.0)));
    assert_eq!((asked.thinking.as_deref(), asked.model.as_deref()), (Some("Hm."), Some("SWE 2")));
    assert_eq!(
        (session.nodes[3].tool_call_id.as_deref(), session.nodes[4].tool_name.as_deref()),
        (Some("c1"), Some("read"))
    );
    assert_eq!(meta(&session.metadata)["source"], json!("transcript"));
    assert_eq!(demo.read("amber-otter").nodes.len(), 6);
    assert_eq!(demo.keeps_the_laws(), 3);
}

#[test]
fn odd_ones_cost_themselves_alone() {
    let demo = Demo::sample("basic");
    for (name, content) in [
        ("empty", String::new()),
        ("prose", "no json".to_owned()),
        ("list", "[1]".to_owned()),
        ("torn", document(json!([]))[..20].to_owned()),
        ("no-steps", "{}".to_owned()),
        (
            "odd-steps",
            document(
                json!([5, null, {"source": "alien"}, {"source": "user", "message": {"a": 1}}, {"source": "user", "message": "ok"}]),
            ),
        ),
        ("half", document(json!([{"source": "user", "message": "ok"}])).replace("ok", "\\ud83d!")),
    ] {
        demo.write(&format!("transcripts/{name}.json"), content);
    }
    let summaries = demo.summaries(SummaryDetail::Row);
    let listed: Vec<&str> = summaries.iter().flat_map(|s| &s.sessions).map(|row| row.id.as_str()).collect();
    assert_eq!(listed.len(), 5);
    assert_eq!(summaries.iter().filter(|summary| !summary.warnings.is_empty()).count(), 4);
    assert_eq!(demo.read("odd-steps").nodes.len(), 1);
    assert_eq!(demo.read("half").nodes[0].content, "\u{fffd}!");
    assert_eq!(demo.keeps_the_laws(), 5);
}
