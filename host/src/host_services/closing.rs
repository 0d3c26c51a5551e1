//! Databases that were written to, while they are closed. What was committed is on disk before; that the log is
//! then written into the database, at the last close, keeps nobody waiting.

use sepia_services::sqlite::WriteConnection;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// The databases of one driver that are being closed.
#[derive(Debug, Default, Clone)]
pub struct Closing(Arc<Mutex<JoinSet<()>>>);

impl Closing {
    /// Closes a database on a thread of its own; one with an open transaction at once, for others wait for it.
    pub(super) fn close(&self, connection: Box<WriteConnection>) {
        if connection.is_in_transaction() || Handle::try_current().is_err() {
            return;
        }
        let mut tasks = self.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn_blocking(move || drop(connection));
    }

    /// Waits until all are closed.
    pub(crate) async fn over(&self) {
        let mut tasks = std::mem::take(&mut *self.lock());
        while tasks.join_next().await.is_some() {}
    }

    fn lock(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
