//! An id is looked up; it is never part of a path.

use crate::demo::{Demo, S1, base};
use sepia_driver_claude::Claude;
use sepia_ir::{Branch, ErrorCode, HistoryQuery, SessionRef};
use sepia_sdk::SessionRead;

#[test]
fn what_is_no_listed_session_is_unknown_alike() {
    let demo = Demo::new();
    demo.session(S1, &base(1));
    demo.write("projects/victim.jsonl", "{}\n");
    demo.write("projects/-p-demo/victim/x.jsonl", crate::demo::lines(&base(1)));
    demo.write("victim.jsonl", crate::demo::lines(&base(1)));
    let long = "x".repeat(5000);
    let bad = [
        "../S1",
        "..\\S1",
        "/etc/passwd",
        &format!("{S1}.jsonl"),
        &format!("{S1}/subagents/x"),
        "",
        &long,
        &format!("{S1}\u{0}x"),
        "%2e%2e%2fS1",
        "-h",
        "--dangerously-skip-permissions",
        "x\"; touch canary; \"",
        "CON",
        "\u{202e}abc",
        "victim",
        "../victim",
        "x",
        "agent-",
        "agent-nobody",
        "agent-../../victim",
        &S1[..8],
        ".",
        "..",
        "-p-demo",
    ];
    let host = demo.host();
    for id in bad {
        for agent_id in [None, Some("x".to_owned()), Some("../x".to_owned())] {
            let session = SessionRef { id: id.to_owned(), agent_id };
            let query = HistoryQuery { limit: 1, before: None, branch: Branch::Live, index: None };
            let codes = [
                Claude::open(&host, &session).err().map(|e| (e.code, e.message)),
                Claude::summary_of(&host, &session).err().map(|e| (e.code, e.message)),
                Claude::history(&host, &session, &query).err().map(|e| (e.code, e.message)),
            ];
            let expected = sepia_ir::DriverError::unknown_session(id).message;
            for outcome in codes {
                assert_eq!(outcome, Some((ErrorCode::NotFound, expected.clone())), "{session:?}");
            }
            assert_eq!(Claude::native(&host, &session).err().map(|e| e.code), Some(ErrorCode::NotFound), "{session:?}");
        }
    }
    let unknown_agent = SessionRef { id: S1.into(), agent_id: Some("nobody".into()) };
    assert_eq!(Claude::open(&host, &unknown_agent).err().map(|e| e.code), Some(ErrorCode::NotFound));
    assert_eq!(demo.read(S1).nodes.len(), 2);
}

#[test]
fn keys_that_were_never_given_out_have_no_rows() {
    let demo = Demo::new();
    demo.session(S1, &base(1));
    demo.write("victim.jsonl", crate::demo::lines(&base(1)));
    let keys: Vec<String> =
        ["victim.jsonl", "../x.jsonl", "projects/../victim.jsonl", "projects/-p-demo/gone.jsonl", "", "/etc/passwd"]
            .map(str::to_owned)
            .to_vec();
    let summaries = Claude::summaries(&demo.host(), &keys, sepia_ir::SummaryDetail::Row).unwrap();
    assert_eq!(summaries.len(), keys.len());
    assert!(summaries.iter().all(|summary| summary.sessions.is_empty()));
}
