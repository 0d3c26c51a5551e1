//! Connections to one database, all opened the same way.

use super::super::error::ServiceError;
use super::super::store::Deadline;
use super::approach::{self, Approach, Look};
use super::descriptors::Claim;
use super::guard;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections to one database. A query has one to itself while it runs.
#[derive(Debug)]
pub(super) struct Pool {
    file: PathBuf,
    shown: String,
    approach: Approach,
    idle: Mutex<Vec<Connection>>,
    /// Given back after the connections.
    _claim: Claim,
}

impl Pool {
    pub(super) fn open(file: PathBuf, shown: String, writes: bool, deadline: Deadline) -> Result<Self, ServiceError> {
        deadline.check(&shown)?;
        let claim = Claim::on(&file);
        let (approach, connection) = approach::open(&file, &shown, writes)?;
        let pool = Self { file, shown, approach, idle: Mutex::default(), _claim: claim };
        let confined = pool.confined(connection)?;
        pool.put(confined);
        Ok(pool)
    }

    /// How messages name the database.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// A connection for one query.
    pub(super) fn take(&self) -> Result<Connection, ServiceError> {
        self.check()?;
        if let Some(connection) = self.connections().pop() {
            return Ok(connection);
        }
        let opened = approach::connect(&self.approach, &self.file);
        self.confined(opened.map_err(|e| approach::failed(&self.shown, e))?)
    }

    /// Gives a connection back.
    pub(super) fn put(&self, connection: Connection) {
        self.connections().push(connection);
    }

    /// Fails when a database that was opened as one that does not change has changed.
    pub(super) fn check(&self) -> Result<(), ServiceError> {
        match &self.approach {
            Approach::Still(look) if Look::at(&self.file) != *look => Err(ServiceError::Busy(self.shown.clone())),
            _ => Ok(()),
        }
    }

    fn confined(&self, mut connection: Connection) -> Result<Connection, ServiceError> {
        guard::confine(&mut connection).map_err(|e| approach::failed(&self.shown, e))?;
        Ok(connection)
    }

    fn connections(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
