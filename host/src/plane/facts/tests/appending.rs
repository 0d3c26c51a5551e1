//! What is stored, and what comes back.

use super::super::{Fact, FactLog, LogErrorKind, NewFact, Owner, Page};
use super::{all, beside, bounds, fact, facts, open, sequences, session};
use crate::plane::SystemClock;
use std::collections::HashSet;
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[tokio::test]
async fn what_was_stored_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(&folder.path().join("deep/events.db"));
    let new = NewFact {
        id: "id-1".into(),
        at: -5,
        kind: "tool_call_started".into(),
        turn: Some("t\0t".into()),
        command: Some("ü".into()),
        data: "{\"a\": [1.50, \"\u{2028}\"] }".into(),
        turn_edge: None,
    };
    let stored = log.append(&session("s"), vec![new.clone()]).await.unwrap();
    let expected = Fact {
        position: 1,
        sequence: 1,
        generation: 0,
        id: new.id,
        at: new.at,
        kind: new.kind.into_owned(),
        turn: new.turn,
        command: new.command,
        data: new.data,
    };
    assert_eq!(stored, std::slice::from_ref(&expected));
    let page = Page { facts: vec![expected.clone()], last: 1, first: 1, generation: 0 };
    assert_eq!(log.read(&session("s"), 0, 10).await.unwrap(), page);
    assert_eq!(log.read_store(0, 10).await.unwrap(), [(session("s"), expected)]);
    assert!(log.read_store(1, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn nothing_touches_the_disk_before_something_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home/events.db");
    let log = open(&path);
    assert_eq!(log.read(&session("s"), 0, 10).await.unwrap(), Page::default());
    assert!(log.read_store(0, 10).await.unwrap().is_empty());
    assert!(log.abandoned().await.unwrap().is_empty());
    assert!(log.append(&session("s"), vec![]).await.unwrap().is_empty());
    assert!(!path.parent().unwrap().exists());
    log.append(&session("s"), facts(0..1)).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for name in ["events.db", "events.db-wal", "events.db-shm", "events.db.lock"] {
        assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn pages_follow_each_other_and_tell_how_the_session_stands() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(&folder.path().join("events.db"));
    log.append(&session("s"), facts(0..5)).await.unwrap();
    log.append(&session("other"), facts(0..5)).await.unwrap();
    log.append(&session("s"), facts(5..7)).await.unwrap();
    for (after, limit, expected) in [
        (0, 3, vec![1, 2, 3]),
        (3, 3, vec![4, 5, 6]),
        (6, 3, vec![7]),
        (7, 3, vec![]),
        (0, 0, vec![]),
        (u64::MAX, 9, vec![]),
    ] {
        let page = log.read(&session("s"), after, limit).await.unwrap();
        assert_eq!(sequences(&page.facts), expected, "after {after}");
        assert_eq!((page.first, page.last), (1, 7));
    }
    let store = log.read_store(4, 4).await.unwrap();
    let places: Vec<_> = store.iter().map(|(key, fact)| (fact.position, key.id.as_str(), fact.sequence)).collect();
    assert_eq!(places, [(5, "s", 5), (6, "other", 1), (7, "other", 2), (8, "other", 3)]);
}

#[tokio::test]
async fn a_page_ends_early_where_facts_are_large_and_the_next_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(&folder.path().join("events.db"));
    let large = format!("\"{}\"", "x".repeat(6 << 20));
    log.append(&session("s"), vec![fact(&large), fact(&large), fact(&large), fact(&large)]).await.unwrap();
    assert_eq!(sequences(&log.read(&session("s"), 0, 10).await.unwrap().facts), [1, 2, 3]);
    assert_eq!(sequences(&log.read(&session("s"), 3, 10).await.unwrap().facts), [4]);
    assert_eq!(log.read_store(0, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn numbers_go_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("s"), facts(0..3)).await.unwrap();
    log.close().await.unwrap();
    let log = open(&path);
    let stored = log.append(&session("s"), facts(3..4)).await.unwrap();
    assert_eq!((stored[0].sequence, stored[0].position), (4, 4));
    assert_eq!(sequences(&all(&log, &session("s")).await.facts), [1, 2, 3, 4]);
}

#[tokio::test]
async fn each_commit_is_forced_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let place = super::super::place::Place::new(folder.path().join("events.db"));
    let database = super::super::database::open_to_write(&place, Duration::from_secs(60)).unwrap();
    let pragma =
        |name| database.connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
    assert_eq!(pragma("synchronous").unwrap(), 2.into());
    assert_eq!(pragma("journal_mode").unwrap(), "wal".to_owned().into());
    assert_eq!(pragma("auto_vacuum").unwrap(), 2.into());
}

#[tokio::test]
async fn a_fact_that_cannot_be_stored_takes_all_of_its_call_along_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("full"), facts(0..1)).await.unwrap();
    log.append(&session("s"), facts(0..1)).await.unwrap();
    // A session without room for two more numbers.
    beside(&path).execute("UPDATE sessions SET last = ?1 WHERE id = 'full'", [i64::MAX - 1]).unwrap();
    // While somebody else writes, all that is asked comes into one transaction.
    let other = beside(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (one, two) = (session("s"), session("full"));
    let mut good = Box::pin(log.append(&one, facts(1..3)));
    let mut bad = Box::pin(log.append(&two, facts(1..3)));
    let mut last = Box::pin(log.append(&one, facts(3..4)));
    let mut context = Context::from_waker(Waker::noop());
    for waiting in [&mut good, &mut bad, &mut last] {
        assert!(waiting.as_mut().poll(&mut context).is_pending());
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(sequences(&good.await.unwrap()), [2, 3]);
    assert_eq!(bad.await.unwrap_err().kind, LogErrorKind::Invalid);
    assert_eq!(sequences(&last.await.unwrap()), [4]);
    assert_eq!(sequences(&all(&log, &one).await.facts), [1, 2, 3, 4]);
    assert_eq!(sequences(&log.read(&two, 0, 10).await.unwrap().facts), [1]);
}

#[tokio::test]
async fn what_is_no_json_and_a_turn_without_a_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(&folder.path().join("events.db"));
    for data in ["", "{", "{} {}", "nul", "\u{1}"] {
        let error = log.append(&session("s"), vec![fact("1"), fact(data)]).await.unwrap_err();
        assert_eq!(error.kind, LogErrorKind::Invalid, "{data}");
        assert!(error.cause.is_some());
    }
    let mut nameless = fact("1").opening("t");
    nameless.turn = None;
    assert_eq!(log.append(&session("s"), vec![nameless]).await.unwrap_err().kind, LogErrorKind::Invalid);
    // As deep as it likes: nobody looks inside.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(sequences(&log.append(&session("s"), vec![fact(deep)]).await.unwrap()), [1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn many_at_once_get_each_number_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    // Instances share nothing but the file, as processes do.
    let logs: Vec<_> = (0..4).map(|_| Arc::new(open(&path))).collect();
    let tasks: Vec<_> = (0..8_usize)
        .map(|task| {
            let log = Arc::clone(&logs[task % 4]);
            tokio::spawn(async move {
                let mut stored = Vec::new();
                for round in 0..60_u64 {
                    let session = session(if round % 2 == 0 { "even" } else { "odd" });
                    let facts = log.append(&session, facts(0..round % 3 + 1)).await.unwrap();
                    // Those of one call follow each other.
                    assert!(facts.windows(2).all(|pair| pair[0].sequence + 1 == pair[1].sequence));
                    stored.extend(facts.into_iter().map(|fact| (session.id.clone(), fact.sequence, fact.position)));
                }
                stored
            })
        })
        .collect();
    let mut stored = Vec::new();
    for task in tasks {
        stored.extend(task.await.unwrap());
    }
    // 8 tasks, 60 rounds of 1, 2 and 3 facts in turn.
    assert_eq!(stored.len(), 8 * 20 * 6);
    let positions: HashSet<_> = stored.iter().map(|(_, _, position)| *position).collect();
    assert_eq!(positions.len(), stored.len());
    for id in ["even", "odd"] {
        let mut given: Vec<_> = stored.iter().filter(|(of, _, _)| of == id).map(|(_, sequence, _)| *sequence).collect();
        given.sort_unstable();
        assert_eq!(given, (1..=given.len() as u64).collect::<Vec<_>>());
        assert_eq!(sequences(&all(&logs[0], &session(id)).await.facts), given);
    }
}

#[tokio::test]
async fn a_reader_waits_for_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("s"), facts(0..2)).await.unwrap();
    let other = beside(&path);
    other.execute_batch("BEGIN IMMEDIATE; DELETE FROM facts").unwrap();
    assert_eq!(sequences(&all(&log, &session("s")).await.facts), [1, 2]);
}

#[tokio::test]
async fn a_writer_that_is_kept_waiting_too_long_says_so_and_writes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let bounds = super::super::Bounds { busy_wait: Duration::from_millis(20), ..bounds() };
    let log = FactLog::new(path.clone(), bounds, Owner::current().unwrap(), Arc::new(SystemClock));
    log.append(&session("s"), facts(0..1)).await.unwrap();
    let other = beside(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = log.append(&session("s"), facts(1..2)).await.unwrap_err();
    assert_eq!(error.kind, LogErrorKind::Busy);
    assert!(error.message.contains("events.db for 20 ms"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(sequences(&log.append(&session("s"), facts(1..2)).await.unwrap()), [2]);
}

#[tokio::test]
async fn what_was_handed_over_is_stored_though_the_log_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("s"), facts(0..1)).await.unwrap();
    let other = beside(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let one = session("s");
    for number in 1..100 {
        // Given up while it waits.
        let mut waiting = Box::pin(log.append(&one, facts(number..number + 1)));
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let thread = log.writer.into_thread().unwrap();
    other.execute_batch("ROLLBACK").unwrap();
    thread.join().unwrap();
    assert_eq!(all(&open(&path), &one).await.facts.len(), 100);
}

#[tokio::test]
async fn closing_writes_what_waits_and_ends_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("s"), facts(0..1)).await.unwrap();
    let other = beside(&path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let one = session("s");
    let mut waiting = Box::pin(log.append(&one, facts(1..2)));
    let mut closing = Box::pin(log.close());
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(closing.as_mut().poll(&mut context).is_pending());
    other.execute_batch("ROLLBACK").unwrap();
    closing.await.unwrap();
    assert!(matches!(waiting.as_mut().poll(&mut context), Poll::Ready(Ok(_))));
    assert_eq!(log.append(&one, facts(2..3)).await.unwrap_err().kind, LogErrorKind::Closed);
    assert_eq!(log.read(&one, 0, 9).await.unwrap_err().kind, LogErrorKind::Closed);
    log.close().await.unwrap();
    assert_eq!(sequences(&all(&open(&path), &one).await.facts), [1, 2]);
}
