//! The log from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod appending;
mod damage;
mod model;
mod processes;
mod pruning;
mod turns;

use super::{Bounds, Fact, FactLog, NewFact, Owner, Page, SessionKey};
use crate::plane::SystemClock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Waits longer than any test machine needs, prunes nothing.
fn bounds() -> Bounds {
    Bounds { age: Duration::MAX, bytes: u64::MAX, busy_wait: Duration::from_secs(60) }
}

fn open(path: &Path) -> FactLog {
    FactLog::new(path.to_owned(), bounds(), Owner::current().unwrap(), Arc::new(SystemClock))
}

fn session(id: &str) -> SessionKey {
    SessionKey::new("agent", id)
}

fn fact(data: impl ToString) -> NewFact {
    NewFact::new("kind", data.to_string())
}

fn facts(data: std::ops::Range<u64>) -> Vec<NewFact> {
    data.map(fact).collect()
}

fn sequences<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Vec<u64> {
    facts.into_iter().map(|fact| fact.sequence).collect()
}

/// All that is kept of a session, read page by page.
async fn all(log: &FactLog, session: &SessionKey) -> Page {
    let mut whole = log.read(session, 0, 1_000).await.unwrap();
    while let Some(last) = whole.facts.last() {
        let mut next = log.read(session, last.sequence, 1_000).await.unwrap();
        if next.facts.is_empty() {
            break;
        }
        whole.facts.append(&mut next.facts);
    }
    whole
}

/// A plain connection to the file, to look at it from beside.
fn beside(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

/// The files that were moved aside, without what lay beside them.
fn aside(folder: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    names
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with("events.db.unreadable-") && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .collect()
}
