//! The merged list of all agents' sessions.
//!
//! Each store is scanned for cheap facts first; rows are then made by several instances of the
//! driver at once, the newest first, and no more of them than the request needs. What was made
//! once is kept until its entry changes.
//!
//! ```text
//! wanted     which rows a request takes
//! store      the rows of one store;  calls  made by several instances at once
//! row_cache  rows kept on disk;  keeping  while they are written down
//! ```

mod calls;
mod keeping;
mod row_cache;
mod store;
mod wanted;

use super::Plane;
use super::error::PlaneError;
use super::overlay::View;
use super::row::SessionRow;
use crate::loader::Fault;
pub(super) use keeping::Keeping;
pub(super) use row_cache::{KeptEntry, RowCache};
use sepia_ir::Warning;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use store::{OfStore, one_store};
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
    /// Sessions of this project only, by its id.
    pub project: Option<String>,
    /// Leave out sessions that the person put away.
    pub without_archived: bool,
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
    /// Newest first; equal times by id. Behind them, by id, those that were made here and that no
    /// store has yet. Rows that stand for something unreadable come last.
    pub rows: Vec<SessionRow>,
}

impl Plane {
    /// Lists sessions. A store that fails is a row that says so, and hides no other.
    pub async fn list(&self, request: &ListRequest) -> Result<Listing, PlaneError> {
        // What the list before learned is not to be made again.
        self.keeping.over().await;
        let readers = self.readers_for(request.agent.as_deref()).await?;
        let agents: Vec<String> = readers.iter().map(|(about, _)| about.manifest.id.clone()).collect();
        let registry = self.registry().await;
        let wanted = Arc::new(Wanted::of(request));
        let (overlay, warning) = self.overlay().view().await;
        let overlay = Arc::new(overlay);
        let listings = agents.iter().filter_map(|agent| registry.driver(agent)).map(|driver| {
            let (driver, wanted, time) = (Arc::clone(driver), Arc::clone(&wanted), self.limits.listing);
            let overlay = Arc::clone(&overlay);
            let about = driver.about();
            let places = registry.store_places(&about.manifest.id);
            let cache = RowCache::of(&self.home, about, places, request.with_stats);
            tokio::spawn(async move {
                let in_time = tokio::time::timeout(time, one_store(&driver, cache, &wanted, &overlay)).await;
                let agent = &driver.about().manifest.id;
                (agent.clone(), in_time.unwrap_or_else(|_| OfStore::unreadable(late(agent, time))))
            })
        });
        let mut rows = Vec::new();
        let mut warnings: Vec<_> =
            warning.map(|warning| SessionRow::of_warning(warning, "sepia")).into_iter().collect();
        let mut met = HashMap::new();
        for listing in listings.collect::<Vec<_>>() {
            let (agent, of_store) = listing.await.map_err(|e| {
                PlaneError::new(super::ErrorKind::Internal, "a listing ended unexpectedly").because(e.to_string())
            })?;
            rows.extend(of_store.rows);
            warnings.extend(of_store.warnings);
            met.insert(agent, of_store.pending);
            if let Some(writing) = of_store.writing {
                self.keeping.begun(writing);
            }
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
        let limit = request.limit.unwrap_or(usize::MAX);
        rows.truncate(limit);
        for row in &mut rows {
            overlay.put_into(row);
        }
        if rows.len() < limit {
            rows.extend(not_in_a_store(&overlay, &wanted, &met));
            if *request == (ListRequest { with_locks: request.with_locks, ..ListRequest::default() }) {
                // Where the overlay could not be written, they are known here alone.
                rows.extend(self.live_rows(&rows));
            }
            rows.truncate(limit);
        }
        for row in &mut rows {
            self.put_live_into(row);
        }
        rows.extend(warnings);
        Ok(Listing { rows })
    }

    /// Waits until what lists learned so far is written down. A list answers before it is.
    pub async fn rows_kept(&self) {
        self.keeping.over().await;
    }
}

/// The rows of sessions that were made here and that no store has; `met` are those that one has,
/// by agent.
fn not_in_a_store(overlay: &View, wanted: &Wanted, met: &HashMap<String, HashSet<String>>) -> Vec<SessionRow> {
    let (request, mut real) = (&wanted.request, HashMap::new());
    overlay.pending_rows(store::seconds_now(), |agent, facts| {
        request.agent.as_deref().is_none_or(|wanted| wanted == agent)
            && !met.get(agent).is_some_and(|met| met.contains(&facts.id))
            && wanted.takes(facts, &mut real)
            && wanted.takes_marked(overlay, agent, &facts.id)
    })
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
