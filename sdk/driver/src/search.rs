//! Searching the sessions of a driver.

use crate::host::Host;
use crate::session_read::{SessionRead, Transcript};
use sepia_ir::{
    DriverError, ErrorCode, FoundSession, MessageNode, SearchQuery, SearchReport, Session, SessionRef, SummaryDetail,
    Warning,
};
use sepia_services::search::SessionSearch;

/// Nodes read at once.
const BATCH: usize = 256;

/// Searches one session: its title, and the nodes that `next` gives until there are none or
/// enough was found. `next` is not called when no node is looked at. None when nothing matches.
pub fn session(
    host: &Host,
    row: Session,
    query: &SearchQuery,
    next: &mut dyn FnMut() -> Result<Vec<MessageNode>, DriverError>,
) -> Result<Option<FoundSession>, DriverError> {
    let find = |texts: &[&str], max: u32| host.find(query, texts, max);
    let mut search = SessionSearch::begin(&row, query, &find)?;
    while search.wants_nodes() {
        let nodes = next()?;
        if nodes.is_empty() {
            break;
        }
        for node in &nodes {
            search.node(node, &find)?;
        }
    }
    let (hits, more) = search.finish();
    Ok((!hits.is_empty()).then_some(FoundSession { session: row, hits, more }))
}

/// Reads every session of these keys that [`SessionRead::may_hold`] does not rule out; the default
/// of [`SessionRead::search`].
pub fn by_reading<D: SessionRead>(
    host: &Host,
    keys: &[String],
    query: &SearchQuery,
) -> Result<Vec<SearchReport>, DriverError> {
    let candidates = D::may_hold(host, keys, query)?;
    let report = |(at, key): (usize, &String)| match candidates.get(at) {
        Some(false) => Ok(SearchReport::empty(key)),
        _ => of_key::<D>(host, key, query),
    };
    keys.iter().enumerate().map(report).collect()
}

fn of_key<D: SessionRead>(host: &Host, key: &String, query: &SearchQuery) -> Result<SearchReport, DriverError> {
    let mut report = SearchReport::empty(key);
    for summary in D::summaries(host, std::slice::from_ref(key), SummaryDetail::Row)? {
        report.warnings.extend(summary.warnings);
        for row in summary.sessions {
            let id = row.id.clone();
            match of_session::<D>(host, row, query) {
                Ok(found) => report.sessions.extend(found),
                // The query is at fault, or there is no time left for any other.
                Err(error) if error.code == ErrorCode::Invalid => return Err(error),
                // Gone since it was listed.
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => {
                    let message = format!("session `{id}` was not searched to its end: {error}");
                    report.warnings.push(Warning::new("not-searched", message));
                }
            }
        }
    }
    Ok(report)
}

fn of_session<D: SessionRead>(
    host: &Host,
    row: Session,
    query: &SearchQuery,
) -> Result<Option<FoundSession>, DriverError> {
    let reference = SessionRef { id: row.id.clone(), agent_id: None };
    let mut transcript = None;
    session(host, row, query, &mut || {
        let transcript = match &mut transcript {
            Some(open) => open,
            none => none.insert(D::open(host, &reference)?),
        };
        transcript.next(BATCH)
    })
}
