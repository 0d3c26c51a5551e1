//! Tokens are counted once for each model call.

use crate::demo::{Demo, S1, a, count, meta, tokens, tu, u, with};
use sepia_ir::{Role, SummaryDetail};
use serde_json::{Value, json};

fn line(id: &str, parent: &str, message: (&str, Option<&str>, &str), block: Value, figures: (u64, u64)) -> Value {
    let (message, request, model) = message;
    let usage = json!({"input_tokens": 10, "cache_read_input_tokens": figures.0, "output_tokens": figures.1});
    let record = a(id, parent, json!([block]), 5);
    let members = [
        ("message.id", json!(message)),
        ("message.model", json!(model)),
        ("message.usage", usage),
        ("requestId", json!(request)),
    ];
    with(record, &members)
}

#[test]
fn the_line_with_the_highest_output_counts_whole() {
    let text = |t: &str| json!({"type": "text", "text": t});
    let one = ("msg_1", Some("req_1"), "claude-a");
    let two = ("msg_2", None, "claude-a");
    let three = |model| ("msg_3", Some("req_3"), model);
    let records = [
        u("m1", None, "go", 1),
        line("a1", "m1", one, json!({"type": "thinking", "thinking": "hm", "signature": "s"}), (1000, 1)),
        line("a2", "a1", one, text("one"), (1000, 1)),
        line("a3", "a2", one, tu("t1", "Bash", json!({})), (1000, 260)),
        line("b1", "a3", two, text("two"), (500, 5)),
        line("b2", "b1", two, text("more"), (500, 5)),
        line("c1", "b2", three("claude-a"), text("three"), (7, 3)),
        line("c2", "c1", three("claude-b"), text("end"), (900, 40)),
    ];
    let demo = Demo::new();
    demo.session(S1, &records);
    let session = demo.read(S1);
    assert_eq!(count(&session, Role::Assistant), 3);
    assert_eq!(tokens(&session), [30.0, 305.0, 2400.0, 0.0]);
    let stats = &meta(&session.metadata)["stats"];
    assert_eq!(stats["usage"], json!({"input": 30, "output": 305, "cacheRead": 2400, "cacheWrite": 0}));
    assert_eq!(stats["assistantMessages"], json!(3));
    let answer = &session.nodes[1];
    assert_eq!((answer.thinking.as_deref(), answer.content.as_str(), answer.tool_calls.len()), (Some("hm"), "one", 1));
    assert_eq!(answer.request_id.as_deref(), Some("req_1"));
    assert_eq!(session.nodes[2].content, "two\nmore");
    assert_eq!(
        (session.nodes[3].content.as_str(), session.nodes[3].model.as_deref()),
        ("three\nend", Some("claude-b"))
    );
}

#[test]
fn a_message_told_twice_counts_once() {
    let told = |id: &str, parent: &str, output| {
        line(id, parent, ("msg_1", None, "claude-a"), json!({"type": "text", "text": id}), (7, output))
    };
    for (first, second) in [(40, 40), (40, 3), (3, 40)] {
        let records = [
            u("m1", None, "go", 1),
            told("a1", "m1", first),
            u("m2", Some("a1"), "again", 2),
            told("a2", "m2", second),
        ];
        let demo = Demo::new();
        demo.session(S1, &records);
        let session = demo.read(S1);
        assert_eq!(tokens(&session), [10.0, 40.0, 7.0, 0.0], "{first} and {second}");
        let rows = demo.rows(SummaryDetail::Stats);
        assert_eq!(meta(&rows[0].metadata)["stats"]["usage"]["output"], json!(40));
    }
}
