//! A full disk or a dying process at every step: the old state or the new one is there, nothing between.

use crate::demo::{Demo, S1, S2, base};
use crate::written::{NEW, REPLACE, by_id, calls, chain, host, result, says, services, session};
use sepia_conformance::{Fault, InProcess, at_every_step};
use sepia_driver_claude::Claude;
use sepia_ir::{DriverError, Role, SaveOptions, Session, ToolCallStatus};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Host, SessionWrite, WritingServices};
use sepia_services::TrashEntry;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

struct Store {
    demo: Demo,
    trash: tempfile::TempDir,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

fn with_a_session() -> Store {
    let demo = Demo::new();
    demo.session(S1, &base(2));
    demo.session(S2, &base(1));
    let before = demo.bytes();
    Store { demo, trash: tempfile::tempdir().unwrap(), before }
}

fn writable(store: &Store) -> (Native, Box<dyn WritingServices>) {
    let (reading, writing) = services(store.demo.root(), trash(store, "entry"));
    (reading, Box::new(writing))
}

fn trash(store: &Store, name: &str) -> Arc<TrashEntry> {
    Arc::new(TrashEntry::new(store.trash.path().join(name)))
}

fn new_session(id: &str) -> Session {
    let nodes = vec![
        says(Role::User, "a"),
        calls("b", &[("c", "Bash", "{}")]),
        result("c", "Bash", &"long ".repeat(300_000), ToolCallStatus::Success),
        result("d", "Bash", &"long ".repeat(300_000), ToolCallStatus::Success),
        says(Role::Assistant, "end"),
    ];
    Session { id: id.into(), ..session(chain(nodes)) }
}

/// What is there, without unseen files.
fn seen(store: &Store) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut bytes = store.demo.bytes();
    bytes.retain(|path, _| !path.file_name().unwrap().to_str().unwrap().starts_with(".sepia-"));
    bytes
}

fn save(host: &Host, id: &str, options: &SaveOptions) -> Result<(), DriverError> {
    InProcess::<Claude>::on(host.clone()).save(&new_session(id), options).map(drop)
}

#[test]
fn a_new_session_is_there_whole_or_not_at_all() {
    let id = "33333333-3333-4333-8333-333333333333";
    let steps = at_every_step(
        with_a_session,
        writable,
        |host| save(host, id, &NEW),
        |store, fault, outcome| {
            let mut now = seen(store);
            let new = now.remove(&store.demo.root().join(format!("projects/-p-demo/{id}.jsonl")));
            assert_eq!(now, store.before);
            match fault {
                None => outcome.unwrap(),
                Some(_) => drop(outcome.unwrap_err()),
            }
            match new {
                Some(_) => {
                    assert!(matches!(fault, None | Some(Fault::DiesAfter)));
                    assert_eq!(store.demo.read(id).nodes.len(), 5);
                }
                None => assert!(fault.is_some()),
            }
        },
    );
    assert!(steps >= 4, "it is written in pieces: {steps}");
}

#[test]
fn a_replaced_session_is_the_old_one_or_the_new_one() {
    at_every_step(
        with_a_session,
        writable,
        |host| save(host, S1, &REPLACE),
        |store, fault, outcome| {
            let path = store.demo.root().join(format!("projects/-p-demo/{S1}.jsonl"));
            let mut now = seen(store);
            let content = now.remove(&path).expect("the session is there");
            let mut before = store.before.clone();
            let old = before.remove(&path).unwrap();
            assert_eq!(now, before);
            if fault.is_none() {
                outcome.unwrap();
            }
            if content != old {
                assert!(matches!(fault, None | Some(Fault::DiesAfter)), "{fault:?}");
                assert_eq!(store.demo.read(S1).nodes.len(), 5);
            }
        },
    );
}

#[test]
fn a_moved_session_is_never_gone() {
    at_every_step(
        with_a_session,
        writable,
        |host| {
            let moved = Session { working_directory: "/p/other".into(), ..new_session(S1) };
            InProcess::<Claude>::on(host.clone()).save(&moved, &REPLACE).map(drop)
        },
        |store, fault, outcome| {
            let nodes = store.demo.read(S1).nodes.len();
            assert!(nodes == 4 || nodes == 5, "{nodes}");
            if fault.is_none() {
                outcome.unwrap();
                assert_eq!(nodes, 5);
            }
        },
    );
}

#[test]
fn a_title_is_there_or_not() {
    at_every_step(
        with_a_session,
        writable,
        |host| Claude::rename(host, &by_id(S1), "Other"),
        |store, fault, outcome| {
            let title = store.demo.read(S1).title;
            assert!(title == "prompt m1" || title == "Other");
            assert_eq!(outcome.is_ok(), fault.is_none());
            if fault.is_none() {
                assert_eq!(title, "Other");
            }
        },
    );
}

#[test]
fn a_session_is_listed_until_all_else_is_gone() {
    let store = || {
        let store = with_a_session();
        store.demo.write(&format!("projects/-p-demo/{S1}/tool-results/1.txt"), "x");
        store.demo.write(&format!("tasks/{S1}/1.json"), "{}");
        store.demo.write("history.jsonl", format!("{{\"sessionId\":\"{S1}\"}}\n{{\"sessionId\":\"x\"}}\n"));
        store
    };
    at_every_step(
        store,
        writable,
        |host| Claude::delete(host, &by_id(S1)).map(drop),
        |store, fault, _| {
            let there = store.demo.root().join(format!("projects/-p-demo/{S1}.jsonl")).exists();
            let rest = [format!("projects/-p-demo/{S1}"), format!("tasks/{S1}")];
            let left = rest.iter().filter(|path| store.demo.root().join(path).exists()).count();
            assert!(there || left == 0, "{fault:?}");
            assert!(store.demo.root().join(format!("projects/-p-demo/{S2}.jsonl")).exists());
            // What is left can be deleted.
            if there {
                Claude::delete(&host(store.demo.root(), trash(store, "again")), &by_id(S1)).unwrap();
                assert!(!store.demo.root().join(format!("projects/-p-demo/{S1}.jsonl")).exists());
            }
        },
    );
}
