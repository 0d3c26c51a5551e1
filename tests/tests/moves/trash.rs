//! Deleting, and bringing back.

use sepia_tests::Machine;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn rows(machine: &Machine) -> Vec<(String, String)> {
    let rows = machine.run(&["list", "--json", "--subagents", "--hidden"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.as_array().unwrap().iter().map(|row| (text(&row["agent"]), text(&row["id"]))).collect()
}

/// What went, in any order.
fn places(told: &Value) -> BTreeSet<String> {
    told["removed"].as_array().unwrap().iter().map(Value::to_string).collect()
}

/// Every file of a folder and what is in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn what_is_deleted_comes_back_as_it_was() {
    let machine = Machine::with_all_agents();
    let before = rows(&machine);
    let mut tried = BTreeSet::new();
    for (agent, id) in before.clone() {
        let exported = machine.run(&["export", &id, "--agent", &agent, "--verbatim"]).json();
        let planned = machine.run(&["delete", &id, "--agent", &agent, "--dry-run", "--json"]);
        if planned.stderr.contains("read-only") || !planned.status.success() {
            // A store that sepia never writes says so.
            assert!(!planned.stderr.is_empty(), "{planned:?}");
            continue;
        }
        let planned = planned.json();
        assert!(!planned["removed"].as_array().unwrap().is_empty(), "{agent} {id}");
        assert_eq!(rows(&machine), before, "a dry run of {agent} {id}");

        let deleted = machine.run(&["delete", &id, "--agent", &agent, "--json"]).json();
        assert_eq!(deleted["failed"], serde_json::json!([]), "{agent} {id}");
        assert_eq!(places(&deleted), places(&planned), "{agent} {id}");
        assert!(!rows(&machine).contains(&(agent.clone(), id.clone())), "{agent} {id}");
        let again = machine.run(&["delete", &id, "--agent", &agent]);
        assert_eq!(again.code(), 3, "{again:?}");

        machine.run(&["trash", "restore", deleted["trash"].as_str().unwrap()]).ok();
        assert_eq!(rows(&machine), before, "{agent} {id}");
        let back = machine.run(&["export", &id, "--agent", &agent, "--verbatim"]).json();
        assert_eq!(back, exported, "{agent} {id}");
        tried.insert(agent);
    }
    assert_eq!(tried.into_iter().collect::<Vec<_>>(), ["claude", "cline", "cursor", "devin"]);
    assert_eq!(machine.run(&["trash", "list", "--json"]).json(), serde_json::json!([]));
}

#[test]
fn files_come_back_byte_for_byte() {
    let machine = Machine::with_samples();
    let before = files(&machine.claude());
    for (agent, id) in rows(&machine) {
        let deleted = machine.run(&["delete", &id, "--agent", &agent, "--json"]);
        if !deleted.status.success() {
            continue;
        }
        machine.run(&["trash", "restore", &id]).ok();
    }
    assert_eq!(files(&machine.claude()), before);
}

#[test]
fn a_deleted_session_can_be_thrown_away() {
    let machine = Machine::with_samples();
    let (agent, id) = rows(&machine).remove(0);
    machine.run(&["delete", &id, "--agent", &agent]).ok();
    // What a killed process only began is nothing to bring back, and goes with the rest.
    let begun = machine.sepia_home().join("trash/1-begun");
    fs::create_dir(&begun).unwrap();
    let refused = machine.run(&["trash", "empty"]);
    assert_eq!(refused.code(), 1, "{refused:?}");
    assert_eq!(machine.run(&["trash", "list", "--json"]).json().as_array().unwrap().len(), 1);
    machine.run(&["trash", "empty", "--yes"]).ok();
    assert!(!begun.exists());
    assert_eq!(machine.run(&["trash", "list", "--json"]).json(), serde_json::json!([]));
    assert_eq!(machine.run(&["trash", "restore", &id]).code(), 3);
}
