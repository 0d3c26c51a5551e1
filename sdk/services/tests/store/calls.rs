//! What a store remembers while one call goes on.

use crate::ground::Ground;
use sepia_ir::SurveyQuery;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn a_file_stays_the_same_for_one_call_and_may_grow() {
    let ground = Ground::new();
    ground.file("store/a", "one\n");
    let store = ground.open(&[]).with_deadline(Instant::now() + Duration::from_secs(60));
    assert_eq!(store.read("a", 0, 100).unwrap(), b"one\n");

    OpenOptions::new().append(true).open(ground.at("store/a")).unwrap().write_all(b"two\n").unwrap();
    assert_eq!(store.read("a", 0, 100).unwrap(), b"one\ntwo\n");
    assert_eq!(store.size("a").unwrap(), 8);

    ground.file("other", "another file\n");
    fs::rename(ground.at("other"), ground.at("store/a")).unwrap();
    let query = SurveyQuery { needles: Vec::new(), head: 100, tail: 3, max_line: 0, max_lines: 0 };
    let report = store.survey("a", &query).unwrap();
    assert_eq!((report.head, report.tail), (b"one\ntwo\n".to_vec(), b"wo\n".to_vec()));

    let store = store.with_deadline(Instant::now() + Duration::from_secs(60));
    assert_eq!(store.read("a", 0, 100).unwrap(), b"another file\n");
}
