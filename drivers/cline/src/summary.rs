//! Rows of a list.

use crate::about::Parts;
use crate::database::Index;
use crate::gather::gather;
use crate::place::Kept;
use crate::session;
use crate::task;
use sepia_ir::{DriverError, ErrorCode, Session, Summary, SummaryDetail, Warning};
use sepia_sdk::Host;

/// The rows of these keys.
pub(crate) fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Vec<Summary> {
    let kept: Vec<Option<Kept>> = keys.iter().map(|key| Kept::of(key)).collect();
    // The index is asked once for all rows that may be needed, when one is.
    let ids = kept.iter().flatten().filter(|kept| !matches!(kept, Kept::Task { .. })).map(Kept::id).collect();
    let index = Index::new(host, ids);
    let tasks = task::Lists::new(host);
    keys.iter()
        .zip(kept)
        .map(|(key, kept)| {
            let mut summary = Summary { key: key.clone(), sessions: Vec::new(), warnings: Vec::new() };
            let Some(kept) = kept else { return summary };
            match row(host, &kept, &index, &tasks, detail) {
                Ok(row) => summary.sessions.extend(row),
                Err(error) if error.code == ErrorCode::NotFound => {}
                Err(error) => {
                    let message = format!("session `{}` is not listed: {error}", kept.id());
                    summary.warnings.push(Warning::new("unreadable-session", message));
                }
            }
            summary
        })
        .collect()
}

fn row(
    host: &Host,
    kept: &Kept,
    index: &Index,
    tasks: &task::Lists,
    detail: SummaryDetail,
) -> Result<Option<Session>, DriverError> {
    if let (SummaryDetail::Row, Kept::Folder(id)) = (detail, kept)
        && let Some(row) = session::of_manifest(host, id)
    {
        return Ok(Some(row));
    }
    let Some(mut found) = session::find(host, kept, index, tasks)? else { return Ok(None) };
    if detail == SummaryDetail::Stats {
        found.prepare(host)?;
        let mut gathered = match &found.source {
            Some(source) => gather(host, source, false)?,
            None => crate::gather::Gathered::default(),
        };
        found.with_messages(&mut gathered);
    }
    Ok(Some(found.finish(Parts::default())))
}
