//! Rows on their way into a chat's database: handed over several at a time, since each statement
//! crosses a boundary.

use crate::blobs::hex;
use sepia_ir::{DriverError, SqlValue};
use sepia_sdk::{Host, WritableDatabase};

/// Rows of one statement.
const GROUP: usize = 16;
/// Bytes that wait at most.
const WAITING: usize = 1 << 20;

/// Rows of both tables that wait to be written. Without a database nothing is written.
pub(crate) struct Rows {
    host: Host,
    blobs: Waiting,
    meta: Waiting,
}

#[derive(Default)]
struct Waiting {
    values: Vec<SqlValue>,
    bytes: usize,
}

impl Rows {
    pub(crate) fn new(host: &Host) -> Self {
        Self { host: host.clone(), blobs: Waiting::default(), meta: Waiting::default() }
    }

    /// A blob; its id.
    pub(crate) fn blob(
        &mut self,
        database: Option<&dyn WritableDatabase>,
        data: Vec<u8>,
    ) -> Result<[u8; 32], DriverError> {
        let id = self.host.sha256(&data);
        self.blob_as(database, id, data)?;
        Ok(id)
    }

    /// A blob whose id is known.
    pub(crate) fn blob_as(
        &mut self,
        database: Option<&dyn WritableDatabase>,
        id: [u8; 32],
        data: Vec<u8>,
    ) -> Result<(), DriverError> {
        let bytes = data.len();
        self.blobs.push(database, BLOBS, SqlValue::Text(hex(&id)), SqlValue::Blob(data), bytes)
    }

    /// A row of settings.
    pub(crate) fn setting(
        &mut self,
        database: Option<&dyn WritableDatabase>,
        key: String,
        value: String,
    ) -> Result<(), DriverError> {
        let bytes = value.len();
        self.meta.push(database, META, SqlValue::Text(key), SqlValue::Text(value), bytes)
    }

    /// Writes what still waits.
    pub(crate) fn flush(&mut self, database: Option<&dyn WritableDatabase>) -> Result<(), DriverError> {
        self.blobs.flush(database, BLOBS)?;
        self.meta.flush(database, META)
    }
}

const BLOBS: &str = "INSERT OR REPLACE INTO blobs (id, data) VALUES ";
const META: &str = "INSERT OR REPLACE INTO meta (key, value) VALUES ";

impl Waiting {
    fn push(
        &mut self,
        database: Option<&dyn WritableDatabase>,
        statement: &str,
        key: SqlValue,
        value: SqlValue,
        bytes: usize,
    ) -> Result<(), DriverError> {
        if database.is_none() {
            return Ok(());
        }
        self.values.extend([key, value]);
        self.bytes += bytes;
        if self.values.len() >= 2 * GROUP || self.bytes >= WAITING {
            self.flush(database, statement)?;
        }
        Ok(())
    }

    fn flush(&mut self, database: Option<&dyn WritableDatabase>, statement: &str) -> Result<(), DriverError> {
        let values = std::mem::take(&mut self.values);
        self.bytes = 0;
        let Some(database) = database.filter(|_| !values.is_empty()) else { return Ok(()) };
        let tuples = vec!["(?,?)"; values.len() / 2].join(",");
        database.execute(&format!("{statement}{tuples}"), &values)?;
        Ok(())
    }
}
