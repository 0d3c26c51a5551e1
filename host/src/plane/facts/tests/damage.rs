//! Files that are no log, and disks that take nothing.

use super::super::{FactLog, LogErrorKind};
use super::{all, aside, beside, facts, open, sequences, session};
use std::fs;

/// Where positions begin in a file that takes the place of another, at least.
const AFTER_A_LOSS: u64 = 1 << 50;

async fn is_new(log: &FactLog) {
    let page = all(log, &session("s")).await;
    assert_eq!(sequences(&page.facts), [1]);
    // No cursor into the lost file fits: it had generation 0, and small positions.
    assert!(page.generation > 1_000_000_000);
    assert!(page.facts[0].position > AFTER_A_LOSS && page.facts[0].position < 1 << 53);
    assert_eq!(page.facts[0].generation, page.generation);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_kept_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let text = "no database\n".repeat(1_000);
    fs::write(&path, &text).unwrap();
    fs::write(folder.path().join("events.db-wal"), "its log").unwrap();
    let log = open(&path);
    log.append(&session("s"), facts(0..1)).await.unwrap();
    is_new(&log).await;
    let aside = aside(folder.path());
    assert_eq!(aside.len(), 1);
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), text);
    let wal = format!("{}-wal", aside[0].display());
    assert_eq!(fs::read_to_string(wal).unwrap(), "its log");
}

#[tokio::test]
async fn a_reader_that_finds_one_has_it_kept_aside_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    fs::write(&path, "no database\n".repeat(1_000)).unwrap();
    let log = open(&path);
    let page = log.read(&session("s"), 0, 10).await.unwrap();
    assert_eq!((page.facts.len(), page.last), (0, 0));
    assert!(page.generation > 1_000_000_000);
    assert_eq!(aside(folder.path()).len(), 1);
}

#[tokio::test]
async fn another_database_is_kept_aside_whatever_version_it_claims() {
    for version in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.db");
        let other = beside(&path);
        other.execute_batch(&format!("CREATE TABLE facts (a); PRAGMA user_version = {version}")).unwrap();
        other.close().unwrap();
        let bytes = fs::read(&path).unwrap();
        let log = open(&path);
        log.append(&session("s"), facts(0..1)).await.unwrap();
        is_new(&log).await;
        assert_eq!(fs::read(&aside(folder.path())[0]).unwrap(), bytes, "version {version}");
    }
}

#[tokio::test]
async fn a_file_in_which_only_the_facts_are_broken_is_kept_aside_by_whoever_notices_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let first = open(&path);
    first.append(&session("s"), facts(0..500)).await.unwrap();
    first.close().await.unwrap();
    // The first pages hold the tables' names, sessions, and the roots: it opens well.
    let mut bytes = fs::read(&path).unwrap();
    bytes[10 * 4_096..].fill(0xee);
    fs::write(&path, bytes).unwrap();
    let (one, two, key) = (open(&path), open(&path), session("s"));
    let (by_one, by_two) = tokio::join!(one.append(&key, facts(0..1)), two.append(&key, facts(1..2)));
    let mut given = [by_one.unwrap()[0].sequence, by_two.unwrap()[0].sequence];
    given.sort_unstable();
    assert_eq!(given, [1, 2]);
    assert_eq!(aside(folder.path()).len(), 1);
    for log in [&one, &two] {
        assert_eq!(sequences(&all(log, &session("s")).await.facts), [1, 2]);
    }
}

#[tokio::test]
async fn a_file_that_another_process_moves_away_is_left_for_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let (one, two) = (open(&path), open(&path));
    for log in [&one, &two] {
        log.append(&session("s"), facts(0..1)).await.unwrap();
        all(log, &session("s")).await;
    }
    let place = super::super::place::Place::new(path.clone());
    let damage = super::super::database::Damage { file: place.file().unwrap().unwrap(), reason: "told so".into() };
    super::super::database::set_aside(&place, super::bounds().busy_wait, &damage).unwrap();
    // Who comes with the same news later changes nothing.
    super::super::database::set_aside(&place, super::bounds().busy_wait, &damage).unwrap();
    one.append(&session("s"), facts(0..1)).await.unwrap();
    is_new(&two).await;
    two.append(&session("s"), facts(0..1)).await.unwrap();
    // The end of the connections to the old file takes nothing of the new one along.
    drop(two);
    one.close().await.unwrap();
    assert_eq!(sequences(&all(&open(&path), &session("s")).await.facts), [1, 2]);
    let aside = aside(folder.path());
    assert_eq!(aside.len(), 1);
    let kept: i64 = beside(&aside[0]).query_row("SELECT count(*) FROM facts", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 2);
}

#[tokio::test]
async fn a_newer_file_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let newer = beside(&path);
    newer.execute_batch("CREATE TABLE better (a); PRAGMA user_version = 2").unwrap();
    newer.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    let log = open(&path);
    for error in [
        log.append(&session("s"), facts(0..1)).await.unwrap_err(),
        log.read(&session("s"), 0, 9).await.unwrap_err(),
        log.forget(&session("s")).await.unwrap_err(),
    ] {
        assert_eq!(error.kind, LogErrorKind::Newer);
        assert!(error.message.contains("schema 2"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert!(aside(folder.path()).is_empty());
}

#[tokio::test]
async fn a_file_that_becomes_newer_while_it_is_open_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    let log = open(&path);
    log.append(&session("s"), facts(0..1)).await.unwrap();
    log.read(&session("s"), 0, 9).await.unwrap();
    beside(&path).pragma_update(None, "user_version", 2).unwrap();
    assert_eq!(log.append(&session("s"), facts(1..2)).await.unwrap_err().kind, LogErrorKind::Newer);
    assert_eq!(log.read(&session("s"), 0, 9).await.unwrap_err().kind, LogErrorKind::Newer);
    beside(&path).pragma_update(None, "user_version", 1).unwrap();
    assert_eq!(sequences(&all(&log, &session("s")).await.facts), [1]);
}

#[tokio::test]
async fn a_making_that_was_broken_off_is_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.db");
    fs::write(&path, "").unwrap();
    let log = open(&path);
    assert_eq!(log.read(&session("s"), 0, 9).await.unwrap().last, 0);
    assert_eq!(log.append(&session("s"), facts(0..1)).await.unwrap()[0].position, 1);
    assert!(aside(folder.path()).is_empty());
}

#[tokio::test]
async fn the_log_works_again_when_its_place_does() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::write(&home, "in the way").unwrap();
    let log = open(&home.join("events.db"));
    let error = log.append(&session("s"), facts(0..1)).await.unwrap_err();
    assert_eq!(error.kind, LogErrorKind::Denied);
    assert!(error.message.contains("home") && error.cause.is_some(), "{error:?}");
    fs::remove_file(&home).unwrap();
    assert_eq!(sequences(&log.append(&session("s"), facts(0..1)).await.unwrap()), [1]);
    // Taken away as a whole, while it is open.
    fs::remove_dir_all(&home).unwrap();
    assert_eq!(sequences(&log.append(&session("s"), facts(0..2)).await.unwrap()), [1, 2]);
    assert_eq!(sequences(&all(&log, &session("s")).await.facts), [1, 2]);
}
