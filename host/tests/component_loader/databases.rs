//! Databases of a store, asked from inside the sandbox.

use crate::guests::{Place, driver, host, limits, ordered, read, still_serves};
use rusqlite::Connection;
use sepia::loader::FaultKind;
use sepia_ir::ErrorCode;
use std::fs;

/// A place whose store has a database with one id in it, and one beside the store.
fn place() -> (Place, Connection) {
    let place = Place::new();
    let owner = Connection::open(place.path("home/a.db")).unwrap();
    owner.execute_batch("PRAGMA journal_mode=wal; CREATE TABLE t(id TEXT); INSERT INTO t VALUES ('one')").unwrap();
    fs::copy(place.path("home/a.db"), place.path("other/theirs.db")).unwrap();
    (place, owner)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_read_with_what_is_only_in_its_log() {
    let (host, (place, owner)) = (host(limits()), place());
    let guest = driver(&host, &place, "pries_into_databases").await;
    owner.execute("INSERT INTO t VALUES ('two')", []).unwrap();
    let keys: Vec<_> = read(&guest).scan().await.unwrap().entries.into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys, ["one", "two"]);
    let answer = ordered(&guest, "home|a.db|SELECT id, 1, 0.5, x'00', NULL FROM t LIMIT 1").await.unwrap();
    assert_eq!(answer, r#"[[Text("one"), Integer(1), Real(0.5), Blob([0]), Null]]"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_reading_of_its_own_store_is_granted() {
    let (host, (place, _owner)) = (host(limits()), place());
    let guest = driver(&host, &place, "pries_into_databases").await;
    let attach = format!("home|a.db|ATTACH '{}' AS x", place.path("other/theirs.db").display());
    for (order, code) in [
        ("other|theirs.db|SELECT 1", ErrorCode::Invalid),
        ("home|../other/theirs.db|SELECT 1", ErrorCode::Invalid),
        ("home|/etc/passwd|SELECT 1", ErrorCode::Invalid),
        ("home|a.txt|SELECT 1", ErrorCode::Store),
        ("home|none.db|SELECT 1", ErrorCode::NotFound),
        (attach.as_str(), ErrorCode::Invalid),
        ("home|a.db|DELETE FROM t", ErrorCode::Invalid),
        ("home|a.db|PRAGMA journal_mode=delete", ErrorCode::Invalid),
        ("home|a.db|SELECT load_extension('x')", ErrorCode::Store),
        ("home|a.db|not a statement", ErrorCode::Store),
    ] {
        let fault = ordered(&guest, order).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Said(code), "{order}: {fault}");
    }
    assert!(!place.path("home/none.db").exists());
    still_serves(&host).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_that_opens_more_and_more_is_ended() {
    let (host, (place, _owner)) = (host(limits()), place());
    let guest = driver(&host, &place, "pries_into_databases").await;
    let fault = ordered(&guest, "hoard").await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Handles, "{fault}");
    still_serves(&host).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_query_ends_with_the_time_of_the_call() {
    let (host, (place, _owner)) = (host(crate::guests::hurried()), place());
    let guest = driver(&host, &place, "pries_into_databases").await;
    let endless =
        "home|a.db|WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c WHERE n < 0";
    let fault = ordered(&guest, endless).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Time, "{fault}");
    still_serves(&host).await;
}
