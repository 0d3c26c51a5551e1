//! `sepia driver check`: a driver that keeps the laws, ones that don't, and what a check touches.

use crate::both::built;
use crate::program::{check, json_of, sepia};
use crate::store::{Store, lines, talk};
use sepia_conformance::tree_hash;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_good_driver_in_both_forms() {
    let (store, home) = (Store::samples(), tempfile::tempdir().unwrap());
    let before = tree_hash(store.root()).unwrap();
    let mut laws = Vec::new();
    for (driver, form) in [("claude".into(), "component"), (built("sepia-driver-claude"), "process")] {
        let (report, code) = json_of(&mut check(home.path(), driver, &[("claude", store.root())]));
        assert_eq!((&report["failures"], code), (&json!([]), 0), "{report}");
        assert_eq!((&report["sessions"], &report["form"], &report["id"]), (&json!(13), &json!(form), &json!("claude")));
        assert_eq!(report["imports"].as_array().unwrap().is_empty(), form == "process");
        assert!(report["asksFor"][0].as_str().unwrap().contains("~/.claude"), "{report}");
        laws.push(report["laws"].clone());
    }
    assert_eq!(laws[0], laws[1]);
    assert_eq!(tree_hash(store.root()).unwrap(), before);
}

#[test]
fn without_a_store_there_is_an_empty_one() {
    let home = tempfile::tempdir().unwrap();
    // One that the driver would find by itself, and may not.
    let own = home.path().join("nobody/.claude/projects/-p");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("a.jsonl"), lines(&talk(1))).unwrap();
    for driver in ["claude".into(), built("sepia-driver-claude")] {
        let (report, code) = json_of(&mut check(home.path(), driver, &[]));
        assert_eq!((&report["sessions"], code), (&json!(0), 0), "{report}");
        assert!(report["notes"][0].as_str().unwrap().contains("--store"), "{report}");
    }
}

/// A program that lists a session and can't open it.
#[test]
fn a_driver_that_breaks_laws_is_told_which() {
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("sepia-driver-broken");
    let script = r#"#!/bin/sh
if [ "$1" = --manifest ]; then
  echo '{"id":"broken","label":"Broken","version":"1.0.0","protocol":1,"capabilities":["sessionStore"]}'; exit
fi
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9][0-9]*\).*/\1/')
  case $line in
    *session.list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":[{\"id\":\"a\",\"title\":\"\",\"workingDirectory\":\"\",\"model\":\"\",\"createdAt\":5,\"lastActivityAt\":1,\"mainChainId\":0}]}" ;;
    *) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32005,\"message\":\"no\"}}" ;;
  esac
done
"#;
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = check(home.path(), &program, &[]);
    command.env("PATH", "/usr/bin:/bin");
    let (report, code) = json_of(&mut command);
    assert_eq!((code, &report["id"]), (1, &json!("broken")));
    let broken: Vec<_> = report["failures"].as_array().unwrap().iter().map(|f| (&f["law"], &f["session"])).collect();
    assert!(broken.contains(&(&json!("opens"), &json!("a"))), "{report}");
    assert!(broken.iter().any(|(law, _)| *law == "ids_that_nobody_has_are_not_found"), "{report}");
}

#[test]
fn what_can_not_be_checked_is_said_in_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let text = home.path().join("text.wasm");
    fs::write(&text, "no component").unwrap();
    let said = |arguments: &[&str]| {
        let output = sepia(home.path()).args(["driver", "check"]).args(arguments).output().unwrap();
        assert!(output.stdout.is_empty());
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = said(&[text.to_str().unwrap()]);
    assert!(code == 1 && message.contains("wasm32-wasip2"), "{message}");
    let (code, message) = said(&["nobody"]);
    assert!(code == 1 && message.contains("driver list"), "{message}");
    let (code, message) = said(&["claude", "--store", "other=/"]);
    assert!(code == 1 && message.contains("`claude`"), "{message}");
    let (code, message) = said(&["claude", "--store", "no-place"]);
    assert!(code == 2 && message.contains("NAME=DIR"), "{message}");
}
