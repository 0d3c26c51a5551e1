//! The services of the host, called over the component boundary.

use super::bindings::sepia::driver::{bulk_files, digest, log, processes, sqlite, stores, text_search};
use crate::host::{Database, Query, Services};
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

    fn sha256(&self, content: &[u8]) -> [u8; 32] {
        let (a, b, c, d) = digest::sha256(content);
        let mut sum = [0; 32];
        for (bytes, number) in sum.as_chunks_mut::<8>().0.iter_mut().zip([a, b, c, d]) {
            *bytes = number.to_be_bytes();
        }
        sum
    }

    fn database(&self, store: &str, path: &str) -> Result<Box<dyn Database>, DriverError> {
        Ok(Box::new(sqlite::open_read(store, path)?))
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

impl Query for sqlite::Rows {
    fn columns(&self) -> Vec<SqlColumn> {
        sqlite::Rows::columns(self)
    }

    fn next(&mut self, max: usize) -> Result<Vec<Vec<SqlValue>>, DriverError> {
        sqlite::Rows::next(self, u32::try_from(max).unwrap_or(u32::MAX))
    }
}
