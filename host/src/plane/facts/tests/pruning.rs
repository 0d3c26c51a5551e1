//! What pruning takes, and what it leaves.

use super::super::{Bounds, FactLog, NewFact, Owner};
use super::{all, beside, bounds, fact, sequences, session};
use crate::plane::clock::{Clock, SystemClock};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const DAY: i64 = 24 * 60 * 60 * 1_000;

fn open_with(path: &Path, age: Duration, bytes: u64) -> FactLog {
    FactLog::new(path.to_owned(), Bounds { age, bytes, ..bounds() }, Owner::current().unwrap(), Arc::new(SystemClock))
}

/// A clock that stands still, in 2100.
#[derive(Debug)]
struct Held;

impl Clock for Held {
    fn now_ms(&self) -> i64 {
        4_102_444_800_000
    }
}

fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn of(days_ago: i64) -> NewFact {
    NewFact { at: now() - days_ago * DAY, ..fact(days_ago) }
}

/// Stores until this holds: pruning comes after what triggers it.
async fn until(log: &FactLog, mut done: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !done().await {
        assert!(start.elapsed() < Duration::from_secs(60), "pruning does not come to an end");
        log.append(&session("ticks"), vec![fact(0)]).await.unwrap();
    }
}

#[tokio::test]
async fn facts_that_are_too_old_go_and_the_rest_stays_dense() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let long = open_with(&path, Duration::from_hours(24 * 365), 1 << 30);
    long.append(&session("old"), vec![of(20), of(19)]).await.unwrap();
    // One of the future is in front of some that are too old, and one behind.
    long.append(&session("s"), vec![of(18), of(-30), of(17), of(3), of(-30), of(2)]).await.unwrap();
    long.append(&session("old"), vec![of(1)]).await.unwrap();
    long.append(&session("gone"), vec![of(16)]).await.unwrap();
    long.close().await.unwrap();

    let log = open_with(&path, Duration::from_hours(24 * 10), 1 << 30);
    until(&log, async || log.read(&session("s"), 0, 9).await.unwrap().first == 4).await;
    let page = all(&log, &session("s")).await;
    assert_eq!(sequences(&page.facts), [4, 5, 6]);
    assert_eq!((page.first, page.last), (4, 6));
    assert!(page.misses(2) && !page.misses(3));
    let page = all(&log, &session("old")).await;
    assert_eq!((sequences(&page.facts), page.first, page.last), (vec![3], 3, 3));
    // Behind one that is kept: only the old end is pruned.
    assert_eq!(sequences(&all(&log, &session("gone")).await.facts), [1]);
    // Numbers go on, also where nothing is left.
    let stored = log.append(&session("old"), vec![fact(1)]).await.unwrap();
    assert_eq!(stored[0].sequence, 4);
}

#[tokio::test]
async fn the_clock_tells_how_old_a_fact_is() {
    let folder = tempfile::tempdir().unwrap();
    let bounds = Bounds { age: Duration::from_hours(24 * 365), ..bounds() };
    let log = FactLog::new(folder.path().join("events.db"), bounds, Owner::current().unwrap(), Arc::new(Held));
    log.append(&session("s"), vec![of(0), NewFact { at: Held.now_ms() - DAY, ..fact(1) }]).await.unwrap();
    until(&log, async || log.read(&session("s"), 0, 9).await.unwrap().first == 2).await;
    assert_eq!(sequences(&all(&log, &session("s")).await.facts), [2]);
}

#[tokio::test]
async fn positions_are_not_used_again_though_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let long = open_with(&path, Duration::from_hours(24 * 365), 1 << 30);
    let last = long.append(&session("s"), (0..1_000).map(|_| of(20)).collect()).await.unwrap().pop().unwrap();
    assert_eq!(last.position, 1_000);
    long.close().await.unwrap();
    let log = open_with(&path, Duration::from_hours(24 * 10), 1 << 30);
    log.raise_generation(&session("s")).await.unwrap();
    until(&log, async || log.read(&session("s"), 0, 9).await.unwrap().first == 0).await;
    let page = log.read(&session("s"), 0, 9).await.unwrap();
    assert_eq!((page.last, page.first, page.generation), (1_000, 0, 1));
    assert!(page.misses(999) && !page.misses(1_000));
    beside(&path).execute("DELETE FROM facts", []).unwrap();
    let stored = log.append(&session("s"), vec![fact(1)]).await.unwrap();
    assert!(stored[0].position > 1_000);
    assert_eq!(stored[0].sequence, 1_001);
}

#[tokio::test]
async fn a_log_that_is_too_large_loses_its_old_end_and_shrinks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let text = format!("\"{}\"", "x".repeat(2_000));
    let large = open_with(&path, Duration::MAX, 1 << 30);
    for number in 0..20 {
        let session = session(if number % 2 == 0 { "even" } else { "odd" });
        large.append(&session, (0..200).map(|_| fact(&text)).collect()).await.unwrap();
    }
    large.close().await.unwrap();
    let size = || std::fs::metadata(&path).unwrap().len();
    // 4,000 facts of 2,000 bytes.
    assert!(size() > 8_000_000, "{}", size());

    let (one, two) = (open_with(&path, Duration::MAX, 1 << 20), open_with(&path, Duration::MAX, 1 << 20));
    two.append(&session("even"), vec![fact(&text)]).await.unwrap();
    // A free share of an eighth may stay, and so does what two processes store between prunings.
    until(&one, async || size() < 1_400_000).await;
    for (id, last) in [("even", 2_001), ("odd", 2_000)] {
        let page = all(&one, &session(id)).await;
        assert_eq!(page.last, last);
        assert!(page.misses(0) && page.first > 1_500, "{}", page.first);
        assert_eq!(sequences(&page.facts), (page.first..=last).collect::<Vec<_>>());
    }
    // Not more than has to go: each fact takes one of 256 pages.
    let kept = one.read_store(0, 10_000).await.unwrap().iter().filter(|(key, _)| *key != session("ticks")).count();
    assert!(kept > 150, "{kept}");
}

#[tokio::test]
async fn pages_have_no_hole_while_pruning_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let text = format!("\"{}\"", "x".repeat(1_000));
    let log = open_with(&path, Duration::MAX, 256 << 10);
    let mut pruned = 0;
    for _ in 0..200 {
        log.append(&session("s"), (0..20).map(|_| fact(&text)).collect()).await.unwrap();
        let page = log.read(&session("s"), 0, 10_000).await.unwrap();
        assert_eq!(sequences(&page.facts), (page.first..=page.last).collect::<Vec<_>>());
        pruned = pruned.max(page.first);
    }
    assert!(pruned > 1_000, "{pruned}");
}

#[tokio::test]
async fn nobody_waits_long_for_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let place = super::super::place::Place::new(folder.path().join("events.db"));
    let large = open_with(place.path(), Duration::MAX, 1 << 40);
    large.append(&session("s"), (0..20_000).map(|_| of(20)).collect()).await.unwrap();
    large.close().await.unwrap();
    let database = super::super::database::open_to_write(&place, Duration::from_secs(60)).unwrap();
    let mut pruning = super::super::pruning::Pruning::new(&Bounds { age: Duration::ZERO, ..bounds() });
    let left = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT count(*) FROM facts", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let mut before = 20_000_i64;
    // However slow one was, the next takes less, and not nothing.
    for _ in 0..20 {
        pruning.took(Duration::from_secs(1));
        pruning.prune(&database.connection, now()).unwrap();
        let after = before - pruning.facts().cast_signed();
        before = left(&database.connection);
        assert_eq!(before, after);
    }
    assert_eq!(pruning.facts(), 8);
    // However fast, it takes no more than some thousand.
    (0..20).for_each(|_| pruning.took(Duration::ZERO));
    assert_eq!(pruning.facts(), 4_096);
}
