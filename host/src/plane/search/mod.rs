//! Searching the texts of all agents' sessions, the newest first.
//!
//! Every search looks at the stores themselves: there is no index that could be stale. Each
//! store is searched by several instances of its driver at once, in the order of what changed
//! last, so that what is found can be handed on in order while the search goes on, and a
//! search for a common word ends early.
//!
//! ```text
//! found   what is handed on
//! store   one store, call after call
//! order   what of all stores is certain to be the newest
//! ```

mod found;
mod order;
mod store;

pub use found::{FoundRow, Hit};

use super::error::PlaneError;
use super::listing::{ListRequest, RowCache, Wanted};
use super::row::SessionRow;
use super::{ErrorKind, Plane};
use order::Order;
use sepia_ir::{MOST_CONTEXT, MOST_HITS, SearchQuery};
use sepia_services::Pattern;
use std::ops::ControlFlow;
use std::sync::Arc;
use store::{Search, one_store};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// What to search for, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// What.
    pub query: SearchQuery,
    /// Sessions of this agent only.
    pub agent: Option<String>,
    /// Sessions of this directory only, by its literal or its real path.
    pub cwd: Option<String>,
    /// Sessions that were active at or after this time, epoch seconds.
    pub since: Option<f64>,
    /// The newest so many.
    pub limit: usize,
    /// Also what the agent itself no longer lists.
    pub with_hidden: bool,
    /// Leave out sessions that another session spawned.
    pub top_level: bool,
}

/// How a search ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchEnd {
    /// Rows that stand for something that could not be searched.
    pub warnings: Vec<SessionRow>,
    /// Whether it ended because there were as many sessions as were wanted.
    pub at_limit: bool,
}

/// Calls that may be done before what they found is looked at.
const AHEAD: usize = 64;

impl SearchRequest {
    /// Sessions, when nobody says how many.
    pub const LIMIT: u32 = 50;
    /// Hits of a session, when nobody says how many.
    pub const HITS: u32 = 3;
    /// Bytes on each side of a match, when nobody says how many.
    pub const CONTEXT: u32 = 80;

    /// Says what is wrong with it, in a sentence.
    pub fn check(&self) -> Result<(), PlaneError> {
        let invalid = |message: String| Err(PlaneError::new(ErrorKind::Invalid, message));
        let SearchQuery { hits, context, .. } = self.query;
        if !(1..=MOST_HITS).contains(&hits) {
            return invalid(format!("a search shows 1 to {MOST_HITS} hits of a session, not {hits}"));
        }
        if context > MOST_CONTEXT {
            return invalid(format!(
                "a search shows at most {MOST_CONTEXT} bytes on each side of a match, not {context}"
            ));
        }
        match Pattern::of(&self.query) {
            Ok(_) => Ok(()),
            Err(error) => invalid(error.to_string()),
        }
    }

    /// The rows that are wanted, by what a listing would show.
    fn wanted(&self) -> Wanted {
        Wanted::of(&ListRequest {
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            since: self.since,
            with_hidden: self.with_hidden,
            top_level: self.top_level,
            ..ListRequest::default()
        })
    }
}

impl Plane {
    /// Searches all stores. Sessions are given to `take` as they are certain to be the next
    /// ones, newest first, equal times by id, until there are enough or it says to break off. A
    /// store that fails is a row that says so, and hides no other.
    pub async fn search(
        &self,
        request: &SearchRequest,
        mut take: impl FnMut(FoundRow) -> ControlFlow<()>,
    ) -> Result<SearchEnd, PlaneError> {
        request.check()?;
        let readers = self.readers_for(request.agent.as_deref()).await?;
        let agents: Vec<&str> = readers.iter().map(|(about, _)| about.manifest.id.as_str()).collect();
        let registry = self.registry().await;
        let mut end = SearchEnd { at_limit: request.limit == 0, ..SearchEnd::default() };
        if end.at_limit {
            return Ok(end);
        }
        let search = Arc::new(Search {
            query: request.query.clone(),
            wanted: request.wanted(),
            since: request.since,
            scan: self.limits.listing,
        });
        let (sender, mut events) = mpsc::channel(AHEAD);
        // Dropped with this future, so that nothing works on for a search that is over.
        let mut stores = JoinSet::new();
        for driver in agents.iter().filter_map(|agent| registry.driver(agent)) {
            // Rows that are kept tell of most sessions whether they are in a directory.
            let places = registry.store_places(&driver.about().manifest.id);
            let rows = request.cwd.is_some().then(|| RowCache::of(&self.home, driver.about(), places, false));
            let (at, driver, search, sender) = (stores.len(), Arc::clone(driver), Arc::clone(&search), sender.clone());
            stores.spawn(async move { one_store(at, &driver, rows, &search, &sender).await });
        }
        drop(sender);
        let (overlay, warning) = self.overlay().view().await;
        end.warnings.extend(warning.map(|warning| SessionRow::of_warning(warning, "sepia")));
        let mut take = |mut found: FoundRow| {
            overlay.put_into(&mut found.row);
            take(found)
        };
        let mut order = Order::new(stores.len(), request.limit);
        let mut go_on = true;
        while go_on && let Some(event) = events.recv().await {
            end.warnings.extend(event.warnings);
            go_on = order.next(event.store, event.found, event.frontier).into_iter().all(|row| take(row).is_continue());
            end.at_limit = order.is_full();
            go_on &= !end.at_limit;
        }
        // What works on still has nobody to tell, and ends.
        drop(events);
        while let Some(ended) = stores.join_next().await {
            if let Err(error) = ended {
                tracing::error!("a search ended unexpectedly: {error}");
            }
        }
        // A store that ended without a last word holds nothing up.
        if go_on && order.rest().into_iter().any(|row| take(row).is_break()) {
            tracing::debug!("nobody takes what was found");
        }
        Ok(end)
    }
}
