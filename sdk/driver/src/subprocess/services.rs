//! The services of a subprocess driver, done in this process.

use crate::host::{Database, Query, Services};
use sepia_ir::{
    CandidateLines, DriverError, ErrorCode, LogLevel, Manifest, Projection, SearchQuery, SqlColumn, SqlValue,
    StoreKind, SurveyQuery, SurveyReport, TextSpan, WalkReport,
};
use sepia_services::packed::Rows;
use sepia_services::sqlite::{self, ReadConnection};
use sepia_services::{Pattern, Store, Stores, command_line, lock_holders, place_of, sha256, start_ticks};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The services of this process: the declared stores, read with the person's own rights.
#[derive(Debug)]
pub struct Native {
    stores: Stores,
    /// Names of the stores that are directories.
    directories: Vec<String>,
}

impl Native {
    /// The stores that a manifest declares, at the places that the environment gives them.
    pub fn of(manifest: &Manifest, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, DriverError> {
        Self::open(manifest, |request| match place_of(request, env) {
            Ok(place) => Ok(place.path),
            Err(e) => Err(DriverError::new(ErrorCode::Store, e.to_string())),
        })
    }

    /// The stores that a manifest declares, at these places, by name of the store; for tests
    /// of drivers. A declared store without a place opens as one that does not exist; a place of a
    /// store that is not declared is an error.
    pub fn at(manifest: &Manifest, places: &[(&str, &Path)]) -> Result<Self, DriverError> {
        if let Some((name, _)) = places.iter().find(|(name, _)| manifest.stores.iter().all(|s| s.name != *name)) {
            let message = format!("driver `{}` declares no store `{name}`", manifest.id);
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        Self::open(manifest, |request| {
            let place = places.iter().find(|(name, _)| request.name == *name);
            Ok(place.map(|(_, path)| path.to_path_buf()).unwrap_or_default())
        })
    }

    /// The stores themselves.
    pub(super) fn into_stores(self) -> Stores {
        self.stores
    }

    fn open(
        manifest: &Manifest,
        place: impl Fn(&sepia_ir::StoreRequest) -> Result<PathBuf, DriverError>,
    ) -> Result<Self, DriverError> {
        // The process has the person's own rights: a link that they made leads where they want.
        let open = |request| Ok(Store::open(request, &place(request)?, &|_| false)?);
        let stores = manifest.stores.iter().map(open).collect::<Result<_, DriverError>>()?;
        let directories = manifest.stores.iter().filter(|s| s.kind == StoreKind::Directory);
        Ok(Self { stores: Stores::new(stores), directories: directories.map(|s| s.name.clone()).collect() })
    }
}

impl Services for Native {
    fn directory(&self, store: &str) -> Option<PathBuf> {
        let known = self.directories.iter().any(|name| name == store);
        let store = self.stores.get(store).ok().filter(|store| known && store.exists())?;
        Some(store.place().to_owned())
    }

    fn location(&self, store: &str) -> Option<String> {
        let place = self.stores.get(store).ok()?.place();
        (!place.as_os_str().is_empty()).then(|| place.display().to_string())
    }

    fn walk(&self, store: &str, under: &str, depth: u32, suffixes: &[String]) -> Result<WalkReport, DriverError> {
        Ok(self.stores.get(store)?.walk(under, depth, suffixes)?)
    }

    fn read(&self, store: &str, path: &str, offset: u64, bytes: u32) -> Result<Vec<u8>, DriverError> {
        Ok(self.stores.get(store)?.read(path, offset, bytes)?)
    }

    fn survey(&self, store: &str, path: &str, query: &SurveyQuery) -> Result<SurveyReport, DriverError> {
        Ok(self.stores.get(store)?.survey(path, query)?)
    }

    fn project(&self, store: &str, path: &str, query: &Projection) -> Result<Rows, DriverError> {
        let packed = self.stores.get(store)?.project(path, query)?;
        Rows::unpack(packed).map_err(|e| DriverError::new(ErrorCode::Store, format!("the projection of {path}: {e}")))
    }

    fn find(&self, query: &SearchQuery, texts: &[&str], max: u32) -> Result<Vec<Vec<TextSpan>>, DriverError> {
        let pattern = Pattern::of(query)?;
        Ok(texts.iter().map(|text| pattern.find(text, max)).collect())
    }

    fn may_hold(&self, query: &SearchQuery, store: &str, paths: &[String]) -> Result<Vec<Option<bool>>, DriverError> {
        Ok(Pattern::of(query)?.may_hold(self.stores.get(store)?, paths)?)
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
        Ok(Pattern::of(query)?.lines(self.stores.get(store)?, path, within, offset, max)?)
    }

    fn sha256(&self, content: &[u8]) -> [u8; 32] {
        sha256(content)
    }

    fn database(&self, store: &str, path: &str) -> Result<Box<dyn Database>, DriverError> {
        Ok(Box::new(self.stores.get(store)?.database(path)?))
    }

    fn start_ticks(&self, pid: u32) -> Option<u64> {
        start_ticks(pid)
    }

    fn command_line(&self, pid: u32) -> Option<String> {
        command_line(pid)
    }

    fn lock_holders(&self, store: &str, paths: &[String]) -> Vec<Option<u32>> {
        self.stores.get(store).map_or_else(|_| vec![None; paths.len()], |store| lock_holders(store, paths))
    }

    fn log(&self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        };
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        let line: String = message.chars().take(4096).map(clean).collect();
        eprintln!("{level}: {line}");
    }
}

impl Database for ReadConnection {
    fn query(&self, sql: &str, parameters: &[SqlValue]) -> Result<Box<dyn Query>, DriverError> {
        Ok(Box::new(ReadConnection::query(self, sql, parameters)?))
    }
}

impl Query for sqlite::Rows {
    fn columns(&self) -> Vec<SqlColumn> {
        sqlite::Rows::columns(self).to_vec()
    }

    fn next(&mut self, max: usize) -> Result<Vec<Vec<SqlValue>>, DriverError> {
        Ok(sqlite::Rows::next(self, max)?)
    }
}
