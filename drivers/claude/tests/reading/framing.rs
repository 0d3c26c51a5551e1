//! What separates records: a line feed and nothing else.

use crate::demo::{Demo, S1, base, contents, lines, u, warnings, with};
use serde_json::json;

#[test]
fn only_a_line_feed_ends_a_record() {
    let odd = "one\u{2028}two\u{2029}three\u{85}four";
    let mut records = base(2);
    records[2] = with(u("m3", Some("m2"), "", 2), &[("message.content", json!(odd))]);
    let text = lines(&records).replace('\n', "\r\n").replacen("\r\n", "\r\n\r\n\n", 1);
    assert!(text.contains(odd), "the characters stand in the file as they are");
    let demo = Demo::new();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), format!("\u{feff}{text}"));
    let session = demo.read(S1);
    assert_eq!(contents(&session.nodes), ["prompt m1", "answer m2", odd, "answer m4"]);
    assert_eq!(warnings(&session), [""; 0]);
    let row = demo.row(S1);
    assert_eq!((row.title.as_str(), row.working_directory.as_str()), ("prompt m1", "/p/demo"));
}

#[test]
fn json_of_other_writers_may_hold_blanks() {
    let spaced = lines(&base(1)).replace("\":", "\": ").replace(",\"", ", \"");
    let title = "{\"type\": \"custom-title\", \"customTitle\": \"Named\"}\n";
    let demo = Demo::new();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), spaced + title);
    assert_eq!(demo.row(S1).title, "Named");
    assert_eq!(demo.read(S1).nodes.len(), 2);
}
