//! Whatever fails at whatever step, the store shows the old state or the new one.

use crate::demo::{Demo, of};
use crate::session::{ID, foreign};
use crate::store::{REPLACE, SAVE, save, services};
use sepia_conformance::{Fault, InProcess, at_every_step};
use sepia_driver_cursor::Cursor;
use sepia_ir::{DriverError, ErrorCode, RewindPlan, Session};
use sepia_sdk::{Checked, Host, SessionWrite};

fn write(host: &Host, session: &Session, options: &sepia_ir::SaveOptions) -> Result<(), DriverError> {
    let mut draft = Checked::<Cursor>::begin(host.clone(), Session { nodes: vec![], ..session.clone() }, options)?;
    for nodes in session.nodes.chunks(3) {
        draft.append(nodes.to_vec())?;
    }
    draft.commit().map(|_| ())
}

fn seen(demo: &Demo) -> Option<Session> {
    match InProcess::<Cursor>::on(demo.host()).read(&of(ID), 100) {
        Ok(session) => Some(session),
        Err(error) => {
            assert_eq!(error.code, ErrorCode::NotFound, "{error}");
            assert!(demo.ids().is_empty());
            None
        }
    }
}

fn other() -> Session {
    let mut other = foreign();
    other.title = "Other".into();
    other.last_activity_at += 100.0;
    other.nodes.truncate(5);
    other.nodes[4].content = "Nothing was wrong.".into();
    other.main_chain_id = 4;
    other
}

/// What a read of the finished write gives.
fn finished(old: Option<&Session>, new: &Session) -> Session {
    let demo = Demo::new();
    if let Some(old) = old {
        save(&demo, old, &SAVE).unwrap();
    }
    save(&demo, new, &REPLACE).unwrap();
    seen(&demo).unwrap()
}

/// The same session, whatever names were made up for this copy of it.
fn same(a: &Session, b: &Session) -> bool {
    sepia_conformance::equal_but_for(a, b, &[]).is_ok()
}

#[test]
fn a_new_session_is_there_whole_or_not_at_all() {
    let steps = at_every_step(
        Demo::new,
        services,
        |host| write(host, &foreign(), &SAVE),
        |demo, fault, outcome| {
            let found = seen(demo);
            match (&found, fault) {
                (Some(found), _) => assert!(same(&foreign(), found)),
                (None, Some(_)) => assert!(outcome.is_err()),
                (None, None) => panic!("nothing was written"),
            }
            // What failed can be done again.
            if found.is_none() {
                save(demo, &foreign(), &SAVE).unwrap();
                assert!(same(&foreign(), &seen(demo).unwrap()));
            }
        },
    );
    assert!(steps >= 8, "{steps}");
}

#[test]
fn a_session_that_is_replaced_is_the_old_one_or_the_new_one() {
    let fresh = || {
        let demo = Demo::new();
        save(&demo, &foreign(), &SAVE).unwrap();
        demo
    };
    at_every_step(
        fresh,
        services,
        |host| write(host, &other(), &REPLACE),
        |demo, fault, outcome| {
            let found = seen(demo).expect("it never is away");
            let (old, new) = (same(&foreign(), &found), same(&other(), &found));
            assert!(old || new, "{fault:?} {outcome:?}\n{found:#?}");
            if outcome.is_ok() {
                assert!(new);
            }
            let row = demo.row(ID);
            assert_eq!((row.title.as_str(), row.last_activity_at), (found.title.as_str(), found.last_activity_at));
            save(demo, &other(), &REPLACE).unwrap();
            assert!(same(&other(), &seen(demo).unwrap()));
        },
    );
    let _ = finished(Some(&foreign()), &other());
}

#[test]
fn a_rewind_a_rename_and_a_delete_happen_or_do_not() {
    let fresh = || {
        let demo = Demo::new();
        save(&demo, &foreign(), &SAVE).unwrap();
        demo
    };
    let plan = RewindPlan { kept: vec![1, 2, 3, 4, 5], removed: vec![6, 7], removed_tool_call_ids: vec![] };
    at_every_step(
        fresh,
        services,
        |host| {
            let header = Session { nodes: vec![], last_activity_at: foreign().nodes[4].created_at, ..foreign() };
            Cursor::rewind(host, &of(ID), &plan, header)
        },
        |demo, fault, outcome| {
            let found = seen(demo).unwrap();
            assert!([5, 7].contains(&found.nodes.len()), "{fault:?}");
            assert!(outcome.is_err() || found.nodes.len() == 5);
        },
    );
    at_every_step(
        fresh,
        services,
        |host| Cursor::rename(host, &of(ID), "Renamed"),
        |demo, fault, outcome| {
            let found = seen(demo).unwrap();
            assert!(["Renamed", "Fix the sum"].contains(&found.title.as_str()), "{fault:?}");
            assert!(outcome.is_err() || found.title == "Renamed");
            assert_eq!(found.nodes.len(), 7);
        },
    );
    at_every_step(
        fresh,
        services,
        |host| Cursor::delete(host, &of(ID)).map(|outcome| assert_eq!(outcome.removed.len() + outcome.failed.len(), 1)),
        |demo, fault, _| {
            assert_eq!(seen(demo).is_some(), fault == Some(Fault::DiesBefore), "{fault:?}");
        },
    );
}
