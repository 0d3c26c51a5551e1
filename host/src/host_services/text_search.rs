//! `text-search`: where a query matches, and which files and lines may hold a match.

use super::{Reach, apart, contract::text_search::Host};
use sepia_ir::{CandidateLines, DriverError, SearchQuery, TextSpan};
use sepia_services::Pattern;
use wasmtime::Result;

impl Host for Reach {
    async fn find(
        &mut self,
        query: SearchQuery,
        texts: Vec<String>,
        max: u32,
    ) -> Result<Result<Vec<Vec<TextSpan>>, DriverError>> {
        // The texts of one node: a hand-off would cost more than looking at them.
        let find = |pattern: &Pattern| texts.iter().map(|text| pattern.find(text, max)).collect();
        Ok(Pattern::of(&query).map(|pattern| find(&pattern)).map_err(DriverError::from))
    }

    async fn may_hold(
        &mut self,
        query: SearchQuery,
        store: String,
        paths: Vec<String>,
    ) -> Result<Result<Vec<Option<bool>>, DriverError>> {
        let look = || Ok(Pattern::of(&query)?.may_hold(self.store(&store)?, &paths)?);
        Ok(apart(look))
    }

    async fn lines(
        &mut self,
        query: SearchQuery,
        store: String,
        path: String,
        within: Vec<String>,
        offset: u64,
        max: u32,
    ) -> Result<Result<CandidateLines, DriverError>> {
        let look = || Ok(Pattern::of(&query)?.lines(self.store(&store)?, &path, &within, offset, max)?);
        Ok(apart(look))
    }
}
