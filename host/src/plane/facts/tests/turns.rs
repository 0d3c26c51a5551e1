//! Generations, forgetting, and turns that nobody closes.

use super::super::{FactLog, NewFact, Owner};
use super::{all, bounds, fact, facts, open, sequences, session};
use crate::plane::SystemClock;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

fn closing(_: &super::super::SessionKey, _: &str) -> NewFact {
    NewFact::new("run_finished", "{\"outcome\":\"lost\"}")
}

/// A log of a process that has this number and was started once.
fn open_as(path: &Path, owner: Owner) -> FactLog {
    FactLog::new(path.to_owned(), bounds(), owner, Arc::new(SystemClock))
}

/// A process that has ended.
fn dead() -> Owner {
    Owner { started: 1, ..Owner::current().unwrap() }
}

#[tokio::test]
async fn a_raised_generation_holds_for_what_comes() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(&folder.path().join("events.db"));
    log.append(&session("s"), facts(0..2)).await.unwrap();
    assert_eq!(log.raise_generation(&session("s")).await.unwrap(), 1);
    assert_eq!(log.raise_generation(&session("s")).await.unwrap(), 2);
    let stored = log.append(&session("s"), facts(2..3)).await.unwrap();
    assert_eq!((stored[0].sequence, stored[0].generation), (3, 2));
    let page = log.read(&session("s"), 0, 9).await.unwrap();
    assert_eq!(page.facts.iter().map(|fact| fact.generation).collect::<Vec<_>>(), [0, 0, 2]);
    assert_eq!((page.first, page.last, page.generation), (1, 3, 2));
    // Of a session without facts, too.
    assert_eq!(log.raise_generation(&session("new")).await.unwrap(), 1);
    let page = log.read(&session("new"), 0, 9).await.unwrap();
    assert_eq!((page.first, page.last, page.generation), (0, 0, 1));
}

#[tokio::test]
async fn a_generation_that_cannot_grow_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("s"), facts(0..1)).await.unwrap();
    super::beside(&path).execute("UPDATE sessions SET generation = ?1", [u32::MAX]).unwrap();
    log.raise_generation(&session("s")).await.unwrap_err();
    assert_eq!(log.read(&session("s"), 0, 9).await.unwrap().generation, u32::MAX);
}

#[tokio::test]
async fn a_forgotten_session_has_no_facts_and_its_numbers_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    // More than one step takes.
    log.append(&session("s"), facts(0..10_000)).await.unwrap();
    log.append(&session("other"), facts(0..2)).await.unwrap();
    log.append(&session("s"), vec![fact(1).opening("t")]).await.unwrap();
    log.forget(&session("s")).await.unwrap();
    let page = log.read(&session("s"), 0, 9).await.unwrap();
    assert_eq!((page.facts.len(), page.first, page.last, page.generation), (0, 0, 10_001, 1));
    assert!(page.misses(10_000));
    assert_eq!(log.read_store(0, 9).await.unwrap().len(), 2);
    let stored = log.append(&session("s"), facts(0..1)).await.unwrap();
    assert_eq!((stored[0].sequence, stored[0].generation, stored[0].position), (10_002, 1, 10_004));
    let turns: i64 = super::beside(&path).query_row("SELECT count(*) FROM open_turns", [], |row| row.get(0)).unwrap();
    assert_eq!(turns, 0);
    // One that never was stays unknown.
    log.forget(&session("never")).await.unwrap();
    assert_eq!(log.read(&session("never"), 0, 9).await.unwrap().generation, 0);
}

#[tokio::test]
async fn an_abandoned_turn_is_closed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let lost = open_as(&path, dead());
    lost.append(&session("s"), vec![fact(1).opening("open"), fact(2).in_turn("open")]).await.unwrap();
    lost.append(&session("s"), vec![fact(3).opening("closed"), fact(4).closing("closed")]).await.unwrap();
    lost.append(&session("other"), vec![fact(5).opening("open")]).await.unwrap();

    // Both see the turns before one of them closes any.
    let (one, two) = (open(&path), open(&path));
    let open_turns = one.abandoned().await.unwrap();
    let found: Vec<_> = open_turns.iter().map(|turn| (turn.session.id.as_str(), turn.turn.as_str())).collect();
    assert_eq!(found, [("s", "open"), ("other", "open")]);
    assert_eq!(open_turns[0].owner, dead());
    let (by_one, by_two) = tokio::join!(one.close_abandoned(closing), two.close_abandoned(closing));
    let mut closed: Vec<_> = by_one.unwrap().into_iter().chain(by_two.unwrap()).collect();
    closed.sort_by(|a, b| b.0.cmp(&a.0));
    let closed: Vec<_> = closed
        .iter()
        .map(|(key, fact)| (key.id.as_str(), fact.turn.as_deref().unwrap(), fact.kind.as_str(), fact.sequence))
        .collect();
    assert_eq!(closed, [("s", "open", "run_finished", 5), ("other", "open", "run_finished", 2)]);
    assert!(one.abandoned().await.unwrap().is_empty());
    assert!(two.close_abandoned(closing).await.unwrap().is_empty());
    assert_eq!(sequences(&all(&one, &session("s")).await.facts), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_turn_that_is_opened_anew_in_the_meantime_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    open_as(&path, dead()).append(&session("s"), vec![fact(1).opening("t")]).await.unwrap();
    let (log, other) = (open(&path), open(&path));
    let turns = log.abandoned().await.unwrap();
    assert_eq!(turns.len(), 1);
    other.append(&session("s"), vec![fact(2).opening("t")]).await.unwrap();
    let job = turns.into_iter().map(|turn| (turn, (session("s"), vec![fact(3).closing("t")]))).collect::<Vec<_>>();
    let (_, closed) = log.write(job, (1, 1), super::super::storing::close_turns).await.unwrap();
    assert_eq!(closed, [None]);
    assert_eq!(sequences(&all(&log, &session("s")).await.facts), [1, 2]);
}

#[tokio::test]
async fn turns_of_a_process_that_lives_are_left_alone_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    let other = open_as(&path, Owner { pid: child.id(), started });
    other.append(&session("s"), vec![fact(1).opening("theirs")]).await.unwrap();
    let log = open(&path);
    log.append(&session("s"), vec![fact(2).opening("ours")]).await.unwrap();
    // The number of the living process, of an earlier start.
    let reused = open_as(&path, Owner { pid: child.id(), started: started - 1 });
    reused.append(&session("s"), vec![fact(3).opening("reused")]).await.unwrap();

    let closed = log.close_abandoned(closing).await.unwrap();
    assert_eq!(closed.iter().map(|(_, fact)| fact.turn.as_deref()).collect::<Vec<_>>(), [Some("reused")]);
    drop(child.stdin.take());
    child.wait().unwrap();
    let closed = log.close_abandoned(closing).await.unwrap();
    assert_eq!(closed.iter().map(|(_, fact)| fact.turn.as_deref()).collect::<Vec<_>>(), [Some("theirs")]);
}

#[tokio::test]
async fn any_process_may_close_a_turn_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    open_as(&path, dead()).append(&session("s"), vec![fact(1).opening("t")]).await.unwrap();
    let log = open(&path);
    log.append(&session("other"), vec![fact(2).closing("t")]).await.unwrap();
    assert_eq!(log.abandoned().await.unwrap().len(), 1);
    log.append(&session("s"), vec![fact(2).closing("t"), fact(3).closing("never opened")]).await.unwrap();
    assert!(log.abandoned().await.unwrap().is_empty());
}
