//! The laws of drivers, on the samples and on odd stores.

use crate::demo::{Demo, S1, S2, a, call, json_tasks, result, talk, text, transcript, u, user};
use sepia_conformance::{InProcess, Suite};
use sepia_driver_cline::Cline;
use serde_json::json;

/// Holds the laws over a store; gives the number of sessions.
fn kept(demo: &Demo) -> usize {
    let subject = InProcess::<Cline>::on(demo.host());
    let report = Suite::new(&subject).on_store(demo.root()).run();
    assert_eq!(report.failures(), Vec::<&sepia_conformance::Outcome>::new());
    report.sessions()
}

#[test]
fn over_the_samples() {
    let sessions =
        ["store", "hub", "wal", "truncated", "compacted", "file-mention"].map(|name| kept(&Demo::sample(name)));
    assert_eq!(sessions, [13, 4, 14, 1, 1, 1]);
}

#[test]
fn over_no_store() {
    assert_eq!(kept(&Demo::new()), 0);
    let demo = Demo::new();
    std::fs::remove_dir(demo.root()).unwrap();
    assert_eq!((demo.scan().entries.len(), demo.scan().warnings.len()), (0, 0));
}

#[test]
fn over_odd_sessions() {
    let demo = Demo::new();
    demo.session(S1, &talk(3));
    demo.messages(S2, &[talk(1), talk(1)].concat());
    demo.manifest("only-manifest", &[]);
    demo.session("-dash", &[]);
    demo.session("with \"quotes\" and spaces", &talk(1));
    let calls = json!([call("c", "x", json!({})), call("d", "y", json!("text")), {"type": "text", "text": "and"}]);
    demo.session(
        "tools",
        &[
            u("1", "go", 1),
            a("2", calls, 2),
            user("3", json!([result("c", "x", json!("a")), result("d", "y", json!([{"query": "q", "result": 5, "success": false}])), {"type": "image", "data": "AA==", "mediaType": "image/png"}]), 3),
            user("4", json!([result("nobody", "x", json!([{"type": "video"}]))]), 9_000_000),
            a("2", text("again"), 4),
        ],
    );
    for (name, content) in [
        ("empty", ""),
        ("prose", "no JSON"),
        ("torn", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"ro"),
        ("numbers", "[1,2,\"x\",null,{}]"),
    ] {
        demo.write(&format!("sessions/{name}/{name}.messages.json"), content);
    }
    for stem in ["agent_1_a", "scout__a", "scout__b"] {
        demo.write(&format!("sessions/{S1}/{stem}.messages.json"), transcript("x", &[user("m", text(stem), 1)]));
    }
    demo.write("sessions/nobody/agent_2.messages.json", transcript("x", &talk(1)));
    demo.write("sessions/stray.json", "{}");
    assert_eq!(kept(&demo), 14);
}

#[test]
fn over_tasks() {
    let demo = json_tasks();
    assert!(kept(&demo) >= 5);
}
