//! Databases open for writing.

use crate::ground::Ground;
use rusqlite::Connection;
use sepia_ir::{DriverError, ErrorCode, SqlValue};
use sepia_services::ServiceError;
use sepia_services::sqlite::WriteConnection;

fn code<T>(outcome: Result<T, ServiceError>) -> Option<ErrorCode> {
    outcome.err().map(|e| DriverError::from(e).code)
}

fn count(connection: &Connection) -> i64 {
    connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
}

fn made(ground: &Ground) -> Connection {
    let owner = Connection::open(ground.path("store/x.db")).unwrap();
    owner
        .execute_batch(
            "PRAGMA journal_mode=WAL; CREATE TABLE t (id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')",
        )
        .unwrap();
    owner
}

#[test]
fn a_transaction_happens_whole_or_not_at_all() {
    let ground = Ground::new();
    let owner = made(&ground);
    let database = ground.writing().writable_database("x.db").unwrap();
    database.begin().unwrap();
    let insert = "INSERT INTO t (id, v) VALUES (?, ?)";
    assert_eq!(database.execute(insert, &[SqlValue::Integer(2), SqlValue::Text("b".into())]).unwrap(), 1);
    let mut rows = database.query("SELECT count(*) FROM t", &[]).unwrap();
    assert_eq!(rows.next(10).unwrap(), [[SqlValue::Integer(2)]]);
    assert_eq!(count(&owner), 1);
    database.commit().unwrap();
    assert_eq!(count(&owner), 2);

    database.begin().unwrap();
    database.execute("DELETE FROM t", &[]).unwrap();
    database.rollback().unwrap();
    assert_eq!(count(&owner), 2);

    database.begin().unwrap();
    database.execute("UPDATE t SET v = 'c'", &[]).unwrap();
    drop(database);
    let v: String = owner.query_row("SELECT v FROM t WHERE id = 1", [], |row| row.get(0)).unwrap();
    assert_eq!(v, "a");
}

#[test]
fn only_rows_are_changed() {
    let ground = Ground::new();
    let owner = made(&ground);
    let database = ground.writing().writable_database("x.db").unwrap();
    for statement in [
        "CREATE TABLE u (x)",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN w",
        "PRAGMA journal_mode=DELETE",
        "PRAGMA user_version=7",
        "ATTACH '/tmp/x' AS y",
        "VACUUM",
        "COMMIT",
    ] {
        assert_eq!(code(database.execute(statement, &[])), Some(ErrorCode::Invalid), "{statement}");
    }
    // This SQLite refuses by itself.
    assert!(database.execute("DELETE FROM sqlite_master", &[]).is_err());
    assert!(database.execute("SELECT load_extension('x')", &[]).is_err());
    assert_eq!(code(database.execute("INSERT INTO t VALUES (1, 'again')", &[])), Some(ErrorCode::Conflict));
    assert_eq!(count(&owner), 1);
}

#[test]
fn another_writer_is_waited_for_and_told() {
    let ground = Ground::new();
    let owner = made(&ground);
    owner.execute_batch("BEGIN IMMEDIATE").unwrap();
    let database = ground.writing().writable_database("x.db").unwrap();
    let from = std::time::Instant::now();
    assert_eq!(code(database.begin()), Some(ErrorCode::Busy));
    assert!(from.elapsed() >= std::time::Duration::from_secs(4));
    owner.execute_batch("COMMIT").unwrap();
    database.begin().unwrap();
}

#[test]
fn a_new_database_appears_whole() {
    let ground = Ground::new();
    let store = ground.writing();
    let new = |store: &sepia_services::Store| -> Result<WriteConnection, ServiceError> {
        let database = store.new_database("chats/1/store.db", 0o600)?;
        database.execute("PRAGMA journal_mode=WAL", &[])?;
        database.begin()?;
        database.execute("CREATE TABLE t (id TEXT PRIMARY KEY, v BLOB)", &[])?;
        database.execute("INSERT INTO t VALUES ('a', ?)", &[SqlValue::Blob(vec![1, 2])])?;
        Ok(database)
    };
    drop(new(&store).unwrap());
    assert!(!ground.path("store/chats").exists(), "nor are the folders that were made for it");
    let database = new(&store).unwrap();
    assert!(!ground.path("store/chats/1/store.db").exists());
    database.commit().unwrap();
    assert_eq!(ground.names("store/chats/1"), ["store.db"]);
    assert_eq!(code(database.execute("DELETE FROM t", &[])), Some(ErrorCode::Invalid));
    let bytes = std::fs::read(ground.path("store/chats/1/store.db")).unwrap();
    assert_eq!(bytes[18..20], [2, 2], "the header says WAL");
    let owner = Connection::open(ground.path("store/chats/1/store.db")).unwrap();
    assert_eq!(count(&owner), 1);

    assert_eq!(code(new(&store).unwrap().commit()), Some(ErrorCode::Conflict));
    assert_eq!(count(&owner), 1);
}

#[test]
fn a_database_that_is_not_there_is_not_made() {
    let ground = Ground::new();
    assert_eq!(code(ground.writing().writable_database("x.db")), Some(ErrorCode::NotFound));
    assert_eq!(ground.names("store"), [""; 0]);
}

#[test]
fn reading_beside_it_drops_no_lock_of_a_write() {
    for journal in ["delete", "wal"] {
        let ground = Ground::new();
        let owner = Connection::open(ground.path("store/x.db")).unwrap();
        owner
            .execute_batch(&format!("PRAGMA journal_mode={journal}; CREATE TABLE t (id INTEGER PRIMARY KEY, v)"))
            .unwrap();
        // Without an owner, every lock on it is that of the write.
        drop(owner);
        let store = ground.writing();
        let database = store.writable_database("x.db").unwrap();
        database.begin().unwrap();
        database.execute("INSERT INTO t (id, v) VALUES (1, 'a')", &[]).unwrap();
        let holder = || sepia_services::lock_holders(&store, &["x.db".to_owned()]);
        assert_eq!(holder(), [Some(std::process::id())], "{journal}");
        for _ in 0..3 {
            let reading = store.database("x.db").unwrap();
            let mut rows = reading.query("SELECT count(*) FROM t", &[]).unwrap();
            assert_eq!(rows.next(10).unwrap(), [[SqlValue::Integer(0)]], "{journal}");
            drop((rows, reading));
            assert_eq!(holder(), [Some(std::process::id())], "{journal}");
        }
        database.commit().unwrap();
        drop(database);
        assert_eq!(holder(), [None], "{journal}");
    }
}
