//! Rows that are being written down behind an answer that was given already.

use std::sync::{Mutex, PoisonError};
use tokio::task::JoinHandle;

/// Writes that go on.
#[derive(Debug, Default)]
pub(in crate::plane) struct Keeping(Mutex<Vec<JoinHandle<()>>>);

impl Keeping {
    /// One more.
    pub(super) fn begun(&self, writing: JoinHandle<()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(writing);
    }

    /// Waits for all that began so far.
    pub(in crate::plane) async fn over(&self) {
        let writing = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for writing in writing {
            // The writer reports for itself; that it was cancelled at the end of the process is fine.
            let _ = writing.await;
        }
    }
}
