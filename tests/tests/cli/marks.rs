//! `sepia pin`, `sepia archive`, `sepia project`, and what `sepia list` makes of it.

use sepia_tests::{Machine, tree};
use serde_json::json;

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn listed(machine: &Machine, arguments: &[&str]) -> String {
    machine.run(&[&["list"], arguments].concat()).ok()
}

#[test]
fn a_pinned_session_is_marked_where_it_is() {
    let machine = Machine::with_samples();
    let before = listed(&machine, &[]);
    let said = machine.run(&["pin", &id(11)]).ok();
    assert!(said.contains(&id(11)) && said.contains("claude") && said.contains("is pinned"), "{said}");
    let marked = before.replace("\tTake your time\t", "\t★ Take your time\t");
    assert_ne!(marked, before);
    assert_eq!(listed(&machine, &[]), marked);
    machine.run(&["unpin", &id(11)]).ok();
    assert_eq!(listed(&machine, &[]), before);
}

#[test]
fn archived_sessions_are_left_out_until_they_are_asked_for() {
    let machine = Machine::with_samples();
    let store = tree::fingerprint(&machine.claude());
    let before = listed(&machine, &[]);
    // The beginning of an id is enough, as everywhere.
    machine.run(&["archive", &id(12)[..36], "--agent", "claude"]).ok();
    assert_eq!(listed(&machine, &[]), before.split_once('\n').unwrap().1);
    let first = listed(&machine, &["--limit", "1"]);
    assert!(first.starts_with(&id(11)) && first.lines().count() == 1, "the limit counts what is shown: {first}");
    let all = listed(&machine, &["--archived"]);
    assert!(all.lines().next().unwrap().contains("\t▣ What is in this picture"), "{all}");
    assert_eq!(all.lines().count(), 12);
    let rows = machine.run(&["list", "--json"]).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["id"] != id(12)));
    let rows = machine.run(&["list", "--json", "--archived"]).json();
    assert_eq!((&rows[0]["id"], &rows[0]["archived"]), (&json!(id(12)), &json!(true)));
    assert_eq!(machine.serve().get("sessions.list", &json!({"topLevel": true})), rows, "the wire gives all");
    machine.run(&["unarchive", &id(12)]).ok();
    assert_eq!(listed(&machine, &[]), before);
    assert_eq!(tree::fingerprint(&machine.claude()), store);
}

#[test]
fn when_all_are_archived_the_list_says_where_they_are() {
    let machine = Machine::with_samples();
    for line in listed(&machine, &[]).lines() {
        machine.run(&["archive", line.split('\t').next().unwrap()]).ok();
    }
    let ran = machine.run(&["list"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("--archived"), "{}", ran.stderr);
}

#[test]
fn a_project_from_its_making_to_its_end() {
    let machine = Machine::with_samples();
    assert_eq!(machine.run(&["project", "list"]).ok(), "");
    let project = machine.run(&["project", "create", "Tax  work"]).ok().trim().to_owned();
    assert!(project.starts_with("proj_"), "{project}");
    assert_eq!(machine.run(&["project", "list"]).ok(), format!("{project}\tTax  work\n"));
    assert_eq!(machine.run(&["project", "list", "--json"]).json(), json!([{"id": project, "name": "Tax  work"}]));
    for number in [8, 3] {
        machine.run(&["project", "add", &project, &id(number)]).ok();
        machine.run(&["project", "add", "Tax  work", &id(number)]).ok();
    }
    let inside = |machine: &Machine, project: &str| -> Vec<String> {
        let rows = machine.run(&["list", "--json", "--project", project]).json();
        rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(inside(&machine, &project), [id(8), id(3)]);
    assert_eq!(listed(&machine, &["--project", "Tax  work", "--limit", "1"]).lines().count(), 1);
    machine.run(&["project", "rename", "Tax  work", "Taxes"]).ok();
    machine.run(&["project", "remove", "Taxes", &id(8)]).ok();
    assert_eq!(inside(&machine, "Taxes"), [id(3)]);
    let said = machine.run(&["project", "delete", "Taxes"]).ok();
    assert!(said.contains(&project), "{said}");
    assert_eq!(machine.run(&["project", "list"]).ok(), "");
    let rows = machine.run(&["list", "--json"]).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["projectIds"] == json!([])));
}

#[test]
fn what_is_not_there_or_not_clear_is_said() {
    let machine = Machine::with_samples();
    for arguments in [
        &["pin", "nobody"][..],
        &["archive", "nobody"],
        &["project", "rename", "nope", "x"],
        &["project", "delete", "nope"],
        &["project", "add", "nope", &id(1)],
        &["list", "--project", "nope"],
    ] {
        let ran = machine.run(arguments);
        assert_eq!((ran.code(), ran.stdout.as_str()), (3, ""), "{arguments:?}: {}", ran.stderr);
    }
    let project = machine.run(&["project", "create", "Twice"]).ok().trim().to_owned();
    machine.run(&["project", "create", "Twice"]).ok();
    let ran = machine.run(&["project", "delete", "Twice"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr.contains("2 projects"), "{}", ran.stderr);
    assert_eq!(machine.run(&["project", "add", &project, "nobody"]).code(), 3);
    assert_eq!(machine.run(&["project", "create", " "]).code(), 2);
    assert_eq!(machine.run(&["pin", "1111"]).code(), 2, "several begin so");
}

#[test]
fn titles_of_the_overlay_move_no_cursor() {
    let machine = Machine::with_samples();
    let hostile = json!({"sessions": {id(1): {"title": "x\u{1b}[2J\r\n\u{202e}y"}}, "projects": {"p\u{1b}[31m": {"name": "\u{9b}2Jz\n"}}});
    machine.write("sepia/meta.json", hostile.to_string());
    for arguments in [&["list"][..], &["project", "list"]] {
        let said = machine.run(arguments).ok();
        assert!(!said.chars().any(|c| c.is_control() && !"\n\t".contains(c)) && !said.contains('\u{202e}'), "{said:?}");
    }
}
