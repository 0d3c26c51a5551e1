//! `bulk-files`: walking, reading and searching at native speed.

use super::{Reach, apart, contract::bulk_files::Host};
use crate::loader::Question;
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
        let question = self.trace.is_some().then(|| Question::Walk {
            store: store.clone(),
            under: under.clone(),
            depth,
            suffixes: suffixes.clone(),
        });
        let walked = self.trace.as_mut().zip(question.as_ref()).and_then(|(trace, question)| trace.walked(question));
        let report = match walked {
            Some(report) => report,
            None => match apart(|| self.store(&store)?.walk(&under, depth, &suffixes)) {
                Ok(report) => report,
                Err(error) => {
                    self.asked_something_else();
                    return Ok(Err(error.into()));
                }
            },
        };
        if let (Some(trace), Some(question)) = (&mut self.trace, question) {
            trace.walk(question, &report);
        }
        Ok(Ok(report))
    }

    async fn read(
        &mut self,
        store: String,
        path: String,
        offset: u64,
        bytes: u32,
    ) -> Result<Result<Vec<u8>, DriverError>> {
        // A hand-off would cost more than the read: at most 8 MiB, mostly of the page cache.
        self.asked(Question::File { store: store.clone(), path: path.clone() });
        let read = || Ok(self.store(&store)?.read(&path, offset, bytes)?);
        Ok(read())
    }

    async fn survey(
        &mut self,
        store: String,
        path: String,
        query: SurveyQuery,
    ) -> Result<Result<SurveyReport, DriverError>> {
        self.asked(Question::File { store: store.clone(), path: path.clone() });
        let survey = || Ok(self.store(&store)?.survey(&path, &query)?);
        Ok(apart(survey))
    }

    async fn project(
        &mut self,
        store: String,
        path: String,
        query: Projection,
    ) -> Result<Result<Vec<u8>, DriverError>> {
        self.asked(Question::File { store: store.clone(), path: path.clone() });
        let project = || Ok(self.store(&store)?.project(&path, &query)?);
        Ok(apart(project))
    }
}
