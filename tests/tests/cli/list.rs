//! `sepia list`

use sepia_tests::Machine;
use serde_json::{Value, json};

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn listed(machine: &Machine, params: &Value) -> Value {
    machine.serve().get("sessions.list", params)
}

#[test]
fn for_programs_it_is_one_line_a_session_with_tabs_between() {
    let machine = Machine::with_samples();
    let said = machine.run(&["list"]).ok();
    let rows: Vec<Vec<&str>> = said.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 12);
    let rows_of_serve = listed(&machine, &json!({"topLevel": true}));
    for (row, expected) in rows.iter().zip(rows_of_serve.as_array().unwrap()) {
        let members = ["id", "agent", "updatedAt", "title", "cwd"].map(|member| expected[member].as_str().unwrap());
        assert_eq!(row, &members);
    }
    let with_children = machine.run(&["list", "--subagents"]).ok();
    assert_eq!(with_children.lines().count(), 13);
}

#[test]
fn as_json_it_is_what_serve_answers() {
    let machine = Machine::with_samples();
    let cases: [(&[&str], Value); 6] = [
        (&[], json!({"topLevel": true})),
        (&["--subagents"], json!({})),
        (&["--limit", "3"], json!({"topLevel": true, "limit": 3})),
        (&["--stats", "--locks"], json!({"topLevel": true, "withStats": true, "withLocks": true})),
        (&["--agent", "claude", "--cwd", "/home/dev/shop"], json!({"topLevel": true})),
        (&["--since", "2026-11-30T10:10:11.952Z"], json!({"topLevel": true, "since": "2026-11-30T10:10:11.952Z"})),
    ];
    for (arguments, params) in cases {
        let printed = machine.run(&[&["list", "--json"], arguments].concat()).json();
        assert_eq!(printed, listed(&machine, &params), "{arguments:?}");
        assert!(!printed.as_array().unwrap().is_empty());
    }
}

#[test]
fn since_takes_dates_and_spans() {
    let machine = Machine::with_samples();
    let count = |since: &str| machine.run(&["list", "--since", since]).ok().lines().count();
    assert_eq!(count("2026-11-30"), 12);
    assert_eq!(count("2026-12-01"), 0);
    assert_eq!(count("2026-11-30T10:10:46.966Z"), 1);
    assert_eq!(count("9000d"), 12);
    for wrong in ["soon", "", "2026-13-01", "-"] {
        let ran = machine.run(&["list", "--since", wrong]);
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{wrong}");
        assert!(ran.stderr.contains("--since"), "{}", ran.stderr);
    }
}

#[test]
fn a_relative_directory_counts_from_here() {
    let machine = Machine::empty();
    let here = machine.place("home");
    let records = sepia_tests::claude::Records::of(sepia_tests::claude::S1)
        .in_directory(&here.display().to_string())
        .user("hello", 1)
        .assistant("hi", 2);
    machine.write(&format!("claude/projects/-x/{}.jsonl", sepia_tests::claude::S1), records.text());
    for cwd in [".", "./", "../home"] {
        assert_eq!(machine.run(&["list", "--cwd", cwd]).ok().lines().count(), 1, "{cwd}");
    }
    assert_eq!(machine.run(&["list", "--cwd", ".."]).ok(), "");
}

#[test]
fn no_sessions_come_with_the_places_that_were_looked_at() {
    let machine = Machine::empty();
    let ran = machine.run(&["list"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("no sessions were found"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{} (not there)", machine.claude().display())), "{}", ran.stderr);
    assert_eq!(machine.run(&["list", "--json"]).json(), json!([]));

    let machine = Machine::with_samples();
    let ran = machine.run(&["list", "--cwd", "/nowhere"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("no sessions match"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&machine.claude().display().to_string()), "{}", ran.stderr);
}

#[test]
fn an_unknown_agent_is_wrong_use() {
    let ran = Machine::with_samples().run(&["list", "--agent", "nobody"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("`nobody`") && ran.stderr.contains("claude"), "{}", ran.stderr);
}

#[test]
fn a_store_that_fails_is_told_on_stderr_beside_all_others() {
    let machine = Machine::with_samples().with("SEPIA_PROCESS_TIMEOUT_MS", "300");
    machine.add_program("hangs");
    let ran = machine.run(&["list"]);
    assert!(ran.stderr.contains("misbehaving"), "{}", ran.stderr);
    assert_eq!(ran.ok().lines().count(), 12);
    assert_eq!(machine.run(&["show", &id(1)]).code(), 0);
}
