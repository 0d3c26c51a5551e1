//! `sepia export`

use sepia_tests::Machine;
use sepia_tests::claude::{Records, S1};
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

/// A session with a key in what a tool printed, in a title and in a path. Put together here, so
/// that nothing that looks like a key stands in this repository.
fn with_a_secret() -> (Machine, String) {
    let key = ["ghp", "_", &"Zk9".repeat(12)].concat();
    let machine = Machine::empty();
    let records = Records::of(S1)
        .user(&format!("why does {key} not work"), 1)
        .calls("t1", "Read", &json!({"file_path": format!("/p/demo/{key}.txt")}), 2)
        .result("t1", &format!("TOKEN={key}\nnext"), 3)
        .assistant("done", 4);
    machine.write(&format!("claude/projects/-p-demo/{S1}.jsonl"), records.text());
    (machine, key)
}

#[test]
fn what_is_to_be_shared_has_no_secrets_and_says_how_many_there_were() {
    let (machine, key) = with_a_secret();
    let ran = machine.run(&["export", S1]);
    assert!(!ran.stdout.contains(&key), "{}", ran.stdout);
    assert!(ran.stderr.contains("1 secret in ") && ran.stderr.contains("--verbatim"), "{}", ran.stderr);
    let exported: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let title = exported["session"]["title"].as_str().unwrap();
    let placeholder = title.strip_prefix("why does ").unwrap().strip_suffix(" not work").unwrap();
    assert!(placeholder.starts_with("[redacted:github-token:"), "{title}");
    let nodes = exported["session"]["nodes"].as_array().unwrap();
    let result = nodes.iter().find(|node| node["role"] == "tool").unwrap();
    assert_eq!(result["content"], json!(format!("TOKEN={placeholder}\nnext")), "equal secrets stay equal");
    // In a file the same, with the notice on stderr.
    let file = machine.place("home/out.json").display().to_string();
    let to_file = machine.run(&["export", S1, "-o", &file]);
    assert!(to_file.stderr.contains("1 secret in "), "{}", to_file.stderr);
    assert!(!fs::read_to_string(&file).unwrap().contains(&key));
}

#[test]
fn verbatim_and_native_have_everything_and_say_so() {
    let (machine, key) = with_a_secret();
    for how in ["--verbatim", "--native"] {
        let ran = machine.run(&["export", how, S1]);
        assert!(ran.stdout.matches(&key).count() >= 3, "{how}");
        assert!(ran.stderr.starts_with("verbatim: "), "{how}: {}", ran.stderr);
    }
    let mut client = machine.serve();
    assert!(client.get("sessions.export", &json!({"id": S1})).to_string().contains(&key));
    for wrong in [["--native", "--verbatim"], ["--native", "--structure"], ["--verbatim", "--structure"]] {
        assert_eq!(machine.run(&["export", wrong[0], wrong[1], S1]).code(), 2, "{wrong:?}");
    }
}

#[test]
fn structure_lets_no_text_through() {
    let (machine, key) = with_a_secret();
    let ran = machine.run(&["export", "--structure", S1]);
    for text in [key.as_str(), "why does", "/p/demo", "next", "done"] {
        assert!(!ran.stdout.contains(text), "{text} in {}", ran.stdout);
    }
    let exported: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let roles: Vec<_> = exported["session"]["nodes"].as_array().unwrap().iter().map(|node| &node["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
}

#[test]
fn as_markdown_it_is_the_live_branch_to_be_read() {
    let machine = Machine::with_samples();
    let text = machine.run(&["export", "11111111-1111-4111-8111-000000000003", "--markdown"]).ok();
    assert!(text.starts_with("# Set the tax to 4\n\n- agent: claude\n- directory: /home/dev/shop\n"), "{text}");
    for part in [
        "\n## User, ",
        "\nWrite the notes\n",
        "\n### Write\n\n```json\n{\"file_path\":\"/home/dev/shop/notes.txt\",\"content\":\"one\\ntwo\\n\"}\n```\n",
        "\n### Result of Bash (failed, exit 3)\n\n```\nExit code 3\nout\nerr\n```\n",
        "\nWrote notes.txt.\n",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
