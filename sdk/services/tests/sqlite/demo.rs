//! A store with a database in it, and what a directory holds.

use rusqlite::Connection;
use sepia_ir::{SqlValue, StoreAccess, StoreKind, StoreRequest};
use sepia_services::{ServiceError, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A directory store at this place.
pub(crate) fn store(place: &Path) -> Store {
    Store::open(&request(StoreKind::Directory), place, &|_| false).unwrap()
}

pub(crate) fn request(kind: StoreKind) -> StoreRequest {
    StoreRequest {
        name: "demo".to_owned(),
        env: Vec::new(),
        default_path: "~/demo".to_owned(),
        kind,
        access: StoreAccess::Read,
        follow_links_in: Vec::new(),
    }
}

/// A database in WAL mode with a table `t(n)` of these numbers, closed.
pub(crate) fn database(file: &Path, numbers: &[i64]) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.execute("CREATE TABLE t(n INTEGER)", []).unwrap();
    insert(&connection, numbers);
    connection
}

pub(crate) fn insert(connection: &Connection, numbers: &[i64]) {
    for n in numbers {
        connection.execute("INSERT INTO t VALUES (?)", [n]).unwrap();
    }
}

/// The numbers of `t`, in their order.
pub(crate) fn numbers(store: &Store, path: &str) -> Result<Vec<i64>, ServiceError> {
    let connection = store.database(path)?;
    let mut rows = connection.query("SELECT n FROM t ORDER BY n", &[])?;
    let mut numbers = Vec::new();
    loop {
        let batch = rows.next(10)?;
        if batch.is_empty() {
            return Ok(numbers);
        }
        assert!(batch.len() <= 10);
        for row in batch {
            let [SqlValue::Integer(n)] = row[..] else { panic!("{row:?}") };
            numbers.push(n);
        }
    }
}

/// Names and bytes of everything below a directory.
pub(crate) fn bytes(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}
