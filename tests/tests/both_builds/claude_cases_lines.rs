//! What a file may do to its lines, seen through both builds.

use crate::both::{Both, codes, contents, warnings};
use crate::store::{S1, Store, lines, talk, user, with};
use sepia_conformance::tree_hash;
use serde_json::json;
use std::fs;
use std::io::Write;

/// SC-01: a record that was cut off costs itself alone, and is whole again once the rest comes.
#[test]
fn a_torn_last_record() {
    let store = Store::new();
    let whole = lines(&talk(3));
    let seventh = lines(&[user("m7", Some("m6"), "prompt m7 日本", 9)]);
    let file = store.session(S1, [whole.as_bytes(), &seventh.as_bytes()[..70]].concat());
    let both = Both::over(store.root());
    let before = tree_hash(store.root()).unwrap();
    let read = both.read(S1);
    assert_eq!(contents(&read), ["prompt m1", "answer m2", "prompt m3", "answer m4", "prompt m5", "answer m6"]);
    let told = warnings(&read);
    assert_eq!((told.len(), &told[0]["line"], &told[0]["offset"]), (1, &json!(7), &json!(whole.len())));
    assert_eq!(tree_hash(store.root()).unwrap(), before);

    // Cut inside a character of three bytes.
    let inside = seventh.find('本').unwrap() + 1;
    fs::write(&file, [whole.as_bytes(), &seventh.as_bytes()[..inside]].concat()).unwrap();
    let read = both.read(S1);
    assert_eq!((read.nodes.len(), warnings(&read).len()), (6, 1));
    fs::File::options().append(true).open(&file).unwrap().write_all(&seventh.as_bytes()[inside..]).unwrap();
    let read = both.read(S1);
    assert_eq!((contents(&read)[6], warnings(&read).len()), ("prompt m7 日本", 0));
}

/// SC-03: a line feed ends a record and nothing else does.
#[test]
fn other_line_ends_are_text() {
    let store = Store::new();
    let odd = "one\u{2028}two\u{2029}three\u{85}four";
    let mut records = talk(2);
    records[2] = with(records[2].clone(), "message.content", json!(odd));
    store.session(S1, format!("\u{feff}{}", lines(&records).replace('\n', "\r\n\n\r\n")));
    let both = Both::over(store.root());
    let read = both.read(S1);
    assert_eq!((contents(&read), codes(&read)), (vec!["prompt m1", "answer m2", odd, "answer m4"], vec![]));
    assert_eq!(both.newest(S1, 2).nodes, read.nodes[2..]);
}

/// SC-04: half a surrogate pair is no reason to lose a record.
#[test]
fn lone_surrogates() {
    let store = Store::new();
    let text = lines(&talk(4))
        .replace("prompt m1", "ok \\ud83d end")
        .replace("answer m2", "\\udc00")
        .replace("prompt m3", "\\ud83eade9")
        .replace("answer m4", "\\ud83d\\ude00");
    store.session(S1, text);
    let both = Both::over(store.root());
    let read = both.read(S1);
    assert_eq!(contents(&read)[..4], ["ok \u{fffd} end", "\u{fffd}", "\u{fffd}ade9", "\u{1f600}"]);
    assert_eq!(read.nodes.len(), 8);
    let node = |at: usize| serde_json::from_str::<serde_json::Value>(&read.nodes[at].metadata).unwrap();
    assert!(node(0)["warnings"].is_array() || !codes(&read).is_empty(), "{read:?}");
    assert_eq!(both.rows()[0].title, "ok \u{fffd} end");
}
