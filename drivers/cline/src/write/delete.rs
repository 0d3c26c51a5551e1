//! Taking a session away, with all that belongs to it.
//!
//! Rows go first, in one transaction: without them the session is still whole, while rows without
//! files would stay in the agent's list. When the files can't go, the rows come back.

use super::artifacts::Artifacts;
use super::placed::locate_known;
use super::rows::{Change, Held};
use super::task_list;
use super::undo::Undo;
use sepia_ir::{DeleteOutcome, DriverError, SessionRef};
use sepia_sdk::Host;

/// See the module.
pub(crate) fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
    let kept = locate_known(host, session)?;
    let all = Artifacts::of(host, &kept)?;
    let mut outcome = DeleteOutcome { removed: Vec::new(), failed: Vec::new(), undo: Vec::new() };
    let mut rows = Held::default();
    if let Some((id, held)) = all.rows.as_ref().filter(|(_, held)| !held.rows.is_empty()) {
        let change = Change::begin(host)?;
        rows = change.take(id)?;
        change.commit()?;
        debug_assert!(rows.rows.len() >= held.rows.len().min(1));
    }
    let mut entries = Vec::new();
    for entry in &all.entries {
        match task_list::take(host, entry) {
            Ok(taken) => entries.push(taken),
            Err(error) => {
                let told = all
                    .of_entries()
                    .into_iter()
                    .find(|artifact| artifact.place == format!("{}:{}", entry.list, entry.id));
                outcome.failed.extend(told.map(|artifact| (artifact, error.to_string())));
            }
        }
    }
    if let Some((store, path)) = &all.place {
        match host.discard(store, path) {
            Ok(_) => outcome.removed.extend(all.files.iter().cloned()),
            Err(error) => {
                outcome.failed.extend(all.files.iter().map(|file| (file.clone(), error.to_string())));
                // What can come back does, so that the session stays whole.
                let reason = match put_back(host, &rows, &entries) {
                    Ok(()) => {
                        (rows, entries) = (Held::default(), Vec::new());
                        "it was put back, since the files of the session could not be taken away".to_owned()
                    }
                    Err(error) => format!("it is gone, and the files of the session are not: {error}"),
                };
                outcome.failed.extend(all.of_rows().into_iter().chain(all.of_entries()).map(|a| (a, reason.clone())));
                outcome.undo = Undo::new(rows, entries).bytes();
                return Ok(outcome);
            }
        }
    }
    outcome.removed.extend(all.of_rows());
    let failed: Vec<String> = outcome.failed.iter().map(|(artifact, _)| artifact.place.clone()).collect();
    outcome.removed.extend(all.of_entries().into_iter().filter(|entry| !failed.contains(&entry.place)));
    outcome.undo = Undo::new(rows, entries).bytes();
    Ok(outcome)
}

fn put_back(host: &Host, rows: &Held, entries: &[task_list::Entry]) -> Result<(), DriverError> {
    if *rows != Held::default() {
        let change = Change::begin(host)?;
        change.put_back(rows)?;
        change.commit()?;
    }
    entries.iter().try_for_each(|entry| task_list::put_back(host, entry))
}
