//! `bulk-files`: walking, reading and searching at native speed.

use super::{Reach, apart, contract::bulk_files::Host};
use crate::loader::Question;
use sepia_ir::{DriverError, Projection, SurveyQuery, SurveyReport, WalkReport};
use sepia_services::{ServiceError, Store};
use wasmtime::Result;

/// Looking through a smaller file takes less than handing other tasks to another thread.
const SMALL: u64 = 1 << 20;

impl Reach {
    fn asked_of_file(&mut self, store: &str, path: &str) {
        if self.trace.is_some() {
            self.asked(Question::File { store: store.to_owned(), path: path.to_owned() });
        }
    }

    /// Looks through a file, apart when that takes long.
    fn of_file<R>(
        &self,
        store: &str,
        path: &str,
        look: impl FnOnce(&Store) -> std::result::Result<R, ServiceError>,
    ) -> std::result::Result<R, DriverError> {
        let store = self.store(store)?;
        let looked = if store.size(path)? < SMALL { look(store) } else { apart(|| look(store)) };
        Ok(looked?)
    }
}

impl Host for Reach {
    async fn walk(
        &mut self,
        store: String,
        under: String,
        depth: u32,
        suffixes: Vec<String>,
    ) -> Result<Result<WalkReport, DriverError>> {
        let question = self.trace.is_some().then(|| Question::Walk {
            store: store.clone(),
            under: under.clone(),
            depth,
            suffixes: suffixes.clone(),
        });
        let walked = self.trace.as_mut().zip(question.as_ref()).and_then(|(trace, question)| trace.walked(question));
        let walked = match walked {
            Some(walked) => walked,
            None => match apart(|| self.store(&store)?.walk(&under, depth, &suffixes)) {
                Ok(report) if question.is_none() => return Ok(Ok(report)),
                Ok(report) => report.into(),
                Err(error) => {
                    self.asked_something_else();
                    return Ok(Err(error.into()));
                }
            },
        };
        if let (Some(trace), Some(question)) = (&mut self.trace, question) {
            trace.walk(question, &walked);
        }
        Ok(Ok(walked.report))
    }

    async fn read(
        &mut self,
        store: String,
        path: String,
        offset: u64,
        bytes: u32,
    ) -> Result<Result<Vec<u8>, DriverError>> {
        // A hand-off would cost more than the read: at most 8 MiB, mostly of the page cache.
        self.asked_of_file(&store, &path);
        let read = || Ok(self.store(&store)?.read(&path, offset, bytes)?);
        Ok(read())
    }

    async fn survey(
        &mut self,
        store: String,
        path: String,
        query: SurveyQuery,
    ) -> Result<Result<SurveyReport, DriverError>> {
        self.asked_of_file(&store, &path);
        Ok(self.of_file(&store, &path, |store| store.survey(&path, &query)))
    }

    async fn project(
        &mut self,
        store: String,
        path: String,
        query: Projection,
    ) -> Result<Result<Vec<u8>, DriverError>> {
        self.asked_of_file(&store, &path);
        Ok(self.of_file(&store, &path, |store| store.project(&path, &query)))
    }
}
