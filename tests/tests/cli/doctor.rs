//! `sepia doctor`

use sepia_tests::Machine;

#[test]
fn it_names_every_place_that_was_looked_at() {
    let machine = Machine::with_samples();
    let said = machine.run(&["doctor"]).ok();
    let places = [
        machine.sepia_home(),
        machine.drivers(),
        machine.place("home/.local/share/sepia/drivers"),
        machine.sepia_home().join("drivers"),
        "/usr/local/lib/sepia/drivers".into(),
        machine.claude(),
    ];
    for place in places {
        assert!(said.contains(&place.display().to_string()), "{place:?} in {said}");
    }
    assert!(said.contains("built in") && said.contains("on PATH"), "{said}");
    assert!(said.contains("(moved by SEPIA_CLAUDE_DIR)"), "{said}");
    assert!(said.contains("13 transcripts"), "{said}");
}

#[test]
fn a_store_that_is_not_there_comes_with_the_variables_that_move_it() {
    let mut machine = Machine::empty();
    machine.unset("SEPIA_CLAUDE_DIR");
    let said = machine.run(&["doctor"]).ok();
    let place = machine.place("home/.claude").display().to_string();
    assert!(said.contains(&format!("{place} (not there)")), "{said}");
    let advice = said.split("what to do").nth(1).unwrap();
    for part in [place.as_str(), "SEPIA_CLAUDE_DIR", "CLAUDE_CONFIG_DIR"] {
        assert!(advice.contains(part), "{part} in {advice}");
    }
}

#[test]
fn own_files_that_can_not_be_kept_are_told() {
    let mut machine = Machine::with_samples();
    let file = machine.write("a-file", "in the way");
    machine.set("SEPIA_HOME", &file);
    let said = machine.run(&["doctor"]).ok();
    let advice = said.split("what to do").nth(1).unwrap();
    assert!(advice.contains(&file.display().to_string()) && advice.contains("SEPIA_HOME"), "{said}");
}

#[test]
fn without_any_home_it_says_what_to_set() {
    let mut machine = Machine::empty();
    machine.unset("HOME");
    machine.unset("SEPIA_HOME");
    for arguments in [&["doctor"][..], &["list"], &["serve"], &["driver", "list"]] {
        let ran = machine.run(arguments);
        assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(ran.stderr.contains("SEPIA_HOME") && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
    // With a place for our own files the rest is found by its own variable.
    machine.set("SEPIA_HOME", machine.sepia_home());
    assert_eq!(machine.run(&["list"]).code(), 0);
}
