//! What a driver reaches: its stores, and the work that the host does for it.

use sepia_ir::{DriverError, LogLevel, Projection, SurveyQuery, SurveyReport, WalkReport};
use sepia_services::packed::Rows;
use std::path::PathBuf;
use std::rc::Rc;

/// The host's side of `wit/host.wit`, the same in a component, in a subprocess and in tests.
///
/// Paths are relative to a store, with `/` between their parts; anything that leads out is
/// `invalid`.
pub trait Services {
    /// Where `std::fs` sees the store, when it is a directory that exists.
    fn directory(&self, store: &str) -> Option<PathBuf>;
    /// Where the store is, for messages; opens nothing.
    fn location(&self, store: &str) -> Option<String>;
    /// Regular files below a directory of the store; see `bulk-files.walk`.
    fn walk(&self, store: &str, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, DriverError>;
    /// Bytes of a file, at most 8 MiB; fewer at its end.
    fn read(&self, store: &str, path: &str, offset: u64, bytes: u32) -> Result<Vec<u8>, DriverError>;
    /// Start, end and interesting lines of a file, in one pass.
    fn survey(&self, store: &str, path: &str, query: &SurveyQuery) -> Result<SurveyReport, DriverError>;
    /// Members of all lines of a file of JSON lines.
    fn project(&self, store: &str, path: &str, query: &Projection) -> Result<Rows, DriverError>;
    /// Start time of a running process, clock ticks since boot.
    fn start_ticks(&self, pid: u32) -> Option<u64>;
    /// A line for the log.
    fn log(&self, level: LogLevel, message: &str);
}

/// A handle on the [`Services`] of this call, cheap to clone.
#[derive(Clone)]
pub struct Host(Rc<dyn Services>);

impl Host {
    /// A handle on these services.
    pub fn new(services: impl Services + 'static) -> Self {
        Self(Rc::new(services))
    }
}

impl std::ops::Deref for Host {
    type Target = dyn Services;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}
