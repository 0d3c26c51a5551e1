//! `sepia search`

use sepia_tests::Machine;
use serde_json::{Value, json};

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

fn found(machine: &Machine, params: &Value) -> Value {
    machine.serve().get("sessions.search", params)
}

#[test]
fn for_programs_it_is_one_line_a_hit_with_tabs_between() {
    let machine = Machine::with_samples();
    let said = machine.run(&["search", "tax value"]).ok();
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split('\t').collect()).collect();
    let thought = "The user wants another tax value; read the file, then edit it.";
    let expected = found(&machine, &json!({"query": "tax value"}));
    assert_eq!(lines.len(), 4);
    for (line, row) in lines.iter().zip(expected.as_array().unwrap()) {
        let node = row["hits"][0]["nodeId"].to_string();
        let [id, updated] = ["id", "updatedAt"].map(|member| row[member].as_str().unwrap());
        assert_eq!(line, &[id, "claude", updated, "thinking", &node, thought]);
    }
    // Lines of the text are one line here.
    let said = machine.run(&["search", "out\nerr", "--limit", "1"]).ok();
    assert!(said.ends_with("\tExit code 3\\nout\\nerr\n"), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn as_json_it_is_what_serve_answers() {
    let machine = Machine::with_samples();
    let cases: [(&[&str], Value); 7] = [
        (&["tax"], json!({"query": "tax"})),
        (&["nothing of the kind"], json!({"query": "nothing of the kind"})),
        (
            &["TAX", "-i", "--hits", "1", "--limit", "2"],
            json!({"query": "TAX", "ignoreCase": true, "hits": 1, "limit": 2}),
        ),
        (&["^(out|err)$", "-e"], json!({"query": "^(out|err)$", "regex": true})),
        (&["tax", "--in", "title,call"], json!({"query": "tax", "in": ["title", "call"]})),
        (&["tax", "--agent", "claude", "--cwd", "/home/dev/shop"], json!({"query": "tax"})),
        (
            &["tax", "--since", "2026-11-30T10:10:11.952Z", "--top-level"],
            json!({"query": "tax", "since": "2026-11-30T10:10:11.952Z", "topLevel": true}),
        ),
    ];
    for (arguments, params) in cases {
        let printed = machine.run(&[&["search", "--json"], arguments].concat()).json();
        assert_eq!(printed, found(&machine, &params), "{arguments:?}");
    }
}

#[test]
fn nothing_found_is_said_on_stderr() {
    let machine = Machine::with_samples();
    let ran = machine.run(&["search", "zzqqxx"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("no session matches"), "{}", ran.stderr);
    assert_eq!(machine.run(&["search", "zzqqxx", "--json"]).json(), json!([]));
    assert_eq!(Machine::empty().run(&["search", "x"]).code(), 0);
}

#[test]
fn wrong_queries_are_wrong_use() {
    let machine = Machine::with_samples();
    let wrong: [(&[&str], &str); 6] = [
        (&["search"], "<QUERY>"),
        (&["search", ""], "empty"),
        (&["search", "(", "-e"], "regular expression"),
        (&["search", "x", "--in", "nowhere"], "thinking"),
        (&["search", "x", "--hits", "0"], "1 to 100"),
        (&["search", "x", "--agent", "nobody"], "claude"),
    ];
    for (arguments, said) in wrong {
        let ran = machine.run(arguments);
        assert_eq!((ran.code(), ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    // After `--` nothing is an option.
    assert_eq!(machine.run(&["search", "--", "--no-such-option"]).code(), 0);
}

#[test]
fn a_store_that_fails_is_told_on_stderr_beside_what_was_found() {
    let machine = Machine::with_samples().with("SEPIA_PROCESS_TIMEOUT_MS", "300");
    machine.add_program("hangs");
    let ran = machine.run(&["search", "red square"]);
    assert!(ran.stderr.contains("misbehaving"), "{}", ran.stderr);
    assert!(ran.ok().starts_with(&id(12)));
}

#[test]
fn an_early_end_leaves_no_noise() {
    let machine = Machine::with_samples();
    for _ in 0..10 {
        let ran = machine.run(&["search", "e", "--limit", "1"]);
        assert_eq!((ran.code(), ran.stderr.as_str()), (0, ""));
    }
}
