//! The connections that read, beside the one that writes: reading waits for no commit.

use super::database::{Damage, Database, Readable, open_to_read};
use super::error::{LogError, LogErrorKind, is_damage};
use super::place::Place;
use super::schema;
use rusqlite::Connection;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most reads at once, and most connections kept for the next ones.
const MOST: u32 = 4;

/// What came of a read.
pub(super) enum Reading<T> {
    /// Nothing was stored yet.
    Nothing,
    Read(T),
    Damaged(Damage),
}

/// The connections that read.
#[derive(Debug)]
pub(super) struct Readers {
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
}

#[derive(Debug)]
struct Shared {
    place: Place,
    wait: Duration,
    idle: Mutex<Vec<Database>>,
}

impl Readers {
    pub(super) fn new(place: Place, wait: Duration) -> Self {
        let shared = Shared { place, wait, idle: Mutex::new(Vec::new()) };
        Self { shared: Arc::new(shared), permits: Arc::new(Semaphore::new(MOST as usize)) }
    }

    /// Reads off the runtime's threads, all from one state of the log.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<Reading<T>, LogError> {
        let path = self.shared.place.path();
        let permits = Arc::clone(&self.permits);
        let permit = permits.acquire_owned().await.map_err(|_| LogError::closed(path))?;
        let shared = Arc::clone(&self.shared);
        let reading = tokio::task::spawn_blocking(move || {
            let reading = shared.read(what);
            drop(permit);
            reading
        });
        reading.await.unwrap_or_else(|error| {
            let message = format!("a read of {} was ended before it was done; try again", path.display());
            Err(LogError::new(LogErrorKind::Failed, message).because(error))
        })
    }

    /// Ends reading, once what is being read is read.
    pub(super) async fn close(&self) {
        // All permits at hand: nobody reads.
        if let Ok(all) = self.permits.acquire_many(MOST).await {
            self.permits.close();
            drop(all);
        }
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Shared {
    fn read<T>(&self, what: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<Reading<T>, LogError> {
        let database = match self.idle()? {
            Some(database) => database,
            None => match open_to_read(&self.place, self.wait)? {
                Readable::Nothing => return Ok(Reading::Nothing),
                Readable::Damaged(damage) => return Ok(Reading::Damaged(damage)),
                Readable::Log(database) => database,
            },
        };
        let read = database.connection.unchecked_transaction().and_then(|transaction| {
            let version = schema::version(&transaction)?;
            let read = if version == schema::VERSION { Some(what(&transaction)?) } else { None };
            transaction.commit()?;
            Ok(read.ok_or(version))
        });
        match read {
            Ok(Ok(read)) => {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(database);
                Ok(Reading::Read(read))
            }
            Ok(Err(version)) => Err(LogError::newer(self.place.path(), version, schema::VERSION)),
            Err(error) if is_damage(&error) => {
                Ok(Reading::Damaged(Damage { file: database.file, reason: error.to_string() }))
            }
            Err(error) => Err(LogError::of_database(self.place.path(), "could not be read", &error)),
        }
    }

    /// A connection to the file that is there now.
    fn idle(&self) -> Result<Option<Database>, LogError> {
        let now = self.place.file()?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|database| Some(database.file) == now);
        Ok(idle.pop())
    }
}
