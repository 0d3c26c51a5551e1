//! The rows of keys, and the row of one session.

use crate::atif;
use crate::heads::Heads;
use crate::metadata::Object;
use crate::place::{self, Opened, Source};
use crate::row::{Listed, listed};
use crate::session::{Found, capped, describe, find};
use crate::transcript::{elsewhere, gather};
use sepia_ir::{DriverError, ErrorCode, FileEntry, Session, SessionRef, Summary, SummaryDetail, Warning};
use sepia_sdk::Host;
use std::collections::HashMap;

/// The rows of these keys, in their order.
pub(crate) fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
    let mut rows: HashMap<(Source, String), Vec<Listed>> = HashMap::new();
    for source in Source::DATABASES {
        let asked = keys.iter().filter_map(|key| Source::of_key(key)).filter(|(of, _)| *of == source);
        let ids: Vec<&str> = asked.map(|(_, id)| id).collect();
        if ids.is_empty() {
            continue;
        }
        let Some(opened) = place::open(host, source)? else { continue };
        if opened.schema.has_sessions() {
            let heads = Heads::read(&opened)?;
            let found = listed(&opened, &ids, &heads)?;
            rows.extend(found.into_iter().map(|(id, rows)| ((source, id), rows)));
        }
    }
    let transcripts = if keys.iter().filter_map(|key| Source::of_key(key)).any(|(of, _)| of == Source::Transcript) {
        atif::files(host)?
    } else {
        HashMap::new()
    };
    keys.iter().map(|key| summary(host, key, &rows, &transcripts, detail)).collect()
}

fn summary(
    host: &Host,
    key: &str,
    rows: &HashMap<(Source, String), Vec<Listed>>,
    transcripts: &HashMap<String, FileEntry>,
    detail: SummaryDetail,
) -> Result<Summary, DriverError> {
    let mut summary = Summary { key: key.to_owned(), sessions: Vec::new(), warnings: Vec::new() };
    let Some((source, id)) = Source::of_key(key) else { return Ok(summary) };
    if source == Source::Transcript {
        match transcripts.get(id).map(|file| atif::read(host, id, file)) {
            Some(Ok((session, _))) => summary.sessions.push(Session { prompt_history: Vec::new(), ..session }),
            Some(Err(error)) if error.code != ErrorCode::NotFound => {
                summary.warnings.push(passed_over(id, &error).in_file(transcripts[id].path.clone()));
            }
            Some(Err(_)) | None => {}
        }
        return Ok(summary);
    }
    let rows = rows.get(&(source, id.to_owned())).map_or(&[][..], Vec::as_slice);
    for row in rows {
        let session = match detail {
            SummaryDetail::Row => Ok(plain(row)),
            SummaryDetail::Stats => counted(host, source, row, rows),
        };
        match session {
            Ok(session) => summary.sessions.push(session),
            // A row that can't be counted is a row still.
            Err(error) if error.code != ErrorCode::Busy => {
                summary.warnings.push(passed_over(&row.session.id, &error));
                summary.sessions.push(plain(row));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(summary)
}

fn passed_over(id: &str, error: &DriverError) -> Warning {
    let shown: String = id.chars().filter(|c| !c.is_control()).take(80).collect();
    Warning::new("unreadable-session", format!("the messages of session `{shown}` can't be read: {error}"))
}

/// A row as its columns tell it.
fn plain(row: &Listed) -> Session {
    let mut session = row.session.clone();
    let mut metadata = Object::default();
    describe(row, &mut metadata);
    metadata.warnings(&capped(row.warnings.clone()));
    session.metadata = metadata.finish();
    session
}

/// A row with its counts.
fn counted(host: &Host, source: Source, row: &Listed, rows: &[Listed]) -> Result<Session, DriverError> {
    let gone = || DriverError::unknown_session(&row.session.id);
    let opened: Opened = place::open(host, source)?.ok_or_else(gone)?;
    let heads = Heads::default();
    let mut gathered = gather(Found { opened, heads, listed: row.clone() }, 0)?;
    let stats = gathered.stats(&if row.inside.is_none() { elsewhere(rows) } else { std::collections::HashSet::new() });
    let full = gathered.header(Some(&stats))?;
    Ok(Session { metadata: full.metadata, main_chain_id: full.main_chain_id, ..row.session.clone() })
}

/// The row of one session, with all that can be told without its nodes.
pub(crate) fn row(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
    let Some(found) = find(host, session)? else {
        return atif::open(host, session).map(|(header, _)| header);
    };
    let rows = match &found.listed.inside {
        Some(_) => Vec::new(),
        None => {
            let id = found.listed.session.id.as_str();
            listed(&found.opened, &[id], &found.heads)?.remove(id).unwrap_or_default()
        }
    };
    let mut gathered = gather(found, 0)?;
    let stats = gathered.stats(&elsewhere(&rows));
    gathered.header(Some(&stats))
}
