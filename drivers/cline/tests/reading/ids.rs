//! An id is looked up; it is never part of a path.

use crate::demo::{Demo, S1, talk};
use sepia_driver_cline::Cline;
use sepia_ir::{Branch, DriverError, ErrorCode, HistoryQuery, SessionRef, SummaryDetail};
use sepia_sdk::SessionRead;

#[test]
fn what_is_no_listed_session_is_unknown_alike() {
    let demo = Demo::new();
    let messages = demo.session(S1, &talk(1));
    let content = std::fs::read(&messages).unwrap();
    for path in [
        "victim.json",
        "victim.messages.json",
        "sessions/victim.messages.json",
        "sessions/a/victim.json",
        "sessions/a/b/b.messages.json",
    ] {
        demo.write(path, &content);
    }
    let long = "x".repeat(5000);
    let bad = [
        "../S1",
        "..\\S1",
        "/etc/passwd",
        &format!("{S1}.json"),
        &format!("{S1}.messages"),
        &format!("{S1}/x"),
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
        "a__victim",
        "a__b",
        "a",
        "b",
        ".",
        "..",
        "__",
        "sessions",
        &format!("{S1}__{S1}"),
        &format!("../data__{S1}"),
        &format!("{S1}__"),
        &S1[..8],
    ];
    let host = demo.host();
    for id in bad {
        for agent_id in [None, Some("x".to_owned()), Some("../x".to_owned()), Some(S1.to_owned())] {
            let session = SessionRef { id: id.to_owned(), agent_id };
            let query = HistoryQuery { limit: 1, before: None, branch: Branch::Live, index: None };
            let outcomes = [
                Cline::open(&host, &session).err(),
                Cline::summary_of(&host, &session).err(),
                Cline::history(&host, &session, &query).err(),
                Cline::native(&host, &session).err(),
            ];
            for outcome in outcomes {
                assert_eq!(outcome, Some(DriverError::unknown_session(id)), "{session:?}");
                assert_eq!(outcome.unwrap().code, ErrorCode::NotFound);
            }
        }
    }
    assert_eq!(demo.read(S1).nodes.len(), 2);
}

#[test]
fn keys_that_were_never_given_out_have_no_rows() {
    let demo = Demo::new();
    demo.session(S1, &talk(1));
    demo.write("settings/providers.json", "{}");
    let keys = [
        "",
        "x",
        "session/",
        "session/..",
        "session/../settings",
        "session/gone",
        "agent/a/b",
        "agent/../settings",
        "task/cline/../x",
        "task/none/1",
        "row/gone",
        "/etc/passwd",
    ];
    let keys: Vec<String> = keys.map(str::to_owned).to_vec();
    for detail in [SummaryDetail::Row, SummaryDetail::Stats] {
        let summaries = Cline::summaries(&demo.host(), &keys, detail).unwrap();
        assert_eq!(summaries.len(), keys.len());
        assert!(
            summaries.iter().all(|summary| summary.sessions.is_empty() && summary.warnings.is_empty()),
            "{summaries:?}"
        );
    }
}

#[test]
fn real_forms_of_ids_are_found() {
    let demo = Demo::new();
    let ids = [
        "1796033964419_93BMa_cli",
        "1796033971648_q-_3d_cli",
        "11111111-1111-4111-8111-111111111111",
        "a.b.c",
        "with space",
        "ümläut",
        "x__y",
    ];
    for id in ids {
        demo.session(id, &talk(1));
    }
    for id in ids {
        assert_eq!(demo.read(id).id, id);
    }
    assert_eq!(demo.ids().len(), ids.len());
}
