//! The merged list of all agents' sessions.
//!
//! Each store is scanned for cheap facts first; rows are then made by several instances of the
//! driver at once, the newest first, and no more of them than the request needs. What was made
//! once is kept until its entry changes.
//!
//! ```text
//! wanted     which rows a request takes
//! store      the rows of one store;  calls  made by several instances at once
//! row_cache  rows kept on disk
//! ```

mod calls;
mod row_cache;
mod store;
mod wanted;

use super::Plane;
use super::error::PlaneError;
use super::row::SessionRow;
use crate::loader::Fault;
pub(super) use row_cache::{KeptEntry, RowCache};
use sepia_ir::Warning;
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;
use store::one_store;
pub(super) use wanted::Wanted;

/// What to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// Sessions of this agent only.
    pub agent: Option<String>,
    /// Sessions of this directory only, by its literal or its real path.
    pub cwd: Option<String>,
    /// Sessions that were active at or after this time, epoch seconds.
    pub since: Option<f64>,
    /// The newest so many.
    pub limit: Option<usize>,
    /// Also what the agent itself no longer lists.
    pub with_hidden: bool,
    /// Leave out sessions that another session spawned.
    pub top_level: bool,
    /// Find out which sessions a running agent holds.
    pub with_locks: bool,
    /// Count messages, tools and tokens.
    pub with_stats: bool,
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Newest first; equal times by id. Rows that stand for something unreadable come last.
    pub rows: Vec<SessionRow>,
}

impl Plane {
    /// Lists sessions. A store that fails is a row that says so, and hides no other.
    pub async fn list(&self, request: &ListRequest) -> Result<Listing, PlaneError> {
        let readers = self.readers_for(request.agent.as_deref()).await?;
        let agents: Vec<String> = readers.iter().map(|(about, _)| about.manifest.id.clone()).collect();
        let registry = self.registry().await;
        let wanted = Arc::new(Wanted::of(request));
        let listings = agents.iter().filter_map(|agent| registry.driver(agent)).map(|driver| {
            let (driver, wanted, time) = (Arc::clone(driver), Arc::clone(&wanted), self.limits.listing);
            let about = driver.about();
            let places = registry.store_places(&about.manifest.id);
            let cache = RowCache::of(&self.home, about, places, request.with_stats);
            tokio::spawn(async move {
                let in_time = tokio::time::timeout(time, one_store(&driver, cache, &wanted)).await;
                in_time.unwrap_or_else(|_| (Vec::new(), vec![late(&driver.about().manifest.id, time)]))
            })
        });
        let (mut rows, mut warnings) = (Vec::new(), Vec::new());
        for listing in listings.collect::<Vec<_>>() {
            let (some, told) = listing.await.map_err(|e| {
                PlaneError::new(super::ErrorKind::Internal, "a listing ended unexpectedly").because(e.to_string())
            })?;
            rows.extend(some);
            warnings.extend(told);
        }
        if *request
            == (ListRequest {
                with_locks: request.with_locks,
                with_stats: request.with_stats,
                ..ListRequest::default()
            })
        {
            // Only a list of all tells which of two sessions with one id is the first.
            self.whereabouts.seen(rows.iter().map(|row| (row.id.as_str(), row.agent.as_str())));
        }
        if agents.len() > 1 {
            sort(&mut rows);
        }
        rows.truncate(request.limit.unwrap_or(usize::MAX));
        rows.extend(warnings);
        Ok(Listing { rows })
    }
}

/// Newest first; the order is total, so that pages neither repeat nor skip.
fn sort(rows: &mut [SessionRow]) {
    // A stable sort of lists that are sorted each: little more than a merge.
    rows.sort_by(newest_first);
}

/// The order of rows.
pub(super) fn newest_first(a: &SessionRow, b: &SessionRow) -> Ordering {
    b.activity.total_cmp(&a.activity).then_with(|| a.id.cmp(&b.id)).then_with(|| a.agent.cmp(&b.agent))
}

/// The row of a store that was not listed in time.
fn late(agent: &str, time: Duration) -> SessionRow {
    let message = format!(
        "the sessions of {agent} could not be listed within {} ms; SEPIA_LIST_TIMEOUT_MS gives more time",
        time.as_millis()
    );
    SessionRow::of_warning(Warning::new("late", message), agent)
}

pub(super) fn warning_of(fault: &Fault) -> Warning {
    Warning::new(fault.kind.name(), fault.to_string())
}
