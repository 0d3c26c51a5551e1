//! What writes, called over the component boundary. Only a driver that writes imports it.

use super::bindings::sepia::driver::sqlite;
use super::writing_bindings::sepia::driver::durable_files;
use crate::host::{NewFile, WritableDatabase, WritingServices};
use sepia_ir::{DriverError, SqlValue};

/// The imports of the world `session-writing`.
pub(super) struct WritingImports;

impl WritingServices for WritingImports {
    fn replace(
        &self,
        store: &str,
        path: &str,
        content: &[u8],
        mode: u32,
        expect: Option<u64>,
    ) -> Result<(), DriverError> {
        durable_files::replace(store, path, content, mode, expect)
    }

    fn append(&self, store: &str, path: &str, content: &[u8], expect: u64) -> Result<(), DriverError> {
        durable_files::append(store, path, content, expect)
    }

    fn create(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn NewFile>, DriverError> {
        Ok(Box::new(durable_files::create(store, path, mode)?))
    }

    fn discard(&self, store: &str, path: &str) -> Result<u64, DriverError> {
        durable_files::discard(store, path)
    }

    fn writable_database(&self, store: &str, path: &str) -> Result<Box<dyn WritableDatabase>, DriverError> {
        Ok(Box::new(sqlite::open_write(store, path)?))
    }

    fn new_database(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn WritableDatabase>, DriverError> {
        Ok(Box::new(sqlite::open_new(store, path, mode)?))
    }
}

impl WritableDatabase for sqlite::Connection {
    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, DriverError> {
        sqlite::Connection::execute(self, sql, parameters)
    }

    fn begin(&self) -> Result<(), DriverError> {
        sqlite::Connection::begin(self)
    }

    fn commit(&self) -> Result<(), DriverError> {
        sqlite::Connection::commit(self)
    }

    fn rollback(&self) -> Result<(), DriverError> {
        sqlite::Connection::rollback(self)
    }
}

impl NewFile for durable_files::NewFile {
    fn write(&mut self, content: &[u8]) -> Result<(), DriverError> {
        durable_files::NewFile::write(self, content)
    }

    fn commit(self: Box<Self>, expect: Option<u64>) -> Result<(), DriverError> {
        durable_files::NewFile::commit(&self, expect)
    }
}
