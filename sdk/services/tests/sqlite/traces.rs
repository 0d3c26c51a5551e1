//! Reading leaves nothing behind and changes no byte, whatever lies beside the database.

use crate::demo::{bytes, database, insert, numbers, request, store};
use crate::owner::Owner;
use rusqlite::Connection;
use sepia_ir::StoreKind;
use sepia_services::{ServiceError, Store};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

/// Reads twice, and looks that nothing came or changed.
fn read_without_a_trace(dir: &std::path::Path, path: &str) -> Vec<i64> {
    let before = bytes(dir);
    let first = numbers(&store(dir), path).unwrap();
    assert_eq!(numbers(&store(dir), path).unwrap(), first);
    let after = bytes(dir);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert!(before == after, "a byte changed");
    first
}

#[test]
fn a_closed_database() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[1, 2]));
    assert!(!dir.path().join("a.db-wal").exists());
    assert_eq!(read_without_a_trace(dir.path(), "a.db"), [1, 2]);
}

#[test]
fn a_log_whose_owner_is_alive() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[1]));
    let owner = Owner::waiting_after(&dir.path().join("a.db"), 2);
    assert_eq!(read_without_a_trace(dir.path(), "a.db"), [1, 2]);
    drop(owner);
    // Killed: it left its log and the index of it.
    assert!(dir.path().join("a.db-shm").exists());
    assert_eq!(read_without_a_trace(dir.path(), "a.db"), [1, 2]);
}

/// What a killed owner leaves, with and without the index of its log.
#[test]
fn a_log_whose_owner_was_killed() {
    for leaves_index in [true, false] {
        let (dir, live) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let owner = database(&live.path().join("a.db"), &[1]);
        owner.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        insert(&owner, &[2]);
        for suffix in if leaves_index { &["", "-wal", "-shm"][..] } else { &["", "-wal"] } {
            let name = format!("a.db{suffix}");
            fs::copy(live.path().join(&name), dir.path().join(&name)).unwrap();
        }
        assert_eq!(read_without_a_trace(dir.path(), "a.db"), [1, 2], "index: {leaves_index}");
    }
}

#[test]
fn an_empty_log_without_its_index() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[1]));
    fs::write(dir.path().join("a.db-wal"), b"").unwrap();
    assert_eq!(read_without_a_trace(dir.path(), "a.db"), [1]);
}

#[test]
fn a_folder_that_nobody_may_write() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[1]));
    let (live, killed) = (dir.path().join("live.db"), dir.path().join("killed.db"));
    drop(database(&live, &[1]));
    let owner = Owner::waiting_after(&live, 2);
    for suffix in ["", "-wal"] {
        fs::copy(dir.path().join(format!("live.db{suffix}")), dir.path().join(format!("killed.db{suffix}"))).unwrap();
    }
    assert!(killed.exists());
    fs::set_permissions(dir.path(), Permissions::from_mode(0o500)).unwrap();
    assert_eq!(read_without_a_trace(dir.path(), "a.db"), [1]);
    assert_eq!(read_without_a_trace(dir.path(), "live.db"), [1, 2]);
    assert_eq!(read_without_a_trace(dir.path(), "killed.db"), [1, 2]);
    drop(owner);
    fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_journal_that_waits_to_be_rolled_back() {
    let (dir, live) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let owner = Connection::open(live.path().join("a.db")).unwrap();
    owner.execute_batch("CREATE TABLE t(n INTEGER, filler TEXT); PRAGMA cache_size=1; PRAGMA cache_spill=1;").unwrap();
    for n in 1..=200 {
        owner.execute("INSERT INTO t VALUES (?, ?)", (n, "x".repeat(500))).unwrap();
    }
    // A transaction that no longer fits its cache: half of it is in the file already.
    owner.execute_batch("BEGIN; UPDATE t SET n = -1, filler = filler || 'y';").unwrap();
    for suffix in ["", "-journal"] {
        let name = format!("a.db{suffix}");
        fs::copy(live.path().join(&name), dir.path().join(&name)).unwrap();
    }
    let expected: Vec<i64> = (1..=200).collect();
    assert_eq!(read_without_a_trace(dir.path(), "a.db"), expected);
}

#[test]
fn a_store_that_is_a_database() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("odd name?mode=rwc#%41.db");
    drop(database(&file, &[7]));
    let before = bytes(dir.path());
    let store = Store::open(&request(StoreKind::Database), &file, &|_| false).unwrap();
    assert_eq!(numbers(&store, "").unwrap(), [7]);
    assert!(before == bytes(dir.path()));
    let absent = Store::open(&request(StoreKind::Database), &dir.path().join("none.db"), &|_| false).unwrap();
    assert!(matches!(numbers(&absent, ""), Err(ServiceError::NotFound(_))));
}

#[test]
fn nothing_outside_the_store_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, outside) = (dir.path().join("in"), dir.path().join("out.db"));
    fs::create_dir(&inside).unwrap();
    drop(database(&outside, &[1]));
    symlink(&outside, inside.join("link.db")).unwrap();
    for path in ["../out.db", "link.db", "/etc/passwd", ""] {
        let error = numbers(&store(&inside), path).unwrap_err();
        assert!(matches!(error, ServiceError::Outside(_)), "{path}: {error}");
    }
    assert!(matches!(numbers(&store(&inside), "none.db"), Err(ServiceError::NotFound(_))));
    fs::create_dir(inside.join("dir.db")).unwrap();
    assert!(matches!(numbers(&store(&inside), "dir.db"), Err(ServiceError::NotRegular(_))));
}

/// Its writer was killed between the header and the first frame, or the header is no header: what is in the database
/// itself counts, and is there at once.
#[test]
fn a_log_without_frames_that_nobody_has_open() {
    let dir = tempfile::tempdir().unwrap();
    let live = database(&dir.path().join("live.db"), &[1, 2]);
    live.execute_batch("PRAGMA wal_checkpoint").unwrap();
    insert(&live, &[3]);
    let log = fs::read(dir.path().join("live.db-wal")).unwrap();
    let mut broken = log.clone();
    broken[20] ^= 1;
    let mut foreign = log.clone();
    foreign[..4].copy_from_slice(b"none");
    for (name, log) in [("header", &log[..32]), ("broken", &broken[..]), ("foreign", &foreign[..])] {
        let store = dir.path().join(name);
        fs::create_dir(&store).unwrap();
        fs::copy(dir.path().join("live.db"), store.join("a.db")).unwrap();
        fs::copy(dir.path().join("live.db-shm"), store.join("a.db-shm")).unwrap();
        fs::write(store.join("a.db-wal"), log).unwrap();
        let start = Instant::now();
        assert_eq!(read_without_a_trace(&store, "a.db"), [1, 2], "{name}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
    }
}
