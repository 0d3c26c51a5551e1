//! Drivers of third parties: allowed or not, broken or not, they cost nobody else anything.

use sepia_tests::guests::wasm;
use sepia_tests::{Machine, machine};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What `sepia driver list --json` says of the file with this name.
fn state_of(machine: &Machine, file: &str) -> Value {
    let all = machine.run(&["driver", "list", "--json"]).json();
    let is_it = |found: &&Value| found["origin"].as_str().unwrap().ends_with(&format!("/{file}"));
    all.as_array().unwrap().iter().find(is_it).unwrap_or_else(|| panic!("{file} in {all}")).clone()
}

/// Agents of the rows that are sessions, with how many each has.
fn sessions(machine: &Machine) -> Vec<(String, usize)> {
    let mut client = machine.serve();
    let rows = client.get("sessions.list", &json!({}));
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in rows.as_array().unwrap().iter().filter(|row| row["source"] != "warning") {
        let agent = row["agent"].as_str().unwrap();
        match counts.iter_mut().find(|(known, _)| known == agent) {
            Some((_, count)) => *count += 1,
            None => counts.push((agent.to_owned(), 1)),
        }
    }
    assert!(client.finish().status.success());
    counts.sort();
    counts
}

fn with_guest() -> Machine {
    let machine = Machine::with_samples();
    machine.add_driver_file("guest.wasm", wasm("well_behaved"));
    machine.write("home/.home/a.txt", "one\ntwo\n");
    machine.write("home/.home/b.txt", "three\n");
    machine
}

#[test]
fn a_component_of_a_stranger_is_blocked_until_it_is_allowed_and_when_it_changes() {
    let machine = with_guest();
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13)]);
    let blocked = state_of(&machine, "guest.wasm");
    assert_eq!((&blocked["id"], &blocked["state"]), (&json!("guest"), &json!("blocked")));
    let reason = blocked["reason"]["message"].as_str().unwrap();
    assert!(reason.contains("sepia driver allow guest"), "{reason}");
    let asks_for = format!("reading {}", machine.place("home/.home").display());
    assert_eq!(blocked["asksFor"][0], json!(asks_for));
    let said = machine.run(&["driver", "list"]).ok();
    assert!(said.contains(reason) && said.contains(&asks_for), "{said}");

    let said = machine.run(&["driver", "allow", "guest"]).ok();
    assert!(said.contains(&asks_for), "{said}");
    assert_eq!(state_of(&machine, "guest.wasm")["state"], "in use");
    let both = [("claude".to_owned(), 13), ("guest".to_owned(), 2)];
    assert_eq!(sessions(&machine), both);
    let mut client = machine.serve();
    let page = client.get("sessions.history", &json!({"id": "a"}));
    assert_eq!((&page["total"], &page["messages"][1]["content"]), (&json!(2), &json!("two")));

    // Another build of it is another driver.
    machine.add_driver_file("guest.wasm", wasm("prints_frames"));
    let changed = state_of(&machine, "guest.wasm");
    assert_eq!(changed["state"], "blocked");
    assert!(changed["reason"]["message"].as_str().unwrap().contains("another file"), "{changed}");
    machine.add_driver_file("guest.wasm", wasm("well_behaved"));
    assert_eq!(sessions(&machine), both);

    machine.run(&["driver", "revoke", "guest"]).ok();
    assert_eq!(sessions(&machine), both[..1]);
    let again = machine.run(&["driver", "revoke", "guest"]);
    assert_eq!(again.code(), 1);
    assert!(again.stderr.contains("`guest` was not allowed"), "{}", again.stderr);
}

#[test]
fn the_environment_allows_by_id() {
    let mut machine = with_guest();
    machine.set("SEPIA_DRIVER_ALLOW", "other, guest");
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13), ("guest".to_owned(), 2)]);
    assert!(!machine.sepia_home().join("grants.json").exists());
    machine.set("SEPIA_DRIVER_ALLOW", "gues,guest2,GUEST");
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13)]);
}

#[test]
fn what_is_unknown_or_needs_no_permission_can_not_be_allowed() {
    let machine = with_guest();
    for (id, why) in
        [("nobody", "was not found"), ("claude", "needs no permission"), ("\u{1b}[2Jx", "`x` was not found")]
    {
        let ran = machine.run(&["driver", "allow", id]);
        assert_eq!(ran.code(), 1, "{id}");
        assert!(ran.stderr.contains(why) && !ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    }
    assert!(!machine.sepia_home().join("grants.json").exists());
}

#[test]
fn a_list_without_sub_agents_does_not_ask_for_them() {
    let machine = with_guest().with("SEPIA_DRIVER_ALLOW", "guest");
    // Who is asked gives itself away: its rows have no parent.
    machine.add_driver_file("guest.wasm", wasm("lies_about_sub_agents"));
    let mut client = machine.serve();
    for (top_level, count) in [(true, 0), (false, 2), (true, 0)] {
        let rows = client.get("sessions.list", &json!({"agent": "guest", "topLevel": top_level}));
        assert_eq!(rows.as_array().unwrap().len(), count, "{rows}");
    }
}

#[test]
fn some_places_are_never_granted() {
    let mut machine = Machine::with_samples().with("SEPIA_DRIVER_ALLOW", "guest");
    machine.add_driver_file("guest.wasm", wasm("moves_by_variable"));
    machine.write("home/.ssh/id", "key");
    machine.write("home/mine/a.txt", "one\n");
    std::os::unix::fs::symlink(machine.place("home"), machine.place("link")).unwrap();
    let forbidden = [
        Path::new("/").to_owned(),
        machine.place("home"),
        machine.place(""),
        machine.place("link"),
        machine.place("home/mine/.."),
        machine.place("home/.ssh"),
        machine.sepia_home(),
        machine.sepia_home().join("cache"),
        machine.claude(),
        machine.claude().join("projects"),
    ];
    for place in forbidden {
        machine.set("GUEST_DIR", &place);
        let found = state_of(&machine, "guest.wasm");
        assert_eq!(found["state"], "blocked", "{place:?}");
        let reason = found["reason"]["message"].as_str().unwrap();
        assert!(reason.contains("never granted") && reason.contains("GUEST_DIR"), "{reason}");
        assert_eq!(sessions(&machine), [("claude".to_owned(), 13)], "{place:?}");
    }
    machine.set("GUEST_DIR", machine.place("home/mine"));
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13), ("guest".to_owned(), 1)]);
}

#[test]
fn files_that_are_no_drivers_are_listed_with_the_reason_and_break_nothing() {
    let machine = with_guest().with("SEPIA_DRIVER_ALLOW", "guest");
    let broken = &wasm("well_behaved")[..5_000];
    machine.add_driver_file("cut.wasm", broken);
    machine.add_driver_file("module.wasm", b"\0asm\x01\0\0\0");
    machine.add_driver_file("text.wasm", b"#!/bin/sh\necho no\n");
    machine.add_driver_file("empty.wasm", b"");
    machine.add_driver_file("large.wasm", &vec![0; 17 << 20]);
    fs::create_dir(machine.drivers().join("folder.wasm")).unwrap();
    std::os::unix::fs::symlink("nowhere", machine.drivers().join("dangling.wasm")).unwrap();
    make_pipe(&machine.drivers().join("pipe.wasm"));
    machine.add_driver_file("notes.txt", b"not looked at");
    for file in ["cut", "module", "text", "empty", "large", "folder", "dangling", "pipe"] {
        let found = state_of(&machine, &format!("{file}.wasm"));
        assert_eq!(found["state"], "unusable", "{found}");
        let reason = &found["reason"];
        assert!(!reason["kind"].as_str().unwrap().is_empty());
        let message = reason["message"].as_str().unwrap();
        assert!(message.len() > 10 && !message.contains('\n'), "{file}: {message}");
    }
    let large = state_of(&machine, "large.wasm");
    assert!(large["reason"]["message"].as_str().unwrap().contains("SEPIA_DRIVER_FILE_MB"), "{large}");
    let all = machine.run(&["driver", "list", "--json"]).json();
    let built_in = all.as_array().unwrap().iter().filter(|driver| driver["origin"] == "built in").count();
    assert_eq!(all.as_array().unwrap().len(), 9 + built_in, "eight that can't be used, one that can, those built in");
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13), ("guest".to_owned(), 2)]);
    // People see the same, and the doctor says what to do.
    for arguments in [&["driver", "list"][..], &["doctor"]] {
        let said = machine.run(arguments).ok();
        for file in ["cut", "module", "text", "empty", "large", "folder", "dangling", "pipe"] {
            assert!(said.contains(&format!("{file}.wasm")), "{file} in {said}");
        }
    }
}

fn make_pipe(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn programs_that_can_not_be_asked_who_they_are_are_listed_with_the_reason() {
    let machine = Machine::with_samples();
    let misdeeds = ["exits-in-probe", "killed-in-probe", "silent-in-probe", "text-in-probe", "protocol-2", "path-id"];
    for misdeed in misdeeds {
        machine.add_program(misdeed);
    }
    for misdeed in misdeeds {
        let found = state_of(&machine, &format!("sepia-driver-{misdeed}"));
        assert_eq!(found["state"], "unusable", "{misdeed}");
        let message = found["reason"]["message"].as_str().unwrap();
        assert!(message.len() > 10 && !message.contains(['\n', '\u{1b}']), "{message:?}");
    }
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13)]);
}

#[test]
fn the_first_of_an_id_wins_and_what_can_not_be_used_gives_way() {
    let mut machine = with_guest();
    // The same id in our own folder, which comes later.
    let later = machine.sepia_home().join("drivers");
    fs::create_dir_all(&later).unwrap();
    fs::write(later.join("later.wasm"), wasm("moves_by_variable")).unwrap();
    machine.set("SEPIA_DRIVER_ALLOW", "guest");
    assert_eq!(state_of(&machine, "guest.wasm")["state"], "in use");
    let shadowed = state_of(&machine, "later.wasm");
    assert_eq!(shadowed["state"], "shadowed");
    assert!(shadowed["shadowedBy"].as_str().unwrap().ends_with("/guest.wasm"));
    assert!(machine.run(&["driver", "list"]).ok().contains("was found before it"));

    // The first one is broken: the next of the id takes its place.
    machine.add_driver_file("guest.wasm", b"\0asm");
    assert_eq!(state_of(&machine, "guest.wasm")["state"], "unusable");
    assert_eq!(state_of(&machine, "later.wasm")["state"], "in use");
    assert_eq!(sessions(&machine), [("claude".to_owned(), 13), ("guest".to_owned(), 2)]);

    // The first one is another build than the one that was allowed; the next is that one.
    machine.unset("SEPIA_DRIVER_ALLOW");
    machine.run(&["driver", "allow", "guest"]).ok();
    machine.add_driver_file("guest.wasm", wasm("well_behaved"));
    assert_eq!(state_of(&machine, "guest.wasm")["state"], "blocked");
    assert_eq!(state_of(&machine, "later.wasm")["state"], "in use");
}

#[test]
fn nobody_takes_the_place_of_a_built_in_driver_unseen() {
    // A program is found before the ones built in; with the id of one of them it shadows it,
    // and the listing says so.
    let machine = Machine::with_samples();
    let program = machine.drivers().join("sepia-driver-claude");
    let manifest = r#"{"id":"claude","label":"Not Claude","version":"9.9.9","protocol":1,"capabilities":["sessionStore"],"backendType":"claude"}"#;
    fs::write(&program, format!("#!/bin/sh\necho '{manifest}'\n")).unwrap();
    machine::change_modes(&machine.drivers(), 0o755, 0o755);
    let all = machine.run(&["driver", "list", "--json"]).json();
    let of_agent = all.as_array().unwrap().iter().filter(|driver| driver["id"] == "claude");
    let states: Vec<_> = of_agent.map(|d| (d["origin"].clone(), d["state"].clone())).collect();
    assert_eq!(states, [(json!(program), json!("in use")), (json!("built in"), json!("shadowed"))]);
}

#[test]
fn faults_of_one_driver_are_rows_of_its_own_and_hide_nobody() {
    let hostile = [
        "panics_with_escapes",
        "exits",
        "recurses_forever",
        "hands_over_too_much",
        "lies_about_ids",
        "lies_about_json",
        "loops_forever",
        "waits_forever",
        "grows_memory",
    ];
    for guest in hostile {
        let machine = Machine::with_samples()
            .with("SEPIA_DRIVER_ALLOW", "guest")
            .with("SEPIA_CALL_TIMEOUT_MS", "3000")
            .with("SEPIA_DRIVER_MEMORY_MB", "64");
        machine.add_driver_file("guest.wasm", wasm(guest));
        machine.write("home/.home/a.txt", "one\n");
        let mut client = machine.serve();
        for _ in 0..2 {
            let rows = client.get("sessions.list", &json!({}));
            let of = |agent: &str| rows.as_array().unwrap().iter().filter(|row| row["agent"] == agent).count();
            assert_eq!(of("claude"), 13, "{guest}");
            let claude =
                client.get("sessions.get", &json!({"id": "11111111-1111-4111-8111-000000000001", "agent": "claude"}));
            assert_eq!(claude["title"], "hello shop", "{guest}");
        }
        // Whatever it did, its answer is a result or an error with a code.
        for method in ["sessions.get", "sessions.summary", "sessions.history"] {
            if let Err(error) = client.call(method, &json!({"id": "a", "agent": "guest"})) {
                let (_, code, message) = sepia_tests::client::parts(&error);
                assert!(code == "internal" || code == "not_found", "{guest} {method}: {error}");
                assert!(!message.contains('\u{1b}'), "{message:?}");
            }
        }
        assert!(client.finish().status.success(), "{guest}");
    }
}
