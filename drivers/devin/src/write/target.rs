//! A database open for writing, and the rows of a session in it.

use super::shape::{Shape, quoted};
use super::undo::Rows;
use crate::place::{DATABASE, FOLDER, Source};
use crate::value::{list, text};
use sepia_ir::{DriverError, ErrorCode, SqlValue};
use sepia_sdk::{Host, WritableDatabase};

/// An open database.
pub(crate) struct Target {
    pub(crate) source: Source,
    pub(crate) database: Box<dyn WritableDatabase>,
    pub(crate) shape: Shape,
}

/// Store and path of a database.
pub(crate) fn place_of(source: Source) -> (&'static str, &'static str) {
    if source == Source::Current { (DATABASE, "") } else { (FOLDER, source.file()) }
}

impl Target {
    /// Opens a database that is there.
    pub(crate) fn open(host: &Host, source: Source) -> Result<Self, DriverError> {
        let (store, path) = place_of(source);
        let database = host.writable_database(store, path)?;
        let shape = Shape::probe(&*database)?;
        Ok(Self { source, database, shape })
    }

    /// Whether there is a session of this id.
    pub(crate) fn has(&self, id: &str) -> Result<bool, DriverError> {
        let rows = self.rows("SELECT 1 FROM sessions WHERE id = ? LIMIT 1", id)?;
        Ok(!rows.is_empty())
    }

    fn rows(&self, sql: &str, id: &str) -> Result<Vec<Vec<SqlValue>>, DriverError> {
        let database: &dyn sepia_sdk::Database = &*self.database;
        database.rows(sql, &[text(id)])
    }

    /// Does work in one transaction: all of it or nothing.
    pub(crate) fn all_or_nothing<T>(&self, work: impl FnOnce() -> Result<T, DriverError>) -> Result<T, DriverError> {
        self.database.begin()?;
        match work().and_then(|done| self.database.commit().map(|()| done)) {
            Ok(done) => Ok(done),
            Err(error) => {
                // Dropping the connection forgets the changes as well.
                let _ = self.database.rollback();
                Err(error)
            }
        }
    }

    /// Deletes all rows that belong to a session, in the transaction that is open; `noted` also those in
    /// which another session says that this one is its sub-agent.
    pub(crate) fn delete(&self, id: &str, noted: bool) -> Result<(), DriverError> {
        for (table, column) in self.shape.of_session() {
            let sql = format!("DELETE FROM {} WHERE {column} = ?", quoted(table));
            self.database.execute(&sql, &[text(id)])?;
        }
        if noted && self.shape.has("subagent_heads", &["agent_id"]) {
            self.database.execute("DELETE FROM subagent_heads WHERE agent_id = ?", &[text(id)])?;
        }
        Ok(())
    }

    /// Copies the rows that [`delete`](Self::delete) deletes; notes of other sessions than those of the
    /// `family`, and none when there is none. While the transaction of `self` is open nobody else
    /// changes them, and a connection that reads may give any number of rows.
    pub(crate) fn copy(&self, host: &Host, id: &str, family: Option<&[&str]>) -> Result<Vec<Rows>, DriverError> {
        let (store, path) = place_of(self.source);
        let reading = host.database(store, path)?;
        let mut copied = Vec::new();
        let mut which: Vec<(&str, String, Vec<SqlValue>)> = Vec::new();
        for (table, column) in self.shape.of_session() {
            which.push((table, format!("{column} = ?"), vec![text(id)]));
        }
        if let Some(family) = family.filter(|_| self.shape.has("subagent_heads", &["agent_id", "session_id"])) {
            let noted = "agent_id = ? AND session_id NOT IN (SELECT value FROM json_each(?))".to_owned();
            which.push(("subagent_heads", noted, vec![text(id), list(family)]));
        }
        // The session first: what comes back has to find it.
        which.sort_by_key(|(table, ..)| *table != "sessions");
        for (table, which, parameters) in which {
            let columns = self.shape.columns(table);
            let listed: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
            let sql = format!("SELECT {} FROM {} WHERE {which}", listed.join(", "), quoted(table));
            let rows = reading.rows(&sql, &parameters)?;
            if !rows.is_empty() {
                copied.push(Rows {
                    table: table.to_owned(),
                    columns: columns.into_iter().map(str::to_owned).collect(),
                    values: rows,
                });
            }
        }
        Ok(copied)
    }

    /// Puts rows back that were copied, in the transaction that is open.
    pub(crate) fn put_back(&self, copied: &[Rows]) -> Result<(), DriverError> {
        for Rows { table, columns, values } in copied {
            let names: Vec<&str> = columns.iter().map(String::as_str).collect();
            let belongs = self.shape.of_session().iter().any(|(known, _)| known == table);
            if !belongs || !self.shape.has(table, &names) {
                let message =
                    format!("table `{table}` has no longer the columns that the deleted rows had; they stay deleted");
                return Err(DriverError::new(ErrorCode::Conflict, message));
            }
            let listed: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
            let marks = vec!["?"; columns.len()].join(", ");
            let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(table), listed.join(", "));
            for row in values {
                self.database.execute(&sql, row)?;
            }
        }
        Ok(())
    }
}
