//! A machine with the sessions of four agents: one list, and one broken store hides no other.

use sepia_tests::{Machine, tree};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Rows of each agent.
fn counts(rows: &Value) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in rows.as_array().unwrap() {
        *counts.entry(row["source"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    counts
}

fn expected(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(agent, count)| ((*agent).to_owned(), *count)).collect()
}

#[test]
fn one_list_has_the_sessions_of_all_newest_first() {
    let machine = Machine::with_all_agents();
    let before = tree::fingerprint(&machine.place("home"));
    let rows = machine.run(&["list", "--json", "--subagents", "--hidden"]).json();
    let all = [("claude", 13), ("cline", 13), ("cursor", 10), ("devin", 4)];
    assert_eq!(counts(&rows), expected(&all));
    let times: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["updatedAt"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    // The second list rests on what the first kept.
    assert_eq!(machine.run(&["list", "--json", "--subagents", "--hidden"]).json(), rows);
    for (agent, count) in all {
        let of_one = machine.run(&["list", "--json", "--subagents", "--hidden", "--agent", agent]).json();
        assert_eq!(counts(&of_one), expected(&[(agent, count)]));
    }
    assert_eq!(tree::fingerprint(&machine.place("home")), before);
}

#[test]
fn every_session_of_every_agent_can_be_shown_and_exported() {
    let machine = Machine::with_all_agents();
    let rows = machine.run(&["list", "--json", "--subagents", "--hidden"]).json();
    for row in rows.as_array().unwrap() {
        let (id, agent) = (row["id"].as_str().unwrap(), row["agent"].as_str().unwrap());
        let exported = machine.run(&["export", id, "--agent", agent, "--verbatim"]).json();
        assert_eq!(exported["session"]["id"], row["id"], "{agent}");
        assert_eq!(exported["session"]["title"], row["title"], "{agent} {id}");
        machine.run(&["show", id, "--agent", agent, "--no-pager"]).ok();
    }
}

#[test]
fn the_tree_has_each_sub_agent_below_its_session() {
    let machine = Machine::with_all_agents();
    let lines = machine.run(&["list", "--tree", "--hidden"]).ok();
    let rows = machine.run(&["list", "--json", "--subagents", "--hidden"]).json();
    let order: Vec<&str> = lines.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(order.len(), rows.as_array().unwrap().len());
    let mut children = 0;
    for row in rows.as_array().unwrap() {
        let Some(parent) = row.get("parentSessionId").and_then(Value::as_str) else { continue };
        let at = |id: &str| order.iter().position(|shown| *shown == id).unwrap_or_else(|| panic!("{id} in {lines}"));
        let line = lines.lines().nth(at(row["id"].as_str().unwrap())).unwrap();
        assert!(at(row["id"].as_str().unwrap()) > at(parent), "{lines}");
        assert!(line.contains("↳ "), "{line}");
        children += 1;
    }
    assert!(children >= 4, "{children} sub-agents");
}

#[test]
fn a_broken_database_is_a_warning_and_hides_no_other_store() {
    let machine = Machine::with_all_agents();
    let database = machine.place("home/.local/share/devin/cli/sessions.db");
    fs::write(&database, b"this was a database once, and is no more").unwrap();
    let ran = machine.run(&["list", "--subagents", "--hidden"]);
    assert!(ran.status.success(), "{ran:?}");
    assert!(ran.stderr.contains("devin") && ran.stderr.contains("sessions.db"), "{}", ran.stderr);
    let rows = machine.run(&["list", "--json", "--subagents", "--hidden"]).json();
    assert_eq!(counts(&rows), expected(&[("claude", 13), ("cline", 13), ("cursor", 10), ("warning", 1)]));
    assert_eq!(fs::read(&database).unwrap(), b"this was a database once, and is no more");
}
