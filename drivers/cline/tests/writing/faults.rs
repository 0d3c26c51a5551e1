//! Every step of a write fails as on a full disk, or the process dies at it: the store shows the
//! old state or the new one.

use crate::rewind::cut;
use crate::stand::{REPLACE, Stand, WRITE, by_id, foreign};
use sepia_conformance::{Fault, InProcess, at_every_step};
use sepia_driver_cline::Cline;
use sepia_ir::{DriverError, Session};
use sepia_sdk::{Host, SessionWrite};

/// What a store shows of a session: its nodes and what a list says.
fn shown(stand: &Stand, id: &str) -> Option<(String, f64, Vec<sepia_ir::MessageNode>)> {
    stand.try_read(id).ok().map(|session| (session.title, session.last_activity_at, session.nodes))
}

/// Holds that after each fault the store shows one of the two states, and no more after the write failed
/// than before.
fn old_or_new(fresh: impl Fn() -> Stand, id: &str, write: impl Fn(&Host) -> Result<(), DriverError>) -> u64 {
    let stand = fresh();
    let old = (shown(&stand, id), stand.ids());
    write(&stand.host()).unwrap();
    let new = (shown(&stand, id), stand.ids());
    assert_ne!(old, new, "the write does something");
    at_every_step(fresh, Stand::halves, write, |stand, fault, outcome| {
        let state = (shown(stand, id), stand.ids());
        match (fault, &outcome) {
            (None, _) => {
                outcome.unwrap();
                assert_eq!(state, new);
            }
            (Some(Fault::Full), Err(_)) => assert!(state == old || state == new, "{outcome:?}"),
            (Some(_), Ok(())) => assert_eq!(state, new),
            (Some(_), Err(_)) => assert!(state == old || state == new, "{fault:?} {outcome:?}"),
        }
        // The laws take long on a large store; what is wrong there shows in the state.
        if stand.ids().len() < 3 {
            stand.holds_the_laws();
        }
    })
}

fn save(host: &Host, session: &Session, replace: bool) -> Result<(), DriverError> {
    let options = if replace { REPLACE } else { WRITE };
    InProcess::<Cline>::on(host.clone()).save(session, &options).map(drop)
}

const ID: &str = "1767225600000_aaaaa";

fn session() -> Session {
    Session { id: ID.into(), ..foreign() }
}

#[test]
fn a_save_is_there_whole_or_not_at_all() {
    let steps = old_or_new(Stand::new, ID, |host| save(host, &session(), false));
    assert!(steps >= 4, "{steps}");
}

#[test]
fn a_failed_save_on_a_full_disk_leaves_nothing() {
    at_every_step(
        Stand::new,
        Stand::halves,
        |host| save(host, &session(), false),
        |stand, fault, outcome| {
            if fault == Some(Fault::Full) && outcome.is_err() {
                assert_eq!(stand.files(ID), Vec::<String>::new());
            }
        },
    );
}

#[test]
fn a_save_can_be_repeated_after_any_fault() {
    at_every_step(
        Stand::new,
        Stand::halves,
        |host| save(host, &session(), false),
        |stand, _, _| {
            stand.save(&session(), &REPLACE).unwrap();
            assert_eq!(stand.read(ID).nodes.len(), 5);
        },
    );
}

#[test]
fn a_replaced_session_is_the_old_one_or_the_new_one() {
    let there = || {
        let stand = Stand::new();
        let mut old = session();
        old.title = "Old".into();
        old.nodes.truncate(1);
        old.main_chain_id = 1;
        stand.save(&old, &WRITE).unwrap();
        stand
    };
    old_or_new(there, ID, |host| save(host, &session(), true));
}

#[test]
fn a_session_of_the_agents_own_is_replaced_with_its_row() {
    let id = "1796033869111_nx4n4";
    let new = Session { id: id.into(), ..foreign() };
    old_or_new(|| Stand::sample("store"), id, |host| save(host, &new, true));
    let stand = Stand::sample("store");
    stand.save(&new, &REPLACE).unwrap();
    let path: String = stand
        .database()
        .query_row("SELECT messages_path FROM sessions WHERE session_id = ?", [id], |row| row.get(0))
        .unwrap();
    assert_eq!(stand.manifest(id)["messages_path"], path);
}

#[test]
fn a_title_is_the_old_one_or_the_new_one() {
    let id = "1796033899098_ixt7m";
    old_or_new(|| Stand::sample("store"), id, |host| Cline::rename(host, &by_id(id), "Another"));
}

#[test]
fn a_cut_session_is_the_old_one_or_the_new_one() {
    let id = "1796033869111_nx4n4";
    let whole = Stand::sample("store");
    old_or_new(|| Stand::sample("store"), id, |host| cut(&whole, host, id, 5));
}

#[test]
fn a_deleted_session_is_there_or_gone() {
    let id = "1796033899098_ixt7m";
    let gone = |host: &Host| {
        let outcome = Cline::delete(host, &by_id(id))?;
        match outcome.failed.into_iter().next() {
            None => Ok(()),
            Some((artifact, reason)) => {
                Err(DriverError::new(sepia_ir::ErrorCode::Store, format!("{}: {reason}", artifact.place)))
            }
        }
    };
    old_or_new(|| Stand::sample("store"), id, gone);
}
