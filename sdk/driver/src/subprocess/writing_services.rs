//! What writes, done in this process.

use super::services::Native;
use crate::host::{Database, Host, NewFile, Query, WritableDatabase, WritingServices};
use sepia_ir::{DriverError, Manifest, SqlValue, StoreAccess};
use sepia_services::sqlite::WriteConnection;
use sepia_services::{Stores, TrashEntry};
use std::sync::Arc;

/// The stores of a driver that were declared to be written.
#[derive(Debug)]
pub struct NativeWriting {
    stores: Stores,
}

impl Native {
    /// The handle of a call that writes to the stores that the manifest declares for it. What is
    /// taken away or written over in it goes into `trash`.
    ///
    /// Each half has the stores opened for itself: what one writes the other is to see anew.
    pub fn host_for_writing(
        open: impl Fn() -> Result<Self, DriverError>,
        manifest: &Manifest,
        trash: Option<Arc<TrashEntry>>,
    ) -> Result<Host, DriverError> {
        Ok(Host::new(open()?).and_writing(open()?.into_writing(manifest, trash)))
    }

    /// What writes, to the stores that the manifest declares for it.
    pub fn into_writing(self, manifest: &Manifest, trash: Option<Arc<TrashEntry>>) -> NativeWriting {
        let written = |name: &str| manifest.stores.iter().any(|s| s.name == name && s.access == StoreAccess::ReadWrite);
        let stores = self
            .into_stores()
            .into_stores()
            .map(|store| if written(store.name()) { store.for_writing(trash.clone()) } else { store });
        NativeWriting { stores: Stores::new(stores.collect()) }
    }
}

impl WritingServices for NativeWriting {
    fn replace(
        &self,
        store: &str,
        path: &str,
        content: &[u8],
        mode: u32,
        expect: Option<u64>,
    ) -> Result<(), DriverError> {
        Ok(self.stores.get(store)?.replace(path, content, mode, expect)?)
    }

    fn append(&self, store: &str, path: &str, content: &[u8], expect: u64) -> Result<(), DriverError> {
        Ok(self.stores.get(store)?.append(path, content, expect)?)
    }

    fn create(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn NewFile>, DriverError> {
        Ok(Box::new(self.stores.get(store)?.create(path, mode)?))
    }

    fn discard(&self, store: &str, path: &str) -> Result<u64, DriverError> {
        Ok(self.stores.get(store)?.discard(path)?)
    }

    fn writable_database(&self, store: &str, path: &str) -> Result<Box<dyn WritableDatabase>, DriverError> {
        Ok(Box::new(self.stores.get(store)?.writable_database(path)?))
    }

    fn new_database(&self, store: &str, path: &str, mode: u32) -> Result<Box<dyn WritableDatabase>, DriverError> {
        Ok(Box::new(self.stores.get(store)?.new_database(path, mode)?))
    }
}

impl Database for WriteConnection {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Box<dyn Query>, DriverError> {
        Ok(Box::new(WriteConnection::query(self, sql, parameters)?))
    }
}

impl WritableDatabase for WriteConnection {
    fn execute(&self, sql: &str, parameters: &[SqlValue]) -> Result<u64, DriverError> {
        Ok(WriteConnection::execute(self, sql, parameters)?)
    }

    fn begin(&self) -> Result<(), DriverError> {
        Ok(WriteConnection::begin(self)?)
    }

    fn commit(&self) -> Result<(), DriverError> {
        Ok(WriteConnection::commit(self)?)
    }

    fn rollback(&self) -> Result<(), DriverError> {
        Ok(WriteConnection::rollback(self)?)
    }
}

impl NewFile for sepia_services::NewFile {
    fn write(&mut self, content: &[u8]) -> Result<(), DriverError> {
        Ok(sepia_services::NewFile::write(self, content)?)
    }

    fn commit(self: Box<Self>, expect: Option<u64>) -> Result<(), DriverError> {
        Ok(sepia_services::NewFile::commit(*self, expect)?)
    }
}
