//! Transcripts that are cut, damaged, or written by others: everything good comes back.

use crate::demo::{Demo, S1, a, contents, meta, pretty, talk, text, transcript, u, warnings};
use serde_json::json;

/// The session of this file of messages.
fn store(content: impl AsRef<[u8]>) -> Demo {
    let demo = Demo::new();
    demo.manifest(S1, &[]);
    demo.write(&format!("sessions/{S1}/{S1}.messages.json"), content);
    demo
}

#[test]
fn cut_anywhere_all_that_is_whole_is_read() {
    let mut messages = talk(3);
    messages[4] = u("m5", "prompt 5 …", 5);
    let whole = transcript(S1, &messages);
    let ends: Vec<usize> = whole.match_indices("\n    }").map(|(at, found)| at + found.len()).collect();
    assert_eq!(ends.len(), 6);
    let list_ends = whole.find("\n  ],").unwrap();
    for cut in 0..whole.len() {
        let session = store(&whole.as_bytes()[..cut]).read(S1);
        let expected = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(session.nodes.len(), expected, "cut at {cut}");
        let metadata = meta(&session.metadata);
        let warning = &metadata["warnings"][0];
        if cut > whole.find('[').unwrap() && cut < list_ends {
            assert_eq!(warning["code"], json!("torn-record"), "cut at {cut}");
            assert_eq!(warning["offset"].as_u64().unwrap() + warning["bytes"].as_u64().unwrap(), cut as u64);
        } else {
            assert!(["torn-record", "no-messages"].contains(&warning["code"].as_str().unwrap()), "cut at {cut}");
        }
    }
    // When the agent has written the rest, the warning is gone.
    let session = store(&whole).read(S1);
    assert_eq!((warnings(&session), session.nodes.len()), (vec![], 6));
}

#[test]
fn what_follows_the_document_is_told() {
    let whole = transcript(S1, &talk(3));
    for more in ["]", "}", " x", "\n{\"messages\":[]}", "\0\0"] {
        let session = store(format!("{whole}{more}")).read(S1);
        assert_eq!((session.nodes.len(), warnings(&session)), (6, vec!["trailing-bytes".to_owned()]), "{more:?}");
    }
    assert_eq!(warnings(&store(format!("{whole}\n\n ")).read(S1)), [""; 0]);
}

#[test]
fn other_forms_of_the_document_are_read() {
    let messages = json!(talk(2));
    let forms = [
        messages.to_string(),
        format!("\u{feff}{}", pretty(&messages)),
        pretty(&messages).replace('\n', "\r\n\r\n"),
        format!("{{\"system_prompt\":\"a ]}} \\\" b\",\"messages\":{messages}}}"),
        format!(
            "{{\"x\":{{\"messages\":[1]}},\"y\":[[]],\"z\":null,\"n\":-1.5e3,\"messages\" : {messages} ,\"t\":true}}"
        ),
    ];
    for form in forms {
        let session = store(&form).read(S1);
        assert_eq!(contents(&session), ["prompt 1", "answer 2", "prompt 3", "answer 4"], "{form}");
        assert_eq!(warnings(&session), [""; 0], "{form}");
    }
    for none in ["", " ", "null", "7", "\"x\"", "{}", "{\"messages\":{}}", "{\"messages\":null}", "not json"] {
        let session = store(none).read(S1);
        assert_eq!((session.nodes.len(), warnings(&session)), (0, vec!["no-messages".to_owned()]), "{none:?}");
    }
    // A session that has just begun.
    assert_eq!(warnings(&store("{\"messages\":[]}").read(S1)), [""; 0]);
}

#[test]
fn a_broken_message_costs_only_itself() {
    let whole = transcript(S1, &talk(3));
    for (from, to) in [
        ("\"answer 4\"", "\"answer \u{1}\""),
        ("\"answer 4\"", "answer"),
        ("\"answer 4\"", "\"\\x\""),
        ("\"answer 4\"", "01"),
    ] {
        let session = store(whole.replace(from, to)).read(S1);
        assert_eq!(contents(&session), ["prompt 1", "answer 2", "prompt 3", "prompt 5", "answer 6"], "{to:?}");
        assert_eq!(warnings(&session), ["unreadable-message"], "{to:?}");
    }
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let session = store(whole.replace("\"answer 4\"", &deep)).read(S1);
    assert_eq!(session.nodes.len(), 6);
    assert!(session.nodes[3].metadata.contains("nestedTooDeeply"));
}

#[test]
fn half_characters_are_repaired_and_told() {
    let whole = transcript(S1, &talk(2));
    for (from, shown) in
        [("ok \\ud83d end", "ok \u{fffd} end"), ("\\udc00", "\u{fffd}"), ("\\ud83eade9", "\u{fffd}ade9")]
    {
        let session = store(whole.replace("answer 2", from)).read(S1);
        assert_eq!(session.nodes[1].content, shown);
        assert_eq!(warnings(&session), ["lone-surrogate"]);
    }
    let session = store(whole.replace("answer 2", "\\ud83d\\ude00")).read(S1);
    assert_eq!((session.nodes[1].content.as_str(), warnings(&session)), ("😀", vec![]));
    let mut bytes = whole.into_bytes();
    let at = bytes.windows(8).position(|bytes| bytes == b"answer 2").unwrap();
    bytes[at] = 0xD7;
    let session = store(bytes).read(S1);
    assert_eq!(
        (session.nodes[1].content.as_str(), warnings(&session)),
        ("\u{fffd}nswer 2", vec!["not-utf-8".to_owned()])
    );
}

#[test]
fn separators_inside_of_text_end_nothing() {
    let said = "a\u{2028}b\u{2029}c\u{85}d\u{0}e";
    let demo = Demo::new();
    demo.session(S1, &[u("m1", said, 1), a("m2", text(said), 2)]);
    assert_eq!(contents(&demo.read(S1)), [said, said]);
}

#[test]
fn messages_without_a_time_stand_by_their_neighbours() {
    let mut messages = talk(2);
    messages[1]["ts"] = json!(null);
    messages[2]["ts"] = json!("soon");
    let demo = store(transcript(S1, &messages));
    let times: Vec<f64> = demo.read(S1).nodes.iter().map(|node| node.created_at - crate::demo::T0).collect();
    assert_eq!(times, [1.0, 1.0, 1.0, 4.0]);
    assert_eq!(demo.page(S1, 2, Some(3), None).nodes[1].created_at - crate::demo::T0, 1.0);
}
