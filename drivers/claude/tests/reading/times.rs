//! When a session was last at work: its newest message, not its file.

use crate::demo::{Demo, S1, S2, S3, T0, a, date, lines, meta, t, text, u, with};
use serde_json::{Value, json};

const FILE: u64 = 1_767_229_200;

fn session(demo: &Demo, id: &str, records: &[Value]) {
    let path = demo.write(&format!("projects/-p-demo/{id}.jsonl"), lines(records));
    date(&path, FILE);
}

#[test]
fn the_newest_message_counts_and_nothing_else() {
    let demo = Demo::new();
    for (id, at) in [(S1, 100), (S2, 200), (S3, 300)] {
        let mut records = vec![u("m1", None, "hi", 1), a("m2", "m1", text("ho"), at)];
        if id == S1 {
            records.push(json!({"type": "last-prompt", "lastPrompt": "hi", "leafUuid": "m2", "timestamp": t(900), "sessionId": S1}));
        }
        session(&demo, id, &records);
    }
    session(
        &demo,
        "future",
        &[
            u("m1", None, "hi", 1),
            with(a("m2", "m1", text("ho"), 2), &[("timestamp", json!("2099-01-01T00:00:00.000Z"))]),
        ],
    );
    session(&demo, "none", &[with(u("m1", None, "hi", 1), &[("timestamp", json!(null))])]);
    let last = |id: &str| demo.row(id).last_activity_at;
    assert_eq!([S1, S2, S3].map(last), [T0 + 100.0, T0 + 200.0, T0 + 300.0]);
    assert_eq!(last("future"), FILE as f64);
    assert_eq!(meta(&demo.row("future").metadata)["timeSource"], json!("clamped"));
    assert_eq!((last("none"), demo.row("none").created_at), (FILE as f64, FILE as f64));
    assert_eq!(meta(&demo.row("none").metadata)["timeSource"], json!("file"));
    assert_eq!(meta(&demo.row(S1).metadata)["timeSource"], json!(null));
}

#[test]
fn numbers_and_jumps_are_understood() {
    let demo = Demo::new();
    session(
        &demo,
        S1,
        &[
            with(u("m1", None, "hi", 1), &[("timestamp", json!(1_767_225_601))]),
            with(a("m2", "m1", text("ho"), 2), &[("timestamp", json!(1_767_225_900_500_u64))]),
            u("m3", Some("m2"), "back in time", 60),
        ],
    );
    let row = demo.row(S1);
    assert_eq!((row.created_at, row.last_activity_at), (T0 + 1.0, T0 + 300.5));
    let read = demo.read(S1);
    let times: Vec<f64> = read.nodes.iter().map(|node| node.created_at).collect();
    assert_eq!(times, [T0 + 1.0, T0 + 300.5, T0 + 60.0]);
    assert_eq!((read.created_at, read.last_activity_at), (T0 + 1.0, T0 + 300.5));
}
