//! A full disk, and a process that dies, at every step of a write.

use crate::demo::{Demo, by_id};
use crate::store::{NEW, REPLACE, everything, foreign, native, native_writing};
use rusqlite::types::Value as Sql;
use sepia_conformance::{Fault, at_every_step};
use sepia_driver_devin::Devin;
use sepia_ir::{DriverError, RewindPlan, SaveOptions, Session};
use sepia_sdk::subprocess::Native;
use sepia_sdk::{Checked, Host, SessionWrite, WritingServices};
use std::path::Path;

struct Store {
    demo: Demo,
    before: Vec<(String, Vec<Vec<Sql>>)>,
}

fn fresh() -> Store {
    let demo = Demo::sample("tools");
    demo.write("transcripts/brisk-lantern.json", "{}");
    let before = everything(&demo);
    Store { demo, before }
}

fn services(store: &Store) -> (Native, Box<dyn WritingServices>) {
    (native(&store.demo), Box::new(native_writing(&store.demo, Some(&store.demo.root().join("trash")))))
}

fn old_or(store: &Store, fault: Option<Fault>, outcome: &Result<(), DriverError>, is_new: impl Fn() -> bool) {
    let after = everything(&store.demo);
    let old = after == store.before;
    match (fault, outcome) {
        (_, Ok(())) => assert!(is_new(), "{fault:?}"),
        (Some(Fault::DiesAfter), Err(_)) => assert!(old || is_new(), "{fault:?}"),
        (_, Err(_)) => assert!(old, "{fault:?}: {outcome:?}"),
    }
}

fn save(host: &Host, mut session: Session, options: &SaveOptions) -> Result<(), DriverError> {
    let nodes = std::mem::take(&mut session.nodes);
    let mut draft = Checked::<Devin>::begin(host.clone(), session, options)?;
    for node in nodes {
        draft.append(vec![node])?;
    }
    draft.commit().map(drop)
}

#[test]
fn saving_shows_nothing_or_the_whole_session() {
    let session = || Session { id: "new-one".into(), ..foreign() };
    let steps = at_every_step(
        fresh,
        services,
        |host| save(host, session(), &NEW),
        |store, fault, outcome| {
            let read = || store.demo.try_read(&by_id("new-one"));
            old_or(store, fault, &outcome, || read().is_ok_and(|read| read.nodes == session().nodes));
        },
    );
    assert!(steps > 8, "{steps}");
}

#[test]
fn replacing_shows_the_old_session_or_the_new_one() {
    let session = || Session { id: "brisk-lantern".into(), ..foreign() };
    at_every_step(
        fresh,
        services,
        |host| save(host, session(), &REPLACE),
        |store, fault, outcome| {
            let read = || store.demo.try_read(&by_id("brisk-lantern"));
            old_or(store, fault, &outcome, || read().is_ok_and(|read| read.nodes == session().nodes));
        },
    );
}

#[test]
fn a_session_is_there_or_it_is_deleted() {
    at_every_step(
        fresh,
        services,
        |host| {
            let outcome = Devin::delete(host, &by_id("brisk-lantern"))?;
            let failed = outcome.failed.first().map(|(artifact, reason)| format!("{}: {reason}", artifact.place));
            failed.map_or(Ok(()), |what| Err(DriverError::new(sepia_ir::ErrorCode::Store, what)))
        },
        |store, fault, outcome| {
            let gone = || store.demo.try_read(&by_id("brisk-lantern")).is_err();
            let transcript = store.demo.root().join("transcripts/brisk-lantern.json").exists();
            let kept = Path::new(&store.demo.root().join("trash")).exists();
            // A file is at its place or in the trash.
            assert!(transcript || kept);
            if outcome.is_ok() {
                assert!(gone() && !transcript, "{fault:?}");
            } else {
                let rows = everything(&store.demo);
                assert!(
                    rows == store.before
                        || rows
                            .iter()
                            .all(|(_, rows)| rows.iter().all(|row| !row.contains(&Sql::Text("brisk-lantern".into()))))
                );
            }
        },
    );
}

#[test]
fn renaming_and_rewinding_happen_or_not() {
    at_every_step(
        fresh,
        services,
        |host| Devin::rename(host, &by_id("brisk-lantern"), "Renamed"),
        |store, fault, outcome| old_or(store, fault, &outcome, || store.demo.row("brisk-lantern").title == "Renamed"),
    );
    let plan = RewindPlan { kept: vec![1, 2], removed: (3..10).collect(), removed_tool_call_ids: vec![] };
    let header = Session { main_chain_id: 2, last_activity_at: 1_790_001_001.0, ..foreign() };
    at_every_step(
        fresh,
        services,
        |host| Devin::rewind(host, &by_id("brisk-lantern"), &plan, Session { nodes: vec![], ..header.clone() }),
        |store, fault, outcome| old_or(store, fault, &outcome, || store.demo.live("brisk-lantern") == [1, 2]),
    );
}

#[test]
fn what_was_deleted_comes_back_whole_or_not_at_all() {
    let undo = || {
        let store = fresh();
        let outcome = Devin::delete(
            &Host::new(native(&store.demo))
                .and_writing(native_writing(&store.demo, Some(&store.demo.root().join("trash")))),
            &by_id("brisk-lantern"),
        )
        .unwrap();
        let before = everything(&store.demo);
        (Store { before, ..store }, outcome.undo)
    };
    let whole = fresh().before;
    let bytes = undo().1;
    at_every_step(
        || undo().0,
        services,
        |host| Devin::undelete(host, &bytes),
        |store, fault, outcome| old_or(store, fault, &outcome, || everything(&store.demo) == whole),
    );
}
