//! What a statement may do, for how long, and what damage does.

use crate::demo::{bytes, database, numbers, store};
use sepia_ir::{ErrorCode, SqlColumn, SqlValue};
use sepia_services::ServiceError;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn only_reading_is_granted() {
    let dir = tempfile::tempdir().unwrap();
    database(&dir.path().join("a.db"), &[1]).execute("CREATE INDEX i ON t(n)", []).unwrap();
    fs::copy(dir.path().join("a.db"), dir.path().join("b.db")).unwrap();
    let before = bytes(dir.path());
    let store = store(dir.path());
    let connection = store.database("a.db").unwrap();
    let attach = format!("ATTACH DATABASE '{}' AS b", dir.path().join("b.db").display());
    for sql in [
        attach.as_str(),
        "DETACH DATABASE main",
        "INSERT INTO t VALUES (2)",
        "UPDATE t SET n = 2",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u(n)",
        "CREATE TEMP TABLE u(n)",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA user_version = 7",
        "PRAGMA writable_schema = ON",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA mmap_size = 1000000",
        "PRAGMA temp_store_directory = '/'",
        "SELECT load_extension('x')",
        "VACUUM",
        "VACUUM INTO 'c.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN IMMEDIATE",
        "SAVEPOINT a",
    ] {
        let error = connection.query(sql, &[]).and_then(|mut rows| rows.next(1)).expect_err(sql);
        assert!(matches!(error, ServiceError::Query(_) | ServiceError::Database { .. }), "{sql}: {error}");
    }
    // What tells is granted, to the same connection.
    for sql in ["PRAGMA table_info(t)", "SELECT name FROM pragma_table_info('t')", "PRAGMA user_version"] {
        assert_eq!(connection.query(sql, &[]).unwrap().next(10).unwrap().len(), 1, "{sql}");
    }
    assert!(before == bytes(dir.path()), "a byte changed");
}

#[test]
fn values_of_every_kind_go_in_and_come_out() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[1]));
    let store = store(dir.path());
    let values = [
        SqlValue::Null,
        SqlValue::Integer(i64::MIN),
        SqlValue::Real(0.5),
        SqlValue::Text("a\0'é".to_owned()),
        SqlValue::Blob(vec![0, 255]),
    ];
    let connection = store.database("a.db").unwrap();
    let mut rows = connection.query("SELECT ?, ?, ?, ?, ?, n FROM t", &values).unwrap();
    let column = rows.columns().last().cloned();
    assert_eq!(column, Some(SqlColumn { name: "n".to_owned(), declared_type: Some("INTEGER".to_owned()) }));
    assert_eq!(rows.next(9).unwrap()[0][..5], values);
    assert!(rows.next(9).unwrap().is_empty());
    assert!(rows.next(9).unwrap().is_empty());
    let mut wrong = connection.query("SELECT CAST(x'61ff62' AS TEXT)", &[]).unwrap();
    assert_eq!(wrong.next(1).unwrap()[0], [SqlValue::Text("a\u{fffd}b".to_owned())]);
}

#[test]
fn an_endless_query_ends_with_its_time_or_with_its_reader() {
    const ENDLESS: &str = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c";
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[1]));
    let connection = store(dir.path()).database("a.db").unwrap();
    // One that gives rows stops when nobody reads; the connection serves again.
    for _ in 0..50 {
        let mut rows = connection.query(ENDLESS, &[]).unwrap();
        assert_eq!(rows.next(1).unwrap(), [[SqlValue::Integer(1)]]);
    }
    // One that gives none stops at the deadline.
    let began = Instant::now();
    let store = store(dir.path()).with_deadline(began + Duration::from_millis(200));
    let connection = store.database("a.db").unwrap();
    let none = format!("{ENDLESS} WHERE n < 0");
    let error = connection.query(&none, &[]).and_then(|mut rows| rows.next(1)).unwrap_err();
    assert!(matches!(error, ServiceError::Time(_)), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_connection_runs_a_bounded_number_of_queries() {
    let dir = tempfile::tempdir().unwrap();
    let many: Vec<i64> = (0..5000).collect();
    let owner = database(&dir.path().join("a.db"), &[]);
    owner.execute_batch("BEGIN").unwrap();
    crate::demo::insert(&owner, &many);
    owner.execute_batch("COMMIT").unwrap();
    let connection = store(dir.path()).database("a.db").unwrap();
    let query = || connection.query("SELECT n FROM t ORDER BY n", &[]);
    // Nested as deep as is allowed, each is where it was.
    let mut open: Vec<_> = (0..16).map(|_| query().unwrap()).collect();
    for rows in &mut open {
        assert_eq!(rows.next(1).unwrap(), [[SqlValue::Integer(0)]]);
    }
    assert!(matches!(query(), Err(ServiceError::Query(_))));
    for rows in &mut open {
        assert_eq!(rows.next(1).unwrap(), [[SqlValue::Integer(1)]]);
    }
}

#[test]
fn damage_is_an_error_and_no_crash() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.db");
    let owner = database(&file, &[]);
    crate::demo::insert(&owner, &(0..500).collect::<Vec<_>>());
    drop(owner);
    let whole = fs::read(&file).unwrap();
    // No database at all, one cut short, one with garbage in every page.
    for (name, content, code) in [
        ("text.db", b"hello, this is no database file".to_vec(), ErrorCode::Store),
        ("short.db", whole[..whole.len() / 2].to_vec(), ErrorCode::Store),
        ("header.db", whole[..10].to_vec(), ErrorCode::Store),
    ] {
        fs::write(dir.path().join(name), content).unwrap();
        let error = sepia_ir::DriverError::from(numbers(&store(dir.path()), name).unwrap_err());
        assert_eq!(error.code, code, "{name}: {}", error.message);
        assert!(error.message.contains(name), "{}", error.message);
    }
    for at in (100..whole.len()).step_by(997) {
        let mut bent = whole.clone();
        bent[at..(at + 40).min(whole.len())].fill(0xff);
        fs::write(dir.path().join("bent.db"), bent).unwrap();
        // Whatever is still there comes, or an error does.
        let _ = numbers(&store(dir.path()), "bent.db");
    }
    fs::write(dir.path().join("empty.db"), b"").unwrap();
    let error = numbers(&store(dir.path()), "empty.db").unwrap_err();
    assert!(error.to_string().contains("no such table"), "{error}");
}
