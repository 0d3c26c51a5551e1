//! What brings back rows and entries of a deleted session.

use super::rows::{Change, Held};
use super::task_list::{self, Entry};
use sepia_ir::{DriverError, ErrorCode};
use sepia_sdk::Host;
use serde::{Deserialize, Serialize};

/// See the module. It comes from outside again, and is taken for that.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Undo {
    version: u32,
    pub(super) rows: Held,
    pub(super) entries: Vec<Entry>,
}

/// Version of the form.
const VERSION: u32 = 1;

impl Undo {
    pub(super) fn new(rows: Held, entries: Vec<Entry>) -> Self {
        Self { version: VERSION, rows, entries }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        // Plain members always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Brings rows and entries back, after the files are back.
pub(crate) fn undelete(host: &Host, undo: &[u8]) -> Result<(), DriverError> {
    if undo.is_empty() {
        return Ok(());
    }
    let undo: Undo =
        serde_json::from_slice(undo).ok().filter(|undo: &Undo| undo.version == VERSION).ok_or_else(|| {
            DriverError::new(
                ErrorCode::Invalid,
                "this is no undo of a deletion, or one of another version of the driver",
            )
        })?;
    if undo.rows != Held::default() {
        let change = Change::begin(host)?;
        change.put_back(&undo.rows)?;
        change.commit()?;
    }
    undo.entries.iter().try_for_each(|entry| task_list::put_back(host, entry))
}
