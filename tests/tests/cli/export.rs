//! `sepia export`

use sepia_tests::Machine;
use sepia_tests::machine::data;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn id(number: u32) -> String {
    format!("11111111-1111-4111-8111-{number:012}")
}

#[test]
fn it_is_what_serve_answers_on_one_line() {
    let machine = Machine::with_samples();
    let mut client = machine.serve();
    for number in 1..=12 {
        let said = machine.run(&["export", &id(number)]).ok();
        assert!(said.ends_with('\n') && sepia_tests::client::is_one_line(said.trim_end_matches('\n')));
        let exported: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(exported, client.get("sessions.export", &json!({"id": id(number)})));
        assert_eq!(exported.as_object().unwrap().len(), 1);
    }
}

#[test]
fn native_is_the_agents_file_byte_for_byte() {
    let machine = Machine::with_samples();
    for number in 1..=12 {
        let file = machine.claude().join(format!("projects/-home-dev-shop/{}.jsonl", id(number)));
        assert!(machine.run(&["export", "--native", &id(number)]).ok().as_bytes() == fs::read(file).unwrap());
    }
}

#[test]
fn a_file_is_for_its_owner_alone_and_replaced_as_a_whole() {
    let machine = Machine::with_samples();
    let file = machine.place("home/out.json");
    let place = file.display().to_string();
    let ran = machine.run(&["export", &id(3), "-o", &place]);
    assert_eq!((ran.code(), ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(fs::read_to_string(&file).unwrap(), machine.run(&["export", &id(3)]).ok());
    machine.run(&["export", "--native", &id(4), "--output", &place]).ok();
    let own = machine.claude().join(format!("projects/-home-dev-shop/{}.jsonl", id(4)));
    assert_eq!(fs::read(&file).unwrap(), fs::read(own).unwrap());
    // A relative place counts from here, and a link stays one.
    machine.run(&["export", &id(1), "-o", "plain.json"]).ok();
    symlink("plain.json", machine.place("home/link.json")).unwrap();
    machine.run(&["export", &id(2), "-o", "link.json"]).ok();
    assert!(fs::symlink_metadata(machine.place("home/link.json")).unwrap().is_symlink());
    let through = fs::read_to_string(machine.place("home/plain.json")).unwrap();
    assert_eq!(through, machine.run(&["export", &id(2)]).ok());
    assert_eq!(names(&machine), ["link.json", "out.json", "plain.json"]);
}

fn names(machine: &Machine) -> Vec<String> {
    let names = fs::read_dir(machine.place("home")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn where_it_can_not_be_written_nothing_is_left_and_the_sentence_names_the_place() {
    let machine = Machine::with_samples();
    machine.write("home/file", "mine");
    machine.write("home/folder/kept", "");
    for place in ["nowhere/out.json", "file/out.json", "folder"] {
        let ran = machine.run(&["export", &id(3), "-o", place]);
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{place}");
        assert!(ran.stderr.starts_with(&format!("sepia: {place} ")), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    let ran = machine.run(&["export", &id(99), "-o", "out.json"]);
    assert_eq!(ran.code(), 3);
    assert_eq!(names(&machine), ["file", "folder"]);
    assert_eq!(fs::read_to_string(machine.place("home/file")).unwrap(), "mine");
}

#[test]
fn what_is_no_file_is_written_to_and_never_replaced() {
    let machine = Machine::with_samples();
    // A pipe of our own stands for devices: replacing one of those would harm the machine.
    let pipe = machine.place("home/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    machine.run(&["export", &id(3), "-o", "pipe"]).ok();
    assert_eq!(reader.join().unwrap(), machine.run(&["export", &id(3)]).ok());
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

#[test]
fn the_sample_store_itself_is_as_it_was() {
    // The other tests work on copies of it.
    assert!(data().join("claude/store/projects").is_dir());
    assert_eq!(fs::read_dir(data().join("claude/store/projects/-home-dev-shop")).unwrap().count(), 13);
}
