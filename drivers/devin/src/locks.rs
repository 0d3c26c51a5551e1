//! Sessions that a running agent holds: each has a file with the number of the process, which
//! keeps an advisory lock on it for as long as it lives. The file of a process that crashed
//! stays.

use crate::place::{self, FOLDER, Source};
use crate::value::{Columns, list};
use sepia_ir::{DriverError, LockState};
use sepia_sdk::Host;
use std::collections::HashSet;

/// Where the files are.
const PLACE: &str = "session_locks";
/// A longer file names no process.
const LONGEST: u32 = 64;

/// The sessions held now. Files of sessions that have no row count for nothing.
pub(crate) fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
    let mut files: Vec<(String, String)> = Vec::new();
    for file in host.walk(FOLDER, PLACE, 0, &[".lock".to_owned()])?.files {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        if let Some(id) = name.strip_suffix(".lock").filter(|id| place::is_id(id)) {
            files.push((id.to_owned(), file.path));
        }
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<&str> = files.iter().map(|(id, _)| id.as_str()).collect();
    let known = known(host, &ids)?;
    files.retain(|(id, _)| known.contains(id));
    let paths: Vec<String> = files.iter().map(|(_, path)| path.clone()).collect();
    let holders = host.lock_holders(FOLDER, &paths);
    let state = |((id, path), holder): ((String, String), Option<u32>)| {
        let Held(holder_pid) = held(host, named(host, &path), holder)?;
        Some(LockState { id, holder_pid })
    };
    Ok(files.into_iter().zip(holders).filter_map(state).collect())
}

/// Which of these ids have a row.
fn known(host: &Host, ids: &[&str]) -> Result<HashSet<String>, DriverError> {
    let mut known = HashSet::new();
    for source in Source::DATABASES {
        let Some(opened) = place::open(host, source)? else { continue };
        if opened.schema.has_sessions() {
            let sql = "SELECT id FROM sessions WHERE id IN (SELECT value FROM json_each(?))";
            let rows = opened.database.rows(sql, &[list(ids)])?;
            known.extend(rows.into_iter().filter_map(|row| Columns::of(row).text()));
        }
    }
    Ok(known)
}

/// The process that a file names.
fn named(host: &Host, path: &str) -> Option<u32> {
    // A file may vanish between the walk and the look.
    let bytes = host.read(FOLDER, path, 0, LONGEST).ok()?;
    std::str::from_utf8(&bytes).ok()?.trim().parse().ok().filter(|pid| *pid > 0)
}

/// That a session is held, and by whom as far as that is known.
struct Held(Option<u32>);

/// Whether a session is held, by what its file says and by who has locked the file.
fn held(host: &Host, named: Option<u32>, locking: Option<u32>) -> Option<Held> {
    // A process of another pid namespace has the number 0 here.
    let visible = locking.filter(|pid| *pid > 0);
    match (named, locking) {
        // The file is written a moment before it is locked.
        (Some(named), None) => host.command_line(named)?.contains("devin").then_some(Held(Some(named))),
        (None, None) => None,
        (None, Some(_)) => Some(Held(visible)),
        (Some(named), Some(_)) => {
            // The file says who took the lock; another process of that number is not it.
            let other = visible.filter(|locking| *locking != named && host.start_ticks(named).is_some());
            Some(Held(other.or(Some(named))))
        }
    }
}
