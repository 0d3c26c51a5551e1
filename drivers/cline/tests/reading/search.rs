//! What a look through the files rules out, and what it may not.

use crate::demo::{Demo, S1, S2, a, call, result, u, user};
use sepia_driver_cline::Cline;
use sepia_ir::SearchQuery;
use sepia_sdk::SessionRead;
use serde_json::json;

fn query(text: &str) -> SearchQuery {
    let parts = Vec::new();
    SearchQuery { text: text.to_owned(), regex: false, ignore_case: false, parts, hits: 3, context: 20 }
}

/// Whether each session may hold the text, and whether a search finds it there.
fn looked_for(demo: &Demo, text: &str) -> Vec<(bool, bool)> {
    let keys: Vec<String> = demo.scan().entries.into_iter().map(|entry| entry.key).collect();
    let may = Cline::may_hold(&demo.host(), &keys, &query(text)).unwrap();
    let found = Cline::search(&demo.host(), &keys, &query(text)).unwrap();
    may.into_iter().zip(found.iter().map(|report| !report.sessions.is_empty())).collect()
}

#[test]
fn sessions_without_the_text_are_ruled_out_and_none_with_it() {
    let demo = Demo::new();
    let item = json!({"query": "x", "result": "a tangerine\nor two", "success": true}).to_string();
    let messages = [
        u("m1", "go", 1),
        a("m2", json!([call("c1", "run_commands", json!({"commands": ["peel"]}))]), 2),
        user("m3", json!([result("c1", "run_commands", json!(item))]), 3),
    ];
    demo.session(S1, &messages);
    demo.session(S2, &[u("m1", "an \"orange\" of Orléans", 1)]);
    demo.manifest(S2, &[("metadata", json!({"title": "Grapefruit"}))]);
    let first = (true, true);
    let out = (false, false);
    assert_eq!(looked_for(&demo, "tangerine"), [first, out]);
    assert_eq!(looked_for(&demo, "peel"), [first, out]);
    assert_eq!(looked_for(&demo, "orange"), [out, first]);
    assert_eq!(looked_for(&demo, "Grapefruit"), [out, first]);
    assert_eq!(looked_for(&demo, "nowhere"), [out, out]);
    // White space may have become other white space on the way.
    assert_eq!(looked_for(&demo, "tangerine or"), [(true, false), out]);
    // What may be spelled in several ways rules nothing out.
    assert_eq!(looked_for(&demo, "Orléans"), [(true, false), first]);
}
