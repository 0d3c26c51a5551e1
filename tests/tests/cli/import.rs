//! `sepia import`

use crate::moves::{json_of, said};
use sepia_tests::Machine;
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;

const S1: &str = "11111111-1111-4111-8111-000000000001";

#[test]
fn what_was_exported_is_imported_whole_or_alone_from_a_file_or_from_stdin() {
    let machine = Machine::with_samples();
    let original = json_of(&machine, &["export", S1, "--verbatim"]);
    assert!(said(&machine, S1).len() > 1);
    let whole = machine.write("whole.json", original.to_string()).display().to_string();
    let alone = machine.write("alone.json", original["session"].to_string()).display().to_string();
    for arguments in [[whole.as_str(), "--to", "claude"], [alone.as_str(), "--to", "claude"], ["-", "--to", "claude"]] {
        let mut command = machine.command(&["import"]);
        command.args(arguments).arg("--json").stdin(Stdio::from(fs::File::open(&whole).unwrap()));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let id = told["id"].as_str().unwrap();
        assert_ne!(id, S1);
        assert_eq!(said(&machine, id), said(&machine, S1), "{arguments:?}");
    }
}

#[test]
fn what_is_no_session_is_refused_with_the_place_and_what_to_do() {
    let machine = Machine::empty();
    let broken = json!({"session": {"id": "a", "nodes": [{"nodeId": "one"}]}}).to_string();
    for (name, content, place) in [
        ("broken.json", broken.as_str(), "expected i64 at line 1 column 45"),
        ("session.jsonl", "{\"type\":\"user\"}\n{\"type\":\"assistant\"}\n", "line 1"),
        ("session.md", "# A session\n", "line 1 column 1"),
        ("cut.json", &broken[..20], "EOF while parsing"),
        ("empty.json", "", "EOF while parsing"),
    ] {
        let file = machine.write(name, content);
        let ran = machine.run(&["import", &file.display().to_string(), "--to", "claude"]);
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{name}");
        assert!(ran.stderr.contains(name) && ran.stderr.contains(place), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("without `--native`"), "{}", ran.stderr);
        assert!(!machine.claude().join("projects").exists());
    }
    let ran = machine.run(&["import", "/nowhere/at.all", "--to", "claude"]);
    assert!(ran.code() == 1 && ran.stderr.contains("/nowhere/at.all can't be read"), "{}", ran.stderr);
}
