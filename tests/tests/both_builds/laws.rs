//! The suite on both builds.

use crate::both::Both;
use crate::store::{S1, S2, Store, answer, lines, talk, tool, user, with};
use sepia_conformance::Suite;
use sepia_ir::SearchQuery;
use serde_json::json;

/// Runs the suite on each build with the other as its twin; gives the number of sessions.
fn both_keep_the_laws(store: &Store) -> usize {
    both_keep_the_laws_over(&Both::over(store.root()), store)
}

/// The same of any driver whose stores are somewhere in this one.
pub fn both_keep_the_laws_over(both: &Both, store: &Store) -> usize {
    let [component, program] = both.subjects();
    let report = Suite::new(&component).with_twin(&program).on_store(store.root()).run();
    assert_eq!(report.failures(), Vec::<&sepia_conformance::Outcome>::new(), "the component, the program its twin");
    let of_program = Suite::new(&program).on_store(store.root()).run();
    assert_eq!(of_program.failures(), Vec::<&sepia_conformance::Outcome>::new(), "the program");
    assert_eq!(report.sessions(), of_program.sessions());
    report.sessions()
}

#[test]
fn of_the_samples() {
    // Twelve sessions, and the sub-agent of one of them.
    assert_eq!(both_keep_the_laws(&Store::samples()), 13);
}

#[test]
fn of_no_store() {
    let store = Store::new();
    assert_eq!(both_keep_the_laws(&store), 0);
    let both = Both::over(&store.root().join("nowhere"));
    assert_eq!((both.scan().entries.len(), both.scan().warnings.len()), (0, 0));
}

#[test]
fn of_odd_files() {
    let store = Store::new();
    let torn = lines(&talk(3));
    store.session(S1, &torn[..torn.len() - 40]);
    store.session(S2, format!("\u{feff}{}", lines(&talk(2)).replace('\n', "\r\n\r\n")));
    let [ask, told] = tool("m2", "t1", "out", 9);
    for (name, content) in [
        ("empty", String::new()),
        ("blank", "\n\n \n".to_owned()),
        ("prose", "this is no JSON\nnor is this\n".to_owned()),
        ("other-json", "[1,2]\n\"text\"\n3\nnull\n{}\n".to_owned()),
        ("deep", format!("{}{}\n{}", "[".repeat(5000), "]".repeat(5000), lines(&talk(1)))),
        (
            "wrong-types",
            lines(&[
                with(user("m1", None, "x", 0), "message", json!(7)),
                with(user("m2", Some("m1"), "x", 1), "message.content", json!({"a": 1})),
            ]),
        ),
        (
            "cycle",
            lines(&[user("m1", Some("m2"), "a", 0), user("m2", Some("m1"), "b", 1), user("m3", Some("m3"), "c", 2)]),
        ),
        (
            "orphans",
            lines(&[
                user("m5", Some("gone"), "a", 0),
                user("m6", Some("m5"), "b", 1),
                user("m6", Some("m5"), "again", 2),
            ]),
        ),
        (
            "no-ids",
            lines(&[
                with(user("m1", None, "a", 0), "uuid", json!(null)),
                with(user("m2", None, "b", 1), "uuid", json!(5)),
            ]),
        ),
        (
            "times",
            lines(&[
                with(user("m1", None, "a", 0), "timestamp", json!(1_767_225_600)),
                with(user("m2", Some("m1"), "b", 1), "timestamp", json!("soon")),
                with(user("m3", Some("m2"), "c", 2), "timestamp", json!(1.7e12)),
            ]),
        ),
        ("results-alone", lines(&[talk(1), vec![told]].concat())),
        ("call-alone", lines(&[talk(1), vec![ask]].concat())),
        (
            "strange-blocks",
            lines(
                &[
                    talk(1),
                    vec![answer("m3", "m2", json!([{"type": "hologram", "data": [1]}, 5, null, {"type": "text"}]), 4)],
                ]
                .concat(),
            ),
        ),
        ("surrogates", lines(&talk(1)).replace("prompt m1", "half \\ud83d and \\ude00\\ud83d\\ude00")),
        ("unknown-types", format!("{{\"type\":\"from-the-future\",\"x\":1}}\n{{\"type\":5}}\n{}", lines(&talk(1)))),
        ("nul", format!("\0\0\0\0\n{}", lines(&talk(1)))),
        ("-leading-dash", lines(&talk(1))),
        ("with spaces and \"quotes\"", lines(&talk(1))),
    ] {
        store.session(name, content);
    }
    let mut bytes = lines(&talk(2)).into_bytes();
    let at = bytes.iter().position(|b| *b == b'm').unwrap();
    bytes[at] = 0xff;
    store.session("not-utf-8", bytes);
    assert!(both_keep_the_laws(&store) >= 12);
}

#[test]
fn both_find_the_same() {
    let store = Store::samples();
    let both = Both::over(store.root());
    for (text, regex, ignore_case) in
        [("tax", false, false), ("TAX", false, true), ("t[ao]", true, false), ("e", false, false), ("\n", false, false)]
    {
        let query = SearchQuery { text: text.into(), regex, ignore_case, parts: vec![], hits: 7, context: 30 };
        let found = both.search(&query);
        assert!(found.iter().any(|report| !report.sessions.is_empty()), "{text:?}");
        assert!(found.iter().all(|report| report.warnings.is_empty()));
    }
}
