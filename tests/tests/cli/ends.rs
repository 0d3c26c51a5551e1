//! Output that can't be written, readers that are gone, signals: it ends in order, and takes
//! along what it started.

use rustix::process::{Pid, Signal, kill_process};
use sepia_tests::processes::{alive_in, groups_of, wait_until};
use sepia_tests::{Machine, tree};
use std::fs::{self, File};
use std::process::Stdio;

const SESSION: &str = "11111111-1111-4111-8111-000000000003";

const PRINTING: [&[&str]; 11] = [
    &["list"],
    &["list", "--json"],
    &["search", "tax"],
    &["search", "tax", "--json"],
    &["show", SESSION],
    &["show", "--json", SESSION],
    &["export", SESSION],
    &["export", "--native", SESSION],
    &["driver", "list"],
    &["doctor"],
    &["schema"],
];

#[test]
fn a_reader_that_is_gone_is_no_error() {
    let machine = Machine::with_samples();
    for arguments in PRINTING {
        let mut child = machine.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_told_in_one_sentence() {
    let machine = Machine::with_samples();
    for arguments in PRINTING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = machine.command(arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("sepia: ") && stderr.lines().count() == 1, "{arguments:?}: {stderr}");
    }
}

#[test]
fn driver_programs_end_with_the_command() {
    for misdeed in ["ignores-eof", "ignores-all", "forks-and-hangs", "hangs", "forks-in-probe"] {
        let machine = Machine::with_samples().with("SEPIA_PROCESS_TIMEOUT_MS", "500");
        machine.add_program(misdeed);
        let listed = machine.run(&["list"]).ok();
        assert_eq!(listed.lines().filter(|line| line.contains("\tclaude\t")).count(), 12, "{misdeed}");
        let groups = groups_of(&machine.drivers());
        assert!(!groups.is_empty());
        wait_until(misdeed, || alive_in(&groups).is_empty());
    }
}

#[test]
fn a_signal_ends_the_command_and_its_driver_programs() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        for (misdeed, started) in [("hangs", 2), ("hangs-in-probe", 1)] {
            let machine = Machine::with_samples();
            machine.add_program(misdeed);
            let mut child = machine.command(&["list"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            wait_until("the driver program is started", || groups_of(&machine.drivers()).len() >= started);
            kill_process(Pid::from_child(&child), signal).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(code), "{misdeed}");
            let groups = groups_of(&machine.drivers());
            wait_until(misdeed, || alive_in(&groups).is_empty());
        }
    }
}

#[test]
fn an_export_that_a_signal_ends_leaves_no_file() {
    let machine = Machine::with_samples();
    // Asked for a session that nobody else knows, it never answers.
    machine.add_program("hangs");
    let before = tree::fingerprint(&machine.place("home"));
    let arguments = ["export", "nobody-knows", "-o", "out.json"];
    let mut child = machine.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the driver program is started", || groups_of(&machine.drivers()).len() >= 2);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(tree::fingerprint(&machine.place("home")), before);
    assert!(fs::metadata(machine.place("home/out.json")).is_err());
}
