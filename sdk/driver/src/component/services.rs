//! The services of the host, called over the component boundary.

use super::bindings::sepia::driver::{bulk_files, log, processes, stores};
use crate::host::Services;
use sepia_ir::{DriverError, ErrorCode, LogLevel, Projection, SurveyQuery, SurveyReport, WalkReport};
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

    fn start_ticks(&self, pid: u32) -> Option<u64> {
        processes::start_ticks(pid)
    }

    fn log(&self, level: LogLevel, message: &str) {
        log::write(level, message);
    }
}
