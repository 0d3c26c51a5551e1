//! Damaged transcripts: every good record comes back, with a warning for each bad one.

use crate::demo::{Demo, S1, a, base, contents, lines, meta, text, tr, u, warnings, with};
use serde_json::json;

fn seventh() -> Vec<u8> {
    lines(&[u("m7", Some("m6"), "the sevénth “prompt”", 6)]).into_bytes()
}

#[test]
fn a_torn_last_record_costs_that_record_alone() {
    let whole = lines(&base(3)).into_bytes();
    let more = seventh();
    let multibyte = more.windows(3).position(|window| window == "“".as_bytes()).unwrap() + 2;
    for cut in [70, multibyte] {
        let demo = Demo::new();
        let torn = [&whole[..], &more[..cut]].concat();
        let path = demo.write(&format!("projects/-p-demo/{S1}.jsonl"), &torn);
        let session = demo.read(S1);
        assert_eq!(session.nodes.len(), 6);
        assert_eq!(warnings(&session), ["torn-record"]);
        let warning = &meta(&session.metadata)["warnings"][0];
        assert_eq!((&warning["line"], &warning["offset"]), (&json!(7), &json!(whole.len())));
        assert_eq!(warning["bytes"], json!(cut));
        assert_eq!(warning["path"], json!(format!("projects/-p-demo/{S1}.jsonl")));
        assert_eq!(warnings(&demo.row(S1)), ["torn-record"]);
        assert_eq!(std::fs::read(&path).unwrap(), torn);
        // The agent completes the line: nothing is amiss any more.
        demo.write(&format!("projects/-p-demo/{S1}.jsonl"), [&whole[..], &more].concat());
        let session = demo.read(S1);
        assert_eq!((session.nodes.len(), warnings(&session)), (7, vec![]));
    }
}

#[test]
fn a_last_record_without_a_line_feed_is_a_record() {
    let demo = Demo::new();
    let more = seventh();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), [lines(&base(3)).as_bytes(), &more[..more.len() - 1]].concat());
    let session = demo.read(S1);
    assert_eq!((session.nodes.len(), warnings(&session)), (7, vec![]));
}

#[test]
fn damage_in_the_middle_is_passed_over() {
    let records = base(2);
    let mut bytes = Vec::new();
    for (at, record) in records.iter().enumerate() {
        bytes.extend(lines(std::slice::from_ref(record)).into_bytes());
        if at == 1 {
            bytes.extend_from_slice(b"{\"type\":\"user\",\"uuid\n\0\0\0\0\0\n}{\nplain words\n");
        }
    }
    let demo = Demo::new();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), bytes);
    let session = demo.read(S1);
    assert_eq!(contents(&session.nodes), ["prompt m1", "answer m2", "prompt m3", "answer m4"]);
    assert_eq!(warnings(&session), ["broken-record"; 4]);
    assert_eq!(meta(&session.metadata)["warnings"][0]["line"], json!(3));
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let mut bytes = lines(&base(1)).into_bytes();
    let at = bytes.windows(9).position(|window| window == b"prompt m1").unwrap();
    bytes[at] = 0xd7;
    let demo = Demo::new();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), bytes);
    let session = demo.read(S1);
    assert_eq!(session.nodes[0].content, "\u{fffd}rompt m1");
    assert_eq!(meta(&session.nodes[0].metadata)["warnings"][0]["code"], json!("not-utf8"));
}

#[test]
fn half_a_surrogate_pair_costs_no_record() {
    let results = [
        ("r1", "ok \\ud83d end", "ok \u{fffd} end"),
        ("r2", "\\udc00", "\u{fffd}"),
        ("r3", "\\ud83eade9", "\u{fffd}ade9"),
        ("r4", "\\ud83d\\ude00", "\u{1f600}"),
        ("r5", "\\uD83D", "\u{fffd}"),
    ];
    let mut content = lines(&base(2));
    let mut parent = "m4";
    for (id, written, _) in results {
        content += &lines(&[tr(id, parent, "toolu_1", "HERE", 10)]).replace("HERE", written);
        parent = id;
    }
    let call = crate::demo::tu("toolu_9", "Bash", json!({"command": "HERE"}));
    content += &lines(&[a("c1", parent, json!([call]), 20)]).replace("HERE", "echo \\ud83d");
    let demo = Demo::new();
    demo.write(&format!("projects/-p-demo/{S1}.jsonl"), content);
    let session = demo.read(S1);
    assert_eq!(contents(&session.nodes[4..9]), results.map(|(.., read)| read));
    assert_eq!(warnings(&session), ["lone-surrogate"; 5]);
    let message = meta(&session.metadata)["warnings"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("message.content[0].content"), "{message}");
    assert_eq!(meta(&session.nodes[7].metadata)["warnings"], json!(null));
    assert_eq!(session.nodes[9].tool_calls[0].arguments, "{\"command\":\"echo \\ufffd\"}");
    // All of it is JSON that a strict reader takes.
    let wire = serde_json::to_string(&session).unwrap();
    assert_eq!(serde_json::from_str::<sepia_ir::Session>(&wire).unwrap(), session);
}

#[test]
fn a_value_nested_without_end_costs_at_most_its_record() {
    let lists = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let blocks = format!("{}1{}", "[{\"content\":".repeat(500), "}]".repeat(500));
    for (deep, shown) in [(lists, "x"), (blocks, "")] {
        let block = json!([{"type": "text", "text": "x", "content": "HERE"}]);
        let call = json!([crate::demo::tu("t1", "Odd", json!("HERE"))]);
        let odd = [with(u("m3", Some("m2"), "", 5), &[("message.content", block)]), a("m4", "m3", call, 6)];
        let content =
            lines(&base(1)) + &lines(&odd).replace("\"HERE\"", &deep) + &lines(&[a("m5", "m4", text("after"), 7)]);
        let demo = Demo::new();
        demo.write(&format!("projects/-p-demo/{S1}.jsonl"), content);
        let session = demo.read(S1);
        assert_eq!(contents(&session.nodes), ["prompt m1", "answer m2", shown, "", "after"]);
        let warned = meta(&session.nodes[2].metadata)["warnings"][0]["code"] == json!("broken-record");
        assert_eq!(warned, shown.is_empty());
        assert_eq!(meta(&session.nodes[3].tool_calls[0].arguments)["nestedTooDeeply"], json!(true));
        let wire = serde_json::to_string(&session).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&wire).is_ok());
    }
}
