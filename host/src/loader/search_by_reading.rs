//! Searching the sessions of a driver that does not search itself: all of them are read.

use super::{Fault, FaultKind, SessionRead};
use sepia_ir::{DriverError, FoundSession, SearchQuery, SearchReport, Session, SessionRef, SummaryDetail, Warning};
use sepia_services::Pattern;
use sepia_services::search::SessionSearch;
use std::convert::Infallible;

const CALL: &str = "session-search.search";

/// What the sessions of these keys hold, one report a key, in the same order.
pub(super) async fn search(
    driver: &str,
    reader: &dyn SessionRead,
    keys: &[String],
    query: &SearchQuery,
) -> Result<Vec<SearchReport>, Fault> {
    let pattern = Pattern::of(query).map_err(|e| Fault::said(driver, CALL, DriverError::from(e)))?;
    let mut reports = Vec::with_capacity(keys.len());
    for summary in reader.summaries(keys.to_vec(), SummaryDetail::Row).await? {
        let mut report = SearchReport { warnings: summary.warnings, ..SearchReport::empty(&summary.key) };
        for row in summary.sessions {
            let id = row.id.clone();
            match of_session(reader, row, query, &pattern).await {
                Ok(found) => report.sessions.extend(found),
                // Gone since it was listed.
                Err(fault) if fault.is_not_found() => {}
                // What has no time for this session has none for the others.
                Err(fault) if matches!(fault.kind, FaultKind::Time | FaultKind::Start) => return Err(fault),
                Err(fault) => {
                    let message = format!("session `{id}` was not searched to its end: {fault}");
                    report.warnings.push(Warning::new("not-searched", message));
                }
            }
        }
        reports.push(report);
    }
    Ok(reports)
}

async fn of_session(
    reader: &dyn SessionRead,
    row: Session,
    query: &SearchQuery,
    pattern: &Pattern,
) -> Result<Option<FoundSession>, Fault> {
    let reference = SessionRef { id: row.id.clone(), agent_id: None };
    let find =
        |texts: &[&str], max: u32| Ok::<_, Infallible>(texts.iter().map(|text| pattern.find(text, max)).collect());
    let Ok(mut search) = SessionSearch::begin(&row, query, &find);
    if search.wants_nodes() {
        let mut transcript = reader.open(reference).await?;
        while let Some(nodes) = transcript.batches.recv().await.transpose()? {
            for node in &nodes {
                let Ok(()) = search.node(node, &find);
            }
            if !search.wants_nodes() {
                break;
            }
        }
    }
    let (hits, more) = search.finish();
    Ok((!hits.is_empty()).then_some(FoundSession { session: row, hits, more }))
}
