//! `sepia prompt` and `sepia attach` on a terminal, also on one with few columns.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{permission, remember, text, thought, tool, wait_for_cancel, wait_for_file};
use sepia_tests::processes::{is_alive, wait_until};
use sepia_tests::stage::STORED;
use sepia_tests::{Stage, Terminal};
use std::os::unix::process::ExitStatusExt;

/// A person at a new session.
fn at_new_session(stage: &Stage, columns: u16) -> Terminal {
    let cwd = stage.cwd();
    let command = stage.machine.command(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "go"]);
    Terminal::run(&command, 24, columns)
}

fn asking() -> Stage {
    let ask = permission("t", "Write a file with a name that is longer than a narrow terminal is wide")
        .options([("ok", "allow_once"), ("no", "reject_once")])
        .when_selected("ok", [text("It was allowed.")])
        .when_selected("no", [text("It was refused.")]);
    Stage::new(Script::new().on_prompt([ask.step()]))
}

#[test]
fn a_person_is_asked_and_answers() {
    for (columns, keys, said) in [(80, "y\r", "It was allowed."), (30, "2\r", "It was refused.")] {
        let stage = asking();
        let mut terminal = at_new_session(&stage, columns);
        terminal.until("Type a number, y or n, and Enter:");
        let asked = terminal.text().replace('\n', "");
        assert!(asked.contains("The agent asks to: Write a file with a name"), "{asked}");
        terminal.types("maybe\r");
        terminal.until("That is none of them.");
        terminal.types(keys);
        terminal.until(said);
        assert_eq!(terminal.ends().code(), Some(0));
        // What shows that something is waited for is gone again.
        assert!(!terminal.text().contains("is at work"), "{}", terminal.text());
    }
}

#[test]
fn what_is_waited_for_shows_in_one_line_and_leaves_none() {
    let folder = tempfile::tempdir().unwrap();
    let go_on = folder.path().join("go-on");
    let steps = [wait_for_file(&go_on), thought("hm"), text("Here."), tool("t", "Read a", "x"), text("Done.")];
    let stage = Stage::new(Script::new().session_id("s-1").on_prompt(steps));
    let mut terminal = at_new_session(&stage, 20);
    terminal.until("the agent is");
    assert_eq!(terminal.wrapped(), 0, "{}", terminal.text());
    std::fs::write(&go_on, "").unwrap();
    assert_eq!(terminal.ends().code(), Some(0));
    assert_eq!(terminal.text().trim_end(), "new session s-1\nhm\nHere.\n✓ Read a\nDone.");
}

#[test]
fn control_c_cancels_the_turn_and_ends_the_agent() {
    let stage = Stage::new(Script::new().on_prompt([text("working"), wait_for_cancel()]));
    let mut terminal = at_new_session(&stage, 80);
    terminal.until("working");
    terminal.types("\u{3}");
    terminal.until("cancelling the turn");
    let status = terminal.ends();
    assert!(status.code() == Some(130) || status.signal() == Some(2), "{status:?}");
    let agent = stage.record()[0].pid;
    wait_until("its agent is gone", || !is_alive(agent));
}

#[test]
fn a_conversation_goes_on_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = Script::new().store(folder.path()).on("session/load", []).on_prompt([remember()]);
    let stage = Stage::new(script).with_stored();
    let mut terminal = Terminal::run(&stage.machine.command(&["attach", STORED]), 24, 60);
    terminal.until("lets it go\n>");
    terminal.types("first\r");
    terminal.until("> first\nfirst\n>");
    terminal.types("second\r");
    terminal.until("> second\nfirst\nsecond\n>");
    terminal.types("\u{4}");
    assert_eq!(terminal.ends().code(), Some(0));
    assert!(terminal.text().trim_end().ends_with("second"), "{}", terminal.text());
}
