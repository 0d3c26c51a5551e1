#![allow(clippy::unwrap_used, reason = "tests")]
use super::{OnCancel, OnStdinEnd, Reaction, Script, SessionIds, Step, flood_text};
use serde_json::{Value, json};

/// Reads this script from a file.
fn read(script: &Value) -> Result<Script, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script.json");
    std::fs::write(&path, script.to_string()).unwrap();
    Script::read(&path).map_err(|e| e.to_string())
}

fn step(step: &Value) -> Result<Script, String> {
    read(&json!({"on": {"session/prompt": [[step]]}}))
}

#[test]
fn an_empty_script_is_the_default() {
    let script = read(&json!({})).unwrap();
    assert_eq!(script, Script::default());
    assert_eq!((script.on_stdin_end, script.on_cancel), (OnStdinEnd::Exit, OnCancel::Stop));
}

#[test]
fn what_is_read_is_written_alike() {
    let script = json!({
        "capabilities": {"loadSession": false},
        "sessionId": {"prefix": "s-"},
        "onStdinEnd": "ignore",
        "onCancel": "ignore",
        "pageSize": 2,
        "on": {
            "session/prompt": [
                [{"text": "a", "chunks": 2, "messageId": "m"}, {"thought": "t"}],
                {"match": "x", "steps": [
                    {"permission": {"toolCall": {"toolCallId": "t"}, "options": [], "then": {
                        "selected:a": [{"exit": 3}], "cancelled": [], "error": [], "default": [{"kill": "self"}]
                    }}},
                    {"repeat": {"times": 2, "steps": [{"late": [{"respond": null}]}]}},
                    {"raw": [255, 10]}, {"raw": "${id}", "fill": true}, {"closeStdin": true},
                    {"flood": {"count": 1, "bytes": 2, "perSecond": 3, "kind": "thought"}},
                    {"request": {"method": "x/y", "params": [1], "wait": false}},
                    {"error": {"code": -1, "message": "no", "data": 1}}
                ]}
            ]
        }
    });
    let read = read(&script).unwrap();
    assert_eq!(read.session_id, Some(SessionIds::Counted { prefix: "s-".to_owned() }));
    assert_eq!(read.on["session/prompt"].len(), 2);
    assert!(matches!(&read.on["session/prompt"][1], Reaction::Matching(matching) if matching.steps.len() == 8));
    assert_eq!(serde_json::to_value(&read).unwrap(), script);
}

#[test]
fn what_no_script_says_is_refused_with_a_sentence() {
    for (script, words) in [
        (read(&json!({"recrod": "x"})), "recrod"),
        (read(&json!({"on": {"session/new": [{"match": "x", "steps": []}]}})), "no text to match"),
        (read(&json!({"on": {"session/new": ["x"]}})), "a list of steps"),
        (step(&json!({"txet": "x"})), "txet"),
        (step(&json!({"text": "x", "thought": "y"})), "thought"),
        (step(&json!({"closeStdout": false})), "only value"),
        (step(&json!({"exit": 256})), "exit"),
        (step(&json!({"flood": {"count": 1, "perSecond": 0}})), "never end"),
        (step(&json!({"permission": {"toolCall": {}, "then": {"chosen": []}}})), "chosen"),
        (step(&json!({"permission": {"toolCall": {}, "wait": false, "then": {"default": []}}})), "never run"),
    ] {
        let said = script.unwrap_err();
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn steps_are_found_at_every_depth() {
    let script = step(&json!({"repeat": {"times": 1, "steps": [{"permission": {"toolCall": {}, "then": {
        "default": [{"late": [{"ignoreSignals": true}]}]
    }}}]}}))
    .unwrap();
    assert!(script.has(|step| matches!(step, Step::IgnoreSignals(_))));
    assert!(!script.has(|step| matches!(step, Step::Exit(_))));
}

#[test]
fn the_text_of_a_flood_has_its_number_and_its_size() {
    let text = |number, bytes| {
        let mut text = b"before".to_vec();
        flood_text(number, bytes, &mut text);
        String::from_utf8(text).unwrap()
    };
    assert_eq!(text(7, 5), "before7 ...");
    assert_eq!(text(12345, 3), "before12345 ");
}
