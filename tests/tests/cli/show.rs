//! `sepia show`, and how a session is named.

use sepia_tests::Machine;
use sepia_tests::claude::{Records, S1, S2};
use serde_json::json;

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

#[test]
fn a_transcript_has_every_message_every_call_and_every_result() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    for number in 1..=12 {
        let said = machine.run(&["show", "--full", &id(number)]).ok();
        let page = client.get("sessions.history", &json!({"id": id(number)}));
        let mut at = 0;
        for message in page["messages"].as_array().unwrap() {
            for line in message["content"].as_str().unwrap().lines().map(str::trim).filter(|line| !line.is_empty()) {
                let line = line.replace('\t', " ");
                let rest = said[at..].replace('\t', " ");
                assert!(rest.contains(&line), "session {number}: {line:?} in\n{said}");
            }
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                let name = format!("→ {}", call["name"].as_str().unwrap());
                at += said[at..].find(&name).unwrap_or_else(|| panic!("session {number}: {name}"));
            }
            if let Some(name) = message["toolName"].as_str() {
                assert!(said[at..].contains(&format!("← {name}")), "session {number}: {name}");
            }
        }
    }
}

#[test]
fn it_begins_with_what_session_it_is() {
    let said = Machine::with_samples().run(&["show", &id(3)]).ok();
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("Set the tax to 4"));
    let facts = lines.next().unwrap();
    for fact in ["claude", "/home/dev/shop", "claude-sonnet-4-5", "2026-11-30 10:09", "15 messages", &id(3)] {
        assert!(facts.contains(fact), "{fact} in {facts}");
    }
    assert!(said.contains("← Bash ✗ exit 3"), "{said}");
    assert!(!said.contains('\u{1b}'), "no colours where nobody looks");
}

#[test]
fn a_limit_takes_the_newest_and_all_takes_every_branch() {
    let machine = Machine::with_samples();
    let shown = |arguments: &[&str]| machine.run(&[&["show"], arguments].concat()).ok();
    let last = shown(&["--limit", "1", &id(3)]);
    assert!(last.contains("Wrote notes.txt.") && !last.contains("Write the notes"), "{last}");
    let both = shown(&["--limit", "4", &id(3)]);
    assert!(both.contains("Wrote notes.txt.") && both.contains("Write the notes"), "{both}");
    assert_eq!(shown(&["--limit", "999", &id(3)]), shown(&[&id(3)]));
    assert!(shown(&["--all", &id(8)]).lines().count() > shown(&[&id(8)]).lines().count());
    let page = machine.run(&["show", "--json", "--limit", "4", &id(3)]).json();
    assert_eq!(page, machine.serve().get("sessions.history", &json!({"id": id(3), "limit": 4})));
}

#[test]
fn a_long_session_is_shown_whole_and_in_order() {
    let machine = Machine::empty();
    let records = (0..450).fold(Records::of(S1), |records, n| {
        records.user(&format!("question <{n}>"), n * 2).assistant(&format!("answer <{n}>"), n * 2 + 1)
    });
    machine.write(&format!("claude/projects/-p-demo/{S1}.jsonl"), records.text());
    let said = machine.run(&["show", S1]).ok();
    let said: Vec<_> = said.lines().map(str::trim).filter(|line| line.ends_with('>')).collect();
    let expected: Vec<_> = (0..450).flat_map(|n| [format!("question <{n}>"), format!("answer <{n}>")]).collect();
    assert_eq!(said[said.len() - 900..], expected);
}

#[test]
fn the_beginning_of_an_id_is_enough_when_it_is_of_one_session() {
    let machine = Machine::with_samples();
    let records = Records::of(S2).user("the other one", 1).assistant("yes", 2);
    machine.write(&format!("claude/projects/-p-demo/{S2}.jsonl"), records.text());
    assert!(machine.run(&["show", "2"]).ok().contains("the other one"));
    assert!(machine.run(&["export", "2222"]).ok().contains("the other one"));
    assert!(machine.run(&["show", S2]).ok().contains("the other one"));

    let many = machine.run(&["show", "1111"]);
    assert_eq!((many.code(), many.stdout.as_str()), (2, ""));
    assert!(many.stderr.contains("12 sessions begin with `1111`"), "{}", many.stderr);
    assert!(many.stderr.contains(&id(1)) && many.stderr.contains("and 7 more"), "{}", many.stderr);

    for unknown in ["3", "222222222222", &format!("{S2}0"), "../x", "*", " "] {
        for command in ["show", "export"] {
            let ran = machine.run(&[command, unknown]);
            assert_eq!((ran.code(), ran.stdout.as_str()), (3, ""), "{unknown:?}");
            assert!(ran.stderr.starts_with("sepia: there is no session `"), "{}", ran.stderr);
        }
    }
    assert_eq!(machine.run(&["show", ""]).code(), 2);
    // What looks like an option is one, or wrong use; after `--` it is an id.
    assert_eq!(machine.run(&["show", "--dangerously-skip-permissions"]).code(), 2);
    assert_eq!(machine.run(&["show", "--", "--dangerously-skip-permissions"]).code(), 3);
    assert_eq!(machine.run(&["show", "--agent", "nobody", &id(1)]).code(), 2);
}
