//! A database that another process is writing to.

use crate::demo::{database, insert, numbers, store};
use rusqlite::Connection;
use sepia_services::lock_holders;
use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Names the database to the process that this test starts of itself.
const OWNED: &str = "SEPIA_TEST_OWNED_DATABASE";
/// The number at which it stops counting, and waits.
const UP_TO: &str = "SEPIA_TEST_OWNED_UP_TO";

/// In the started process: counts up from what is there and checkpoints often, then waits to
/// be killed. In the ordinary run there is nothing to own.
#[test]
fn the_owner() {
    let Some(file) = env::var_os(OWNED) else { return };
    let up_to: i64 = env::var(UP_TO).unwrap().parse().unwrap();
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 20).unwrap();
    let first = connection.query_row("SELECT count(*) + 1 FROM t", [], |row| row.get(0)).unwrap();
    for n in first..=up_to {
        insert(&connection, &[n]);
        if n == first {
            eprintln!("owned");
        }
    }
    loop {
        thread::park();
    }
}

/// A process that has a database open, killed with this value.
pub(crate) struct Owner(Child);

impl Owner {
    /// Has added this number to a database that holds those before it, and waits.
    pub(crate) fn waiting_after(file: &Path, number: i64) -> Self {
        Self::of(file, number)
    }

    /// Goes on counting.
    fn busy(file: &Path) -> Self {
        Self::of(file, i64::MAX)
    }

    fn of(file: &Path, up_to: i64) -> Self {
        let mut owner = Command::new(env::current_exe().unwrap());
        owner.args(["--exact", "owner::the_owner", "--nocapture"]).env(OWNED, file).env(UP_TO, up_to.to_string());
        let mut child = owner.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "owned"));
        Self(child)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Each read sees one state: all numbers up to some number, and never less than before. After
/// the owner was killed, what it left is read too.
#[test]
fn each_read_sees_one_state_of_a_database_that_is_being_written() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(&dir.path().join("a.db"), &[]));
    let owner = Owner::busy(&dir.path().join("a.db"));
    let mut last = 0;
    for _ in 0..200 {
        let seen = numbers(&store(dir.path()), "a.db").unwrap();
        let count = i64::try_from(seen.len()).unwrap();
        assert_eq!(seen, (1..=count).collect::<Vec<_>>());
        assert!(count >= last, "{count} after {last}");
        last = count;
    }
    assert!(last > 0);
    let shared = ["a.db-shm".to_owned(), "a.db".to_owned(), "none".to_owned()];
    let holders = lock_holders(&store(dir.path()), &shared);
    assert_eq!(holders[0], Some(owner.0.id()), "the owner is known by its lock");
    assert_eq!(holders[2], None);
    drop(owner);
    assert!(i64::try_from(numbers(&store(dir.path()), "a.db").unwrap().len()).unwrap() >= last);
    assert_eq!(lock_holders(&store(dir.path()), &shared)[0], None);
}
