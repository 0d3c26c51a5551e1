//! SQLite databases of agents, read while their owners write: sees what is only in the
//! write-ahead log, leaves no file behind, changes no byte.
//!
//! ```text
//! approach     how a database can be opened without leaving a trace
//! descriptors  files of databases that are opened beside SQLite
//! log          what a write-ahead log says of itself
//! guard        what a statement may do, and for how long
//! pool         connections to one database
//! rows         a query that runs ahead on a thread of its own
//! write        a database open for writing, with its owner's programs beside
//! ```

mod approach;
mod descriptors;
mod guard;
mod log;
mod pool;
mod rows;
mod write;

pub(super) use approach::beside;
pub(super) use descriptors::Opened;
pub use rows::Rows;
pub use write::WriteConnection;

use super::error::ServiceError;
use super::store::Deadline;
use pool::Pool;
use sepia_ir::SqlValue;
use std::path::PathBuf;
use std::sync::Arc;

/// Queries of one connection that run at a time.
const QUERIES: usize = 16;

/// A database open for reading.
#[derive(Debug)]
pub struct ReadConnection {
    pool: Arc<Pool>,
    deadline: Deadline,
}

impl ReadConnection {
    /// Opens a file, whose path is resolved and allowed. `shown` is how messages name it; `writes` says that the call is
    /// one that may write.
    pub(super) fn open(file: PathBuf, shown: String, writes: bool, deadline: Deadline) -> Result<Self, ServiceError> {
        Ok(Self { pool: Arc::new(Pool::open(file, shown, writes, deadline)?), deadline })
    }

    /// Starts a query that reads; anything else is refused. Its parameters are bound in the
    /// order of their `?`.
    pub fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Rows, ServiceError> {
        // The pool is held by this connection and by each query that runs.
        if Arc::strong_count(&self.pool) > QUERIES {
            let message = format!("a connection runs at most {QUERIES} queries at a time; read one to its end");
            return Err(ServiceError::Query(message));
        }
        Rows::start(&self.pool, sql.to_owned(), parameters.to_vec(), self.deadline)
    }
}
