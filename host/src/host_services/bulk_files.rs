//! `bulk-files`: walking, reading and searching at native speed.

use super::{Reach, apart, contract::bulk_files::Host};
use sepia_ir::{DriverError, Projection, SurveyQuery, SurveyReport, WalkReport};
use wasmtime::Result;

impl Host for Reach {
    async fn walk(
        &mut self,
        store: String,
        under: String,
        depth: u32,
        suffixes: Vec<String>,
    ) -> Result<Result<WalkReport, DriverError>> {
        let walk = || Ok(self.store(&store)?.walk(&under, depth, &suffixes)?);
        Ok(apart(walk))
    }

    async fn read(
        &mut self,
        store: String,
        path: String,
        offset: u64,
        bytes: u32,
    ) -> Result<Result<Vec<u8>, DriverError>> {
        // A hand-off would cost more than the read: at most 8 MiB, mostly of the page cache.
        let read = || Ok(self.store(&store)?.read(&path, offset, bytes)?);
        Ok(read())
    }

    async fn survey(
        &mut self,
        store: String,
        path: String,
        query: SurveyQuery,
    ) -> Result<Result<SurveyReport, DriverError>> {
        let survey = || Ok(self.store(&store)?.survey(&path, &query)?);
        Ok(apart(survey))
    }

    async fn project(
        &mut self,
        store: String,
        path: String,
        query: Projection,
    ) -> Result<Result<Vec<u8>, DriverError>> {
        let project = || Ok(self.store(&store)?.project(&path, &query)?);
        Ok(apart(project))
    }
}
