//! Rows that are kept between listings: the second list is as the first, and never older than
//! the store.

use sepia_tests::claude::{Records, S1, S2};
use sepia_tests::{Machine, machine, tree};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const PLACE: &str = "claude/projects/-p-demo";

/// Two sessions, untouched for an hour.
fn two_sessions() -> Machine {
    let machine = Machine::empty();
    for (id, text) in [(S1, "first"), (S2, "second")] {
        let records = Records::of(id).user(text, 10).assistant("done", 20);
        machine.write(&format!("{PLACE}/{id}.jsonl"), records.text());
    }
    settle(&machine);
    machine
}

fn settle(machine: &Machine) {
    machine::age(&machine.claude(), SystemTime::now() - Duration::from_secs(3600));
}

fn list(machine: &Machine, arguments: &[&str]) -> Value {
    machine.run(&[&["list", "--json"], arguments].concat()).json()
}

fn titles(rows: &Value) -> Vec<&str> {
    let mut titles: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    titles
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

fn memmem(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}

/// The files of kept rows.
fn kept(machine: &Machine) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(machine.sepia_home().join("cache/rows")) else { return Vec::new() };
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn the_second_list_is_as_the_first() {
    let machine = two_sessions();
    let store = tree::fingerprint(&machine.claude());
    for arguments in [&[][..], &["--stats"], &["--limit", "1"], &["--cwd", "/p/demo"]] {
        let first = list(&machine, arguments);
        assert_eq!(first, list(&machine, arguments), "{arguments:?}");
        let nothing_kept = fs::remove_dir_all(machine.sepia_home().join("cache/rows"));
        nothing_kept.unwrap();
        assert_eq!(first, list(&machine, arguments), "{arguments:?}");
    }
    assert_eq!(store, tree::fingerprint(&machine.claude()));
}

#[test]
fn what_changes_in_the_store_shows_at_once() {
    let machine = two_sessions();
    assert_eq!(titles(&list(&machine, &[])), ["first", "second"]);
    assert!(!kept(&machine).is_empty());
    let longer = Records::of(S1).user("third, longer than before", 10).assistant("done", 20);
    machine.write(&format!("{PLACE}/{S1}.jsonl"), longer.text());
    assert_eq!(titles(&list(&machine, &[])), ["second", "third, longer than before"]);
    fs::remove_file(machine.place(&format!("{PLACE}/{S2}.jsonl"))).unwrap();
    assert_eq!(titles(&list(&machine, &[])), ["third, longer than before"]);
    settle(&machine);
    assert_eq!(titles(&list(&machine, &[])), ["third, longer than before"]);
    fs::remove_dir_all(machine.claude()).unwrap();
    assert_eq!(list(&machine, &[]), Value::Array(Vec::new()));
}

/// Of this agent an entry counts as changed as late as its newest row may claim, up to a day after its files did.
#[test]
fn rows_are_kept_of_what_is_settled_whatever_its_newest_row_may_claim() {
    let mut machine = Machine::empty();
    let store = machine.place("cursor");
    sepia_conformance::copy_tree(&samples().join("cursor/home/.cursor"), &store).unwrap();
    machine::age(&store, SystemTime::now() - Duration::from_secs(3600));
    machine.set("SEPIA_CURSOR_DIR", &store);
    let rows = list(&machine, &["--agent", "cursor"]);
    let [file] = &kept(&machine)[..] else { panic!("one file of rows") };
    let written = fs::read(file).unwrap();
    let of_sessions = rows.as_array().unwrap().iter().filter(|row| row["source"] == "cursor");
    let titles: Vec<&str> = of_sessions.map(|row| row["title"].as_str().unwrap()).collect();
    assert!(!titles.is_empty());
    for title in titles {
        assert!(memmem(&written, title.as_bytes()), "{title} is not kept");
    }
    assert_eq!(list(&machine, &["--agent", "cursor"]), rows);
}

/// Of the same length and a moment later: the clock of a file system may not tell them apart.
#[test]
fn a_session_that_changes_again_and_again_is_never_shown_as_it_was() {
    let machine = two_sessions();
    for turn in 0..30 {
        let title = format!("turn {turn:02}");
        machine.write(&format!("{PLACE}/{S1}.jsonl"), Records::of(S1).user(&title, 10).text());
        assert_eq!(titles(&list(&machine, &[])), ["second", &title]);
    }
}

/// A store at another place has other rows, and does not push out those of the first.
#[test]
fn each_place_has_rows_of_its_own() {
    let mut machine = two_sessions();
    assert_eq!(titles(&list(&machine, &[])), ["first", "second"]);
    machine.write(&format!("elsewhere/projects/-p-demo/{S1}.jsonl"), Records::of(S1).user("elsewhere", 10).text());
    machine.set("SEPIA_CLAUDE_DIR", machine.place("elsewhere"));
    assert_eq!(titles(&list(&machine, &[])), ["elsewhere"]);
    machine.set("SEPIA_CLAUDE_DIR", machine.claude());
    assert_eq!(titles(&list(&machine, &[])), ["first", "second"]);
}

#[test]
fn damaged_rows_are_made_again() {
    let machine = two_sessions();
    let first = list(&machine, &[]);
    let [file] = &kept(&machine)[..] else { panic!("one file of rows") };
    let good = fs::read(file).unwrap();
    for at in (0..good.len()).step_by(29) {
        let mut bent = good.clone();
        bent[at] ^= 0x41;
        fs::write(file, bent).unwrap();
        assert_eq!(list(&machine, &[]), first, "byte {at}");
    }
    fs::write(file, b"").unwrap();
    assert_eq!(list(&machine, &[]), first);
    fs::remove_file(file).unwrap();
    fs::create_dir(file).unwrap();
    assert_eq!(list(&machine, &[]), first, "where nothing can be kept");
}

#[test]
fn several_processes_share_them() {
    let machine = two_sessions();
    let expected = list(&machine, &[]);
    let outputs: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..8)
            .map(|n| {
                let machine = &machine;
                scope.spawn(move || {
                    if n % 2 == 0 {
                        let _ = fs::remove_dir_all(machine.sepia_home().join("cache/rows"));
                    }
                    list(machine, &[])
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(outputs.iter().all(|output| *output == expected));
}
