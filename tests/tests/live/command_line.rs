//! `sepia prompt`, `attach` and `watch`, without a terminal.

use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::{error, permission, remember, text, thought, tool, wait_for_cancel};
use sepia_tests::Stage;
use sepia_tests::stage::STORED;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

#[test]
fn a_new_session_answers_on_stdout_and_does_its_work_on_stderr() {
    let script = Script::new().session_id("s-1").on_prompt([
        thought("hm"),
        text("Hello\u{1b}[2J there."),
        tool("t", "Read a", "x"),
        text("Done.\n"),
    ]);
    let stage = Stage::new(script);
    let cwd = stage.cwd();
    let ran = stage.machine.run(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "hello"]);
    assert_eq!(ran.stdout, "Hello there.\nDone.\n");
    assert!(ran.stderr.contains("new session s-1") && ran.stderr.contains("✓ Read a"), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(0));
}

#[test]
fn a_stored_session_goes_on_by_the_beginning_of_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let stage =
        Stage::new(Script::new().store(folder.path()).on("session/load", []).on_prompt([remember()])).with_stored();
    let ran = stage.machine.run(&["prompt", STORED, "hello"]);
    assert_eq!(ran.ok(), "hello\n");
}

#[test]
fn what_fails_says_so_and_exits_with_1() {
    let stage = Stage::new(Script::new().on_prompt([error(-32603, "no credit left")]));
    let cwd = stage.cwd();
    let ran = stage.machine.run(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "hello"]);
    assert_eq!((ran.code(), ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("no credit left"), "{}", ran.stderr);
    let wrong = stage.machine.run(&["prompt", "hello"]);
    assert!(wrong.code() != 0 && wrong.stderr.contains("--new"), "{}", wrong.stderr);
    let unknown = stage.machine.run(&["prompt", "nobody", "hello"]);
    assert_eq!(unknown.code(), 3);
}

#[test]
fn permissions_are_refused_unless_they_are_allowed() {
    let ask = permission("t", "Write a")
        .options([("ok", "allow_once"), ("no", "reject_once")])
        .when_selected("ok", [text("allowed")])
        .when_selected("no", [text("refused")]);
    let stage = Stage::new(Script::new().on_prompt([ask.step()]));
    let cwd = stage.cwd();
    let run = |flag: &[&str]| {
        let arguments = [&["prompt", "--new", "--agent", "claude", "--cwd", &cwd], flag, &["go"]].concat();
        stage.machine.run(&arguments).ok()
    };
    assert_eq!(run(&[]), "refused\n");
    assert_eq!(run(&["--deny"]), "refused\n");
    assert_eq!(run(&["--allow"]), "allowed\n");
}

#[test]
fn json_is_a_line_an_event() {
    let stage = Stage::new(Script::new().on_prompt([text("a")]));
    let cwd = stage.cwd();
    let out = stage.machine.run(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "--json", "go"]).ok();
    let kinds: Vec<String> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["runStarted", "textMessageStart", "textMessageContent", "textMessageEnd", "runFinished"]);
}

#[test]
fn an_interrupt_cancels_the_turn() {
    let stage = Stage::new(Script::new().on_prompt([text("working"), wait_for_cancel()]));
    let cwd = stage.cwd();
    let mut command = stage.machine.command(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "go"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 7];
    std::io::Read::read_exact(&mut out, &mut first).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(sepia_scripted_agent::received(&stage.record(), "session/cancel").len(), 1);
}

#[test]
fn attach_takes_prompts_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let stage =
        Stage::new(Script::new().store(folder.path()).on("session/load", []).on_prompt([remember()])).with_stored();
    let mut command = stage.machine.command(&["attach", STORED]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(input, "one").unwrap();
    assert_eq!(output.next().unwrap().unwrap(), "one");
    writeln!(input, "\ntwo").unwrap();
    assert_eq!(output.next().unwrap().unwrap(), "one");
    assert_eq!(output.next().unwrap().unwrap(), "two");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn watch_tells_what_happens_in_another_process() {
    let stage = Stage::new(Script::new().session_id("s-1").on_prompt([text("answer")]));
    let cwd = stage.cwd();
    stage.machine.run(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "first"]).ok();
    let mut command = stage.machine.command(&["watch", "--since", "1d", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut facts = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let turn = |facts: &mut dyn Iterator<Item = Value>| {
        let mut kinds = Vec::new();
        while kinds.last().is_none_or(|kind| kind != "runFinished") {
            let fact = facts.next().unwrap();
            assert_eq!(fact["sessionId"], "s-1");
            kinds.push(fact["type"].as_str().unwrap().to_owned());
        }
        kinds
    };
    let expected = ["inputMessage", "runStarted", "messageComplete", "runFinished"];
    assert_eq!(turn(&mut facts), expected);
    stage.machine.run(&["prompt", "--new", "--agent", "claude", "--cwd", &cwd, "second"]).ok();
    assert_eq!(turn(&mut facts), expected);
    child.kill().unwrap();
    child.wait().unwrap();
}
