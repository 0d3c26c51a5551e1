//! Which sessions a running agent holds.

use crate::demo::Demo;
use rustix::fs::{FlockOperation, flock};
use sepia_driver_devin::Devin;
use sepia_ir::LockState;
use sepia_sdk::SessionRead;
use std::fs::File;
use std::process::{Child, Command, Stdio};

fn locks(demo: &Demo) -> Vec<LockState> {
    Devin::locks(&demo.host()).unwrap()
}

/// A process whose command line has a word in it.
fn process(word: &str) -> Child {
    Command::new("sh").args(["-c", "read line", word]).stdin(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_file_alone_is_no_lock_and_a_held_one_is() {
    let demo = Demo::sample("locked");
    assert_eq!(locks(&demo), []);
    let file = File::open(demo.root().join("session_locks/lunar-basil.lock")).unwrap();
    flock(&file, FlockOperation::LockExclusive).unwrap();
    let [held] = &locks(&demo)[..] else { panic!("one session is held") };
    assert_eq!(held.id, "lunar-basil");
    // The number in the file, unless another process has it.
    assert!(held.holder_pid.is_some_and(|pid| pid == 4242 || pid == std::process::id()));
    drop(file);
    assert_eq!(locks(&demo), []);
    let of_nobody = File::open(demo.root().join("session_locks/phantom-slug.lock")).unwrap();
    flock(&of_nobody, FlockOperation::LockExclusive).unwrap();
    assert_eq!(locks(&demo), []);
}

#[test]
fn before_the_lock_is_taken_the_process_counts() {
    let demo = Demo::new();
    demo.session("s", None);
    for (word, held) in [("devin", true), ("other", false)] {
        let mut child = process(word);
        demo.write("session_locks/s.lock", format!("{}\n", child.id()));
        // The child has a command line of its own only once it runs its program.
        while !demo.host().command_line(child.id()).is_some_and(|line| line.contains(word)) {
            std::thread::yield_now();
        }
        let expected = LockState { id: "s".into(), holder_pid: Some(child.id()) };
        assert_eq!(locks(&demo), if held { vec![expected] } else { Vec::new() });
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(locks(&demo), []);
    }
}

#[test]
fn what_names_no_process_holds_nothing() {
    let demo = Demo::new();
    demo.session("s", None);
    for content in ["", "abc", "0", "-5", "1.5", "99999999999999999999", "4242 devin", "\u{0}\u{0}"] {
        let place = demo.write("session_locks/s.lock", content);
        assert_eq!(locks(&demo), [], "{content:?}");
        let file = File::open(place).unwrap();
        flock(&file, FlockOperation::LockExclusive).unwrap();
        let held = LockState { id: "s".into(), holder_pid: Some(std::process::id()) };
        assert_eq!(locks(&demo), [held], "{content:?}");
    }
}
