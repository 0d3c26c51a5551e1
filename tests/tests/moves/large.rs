//! Sessions that are larger than what is kept in memory of one.

use crate::everywhere::{AGENTS, export};
use sepia_tests::Machine;
use sepia_tests::claude::{Records, S1};
use sepia_tests::conversation::{self, compared, expected};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Some 10 MB of turns.
fn turns() -> Records {
    let text = "some text, \"quoted\" and\nin lines ".repeat(1500);
    (0..100).fold(Records::of(S1), |records, at| {
        let id = format!("toolu_{at}");
        let records = records.user(&format!("question {at}"), at).calls(&id, "Bash", &json!({"command": "ls"}), at);
        // Of some nobody knows what they gave.
        let records = if at % 10 == 9 { records } else { records.result(&id, &text, at) };
        records.assistant(&text, at)
    })
}

fn moved(records: &Records) {
    let machine = Machine::with_all_agents();
    let project = machine.claude().join("projects/-p-demo");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join(format!("{S1}.jsonl")), records.text()).unwrap();
    let mut server = machine.serve();
    let client = &mut server;
    let source = export(client, S1, "claude");
    let wanted = compared(&expected(&source));
    for to in AGENTS {
        let told = client.get("sessions.convert", &json!({"id": S1, "from": "claude", "agent": to}));
        let copy = export(client, told["sessionId"].as_str().unwrap(), to);
        assert_eq!(conversation::unpaired(&copy), [""; 0], "{to}");
        assert!(compared(&conversation::of(&copy)) == wanted, "{to}: another conversation came out");
        let rows = client.get("sessions.list", &json!({"agent": to}));
        let named = |title: &str| rows.as_array().unwrap().iter().filter(|row| row["title"] == title).count();
        let copies = named(source["title"].as_str().unwrap());
        assert_eq!(copies, if to == "claude" { 2 } else { 1 }, "{to}: {rows:#}");
    }
    // Rows are kept behind the answer that showed them.
    server.finish();
    assert_eq!(unseen(&machine.place("")), [""; 0]);
}

/// Files that were begun and not finished.
fn unseen(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(unseen(&entry.path()));
        } else if entry.file_name().to_string_lossy().starts_with(".sepia-") {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[test]
fn one_without_branches_is_the_same_everywhere() {
    let records = turns().user("the last question", 200).calls("toolu_x", "Bash", &json!({"command": "pwd"}), 201);
    assert!(records.text().len() > 9 << 20);
    moved(&records);
}

#[test]
fn one_that_forks_at_its_end_is_the_same_everywhere() {
    let records = turns().back_to(350).user("another way", 200).assistant("gone", 201);
    moved(&records);
}
