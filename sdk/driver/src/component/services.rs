//! The services of the host, called over the component boundary.

use super::bindings::sepia::driver::{bulk_files, log, processes, sqlite, stores, text_search};
use super::writing_bindings::sepia::driver::durable_files;
use crate::host::{Database, NewFile, Query, Services, WritableDatabase};
use sepia_ir::{
    CandidateLines, DriverError, ErrorCode, LogLevel, Projection, SearchQuery, SqlColumn, SqlValue, SurveyQuery,
    SurveyReport, TextSpan, WalkReport,
};
use sepia_services::packed::Rows;
use std::path::PathBuf;

/// The imports of the world.
pub(super) struct Imports;

impl Services for Imports {
    fn directory(&self, store: &str) -> Option<PathBuf> {
        let shown = PathBuf::from(format!("/{store}"));
        shown.is_dir().then_some(shown)
    }

    fn location(&self, store: &str) -> Option<String> {
        stores::location(store)
    }

    fn walk(&self, store: &str, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, DriverError> {
        bulk_files::walk(store, under, depth, suffixes)
    }

    fn read(&self, store: &str, path: &str, offset: u64, bytes: u32) -> Result<Vec<u8>, DriverError> {
        bulk_files::read(store, path, offset, bytes)
    }

    fn survey(&self, store: &str, path: &str, query: &SurveyQuery) -> Result<SurveyReport, DriverError> {
        bulk_files::survey(store, path, query)
    }

    fn project(&self, store: &str, path: &str, query: &Projection) -> Result<Rows, DriverError> {
        let packed = bulk_files::project(store, path, query)?;
        Rows::unpack(packed)
            .map_err(|e| DriverError::new(ErrorCode::Store, format!("the host's projection of {path}: {e}")))
    }

    fn find(&self, query: &SearchQuery, texts: &[&str], max: u32) -> Result<Vec<Vec<TextSpan>>, DriverError> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        text_search::find(query, &texts, max)
    }

    fn may_hold(&self, query: &SearchQuery, store: &str, paths: &[String]) -> Result<Vec<Option<bool>>, DriverError> {
        text_search::may_hold(query, store, paths)
    }

    fn lines(
        &self,
        query: &SearchQuery,
        store: &str,
        path: &str,
        within: &[String],
        offset: u64,
        max: u32,
    ) -> Result<CandidateLines, DriverError> {
        text_search::lines(query, store, path, within, offset, max)
    }

    fn database(&self, store: &str, path: &str) -> Result<Box<dyn Database>, DriverError> {
        Ok(Box::new(sqlite::open_read(store, path)?))
    }

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

    fn start_ticks(&self, pid: u32) -> Option<u64> {
        processes::start_ticks(pid)
    }

    fn command_line(&self, pid: u32) -> Option<String> {
        processes::command_line(pid)
    }

    fn lock_holders(&self, store: &str, paths: &[String]) -> Vec<Option<u32>> {
        processes::lock_holders(store, paths)
    }

    fn log(&self, level: LogLevel, message: &str) {
        log::write(level, message);
    }
}

impl Database for sqlite::Connection {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Box<dyn Query>, DriverError> {
        Ok(Box::new(sqlite::Connection::query(self, sql, parameters)?))
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

impl Query for sqlite::Rows {
    fn columns(&self) -> Vec<SqlColumn> {
        sqlite::Rows::columns(self)
    }

    fn next(&mut self, max: usize) -> Result<Vec<Vec<SqlValue>>, DriverError> {
        sqlite::Rows::next(self, u32::try_from(max).unwrap_or(u32::MAX))
    }
}
