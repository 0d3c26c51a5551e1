//! The rows of keys, and the row of one session.

use crate::atif;
use crate::gather::{elsewhere, gather, look};
use crate::heads::Heads;
use crate::place::{self, Source};
use crate::row::{Listed, listed};
use crate::session::{Found, describe, in_databases};
use sepia_ir::{DriverError, ErrorCode, FileEntry, Session, SessionRef, Summary, SummaryDetail, Warning};
use sepia_sdk::Host;
use sepia_sdk::metadata::{Members, capped};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The rows of these keys, in their order.
pub(crate) fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
    let mut rows = HashMap::new();
    for source in Source::DATABASES {
        let asked = keys.iter().filter_map(|key| Source::of_key(key)).filter(|(of, _)| *of == source);
        let ids: Vec<&str> = asked.map(|(_, id)| id).collect();
        if ids.is_empty() {
            continue;
        }
        let Some(opened) = place::open(host, source)? else { continue };
        if opened.schema.has_sessions() {
            let heads = Rc::new(Heads::read(&opened)?);
            let opened = Rc::new(opened);
            for (id, rows_of_id) in listed(&opened, &ids, &heads)? {
                let found = rows_of_id.into_iter().map(|listed| Found {
                    opened: Rc::clone(&opened),
                    heads: Rc::clone(&heads),
                    listed,
                    stored: None,
                });
                rows.insert((source, id), found.collect::<Vec<_>>());
            }
        }
    }
    let transcripts = if keys.iter().filter_map(|key| Source::of_key(key)).any(|(of, _)| of == Source::Transcript) {
        atif::files(host)?
    } else {
        HashMap::new()
    };
    keys.iter().map(|key| summary(host, key, &mut rows, &transcripts, detail)).collect()
}

fn summary(
    host: &Host,
    key: &str,
    rows: &mut HashMap<(Source, String), Vec<Found>>,
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
    let rows = rows.remove(&(source, id.to_owned())).unwrap_or_default();
    let inside = elsewhere(rows.iter().map(|row| &row.listed));
    for row in rows {
        let plain = plain(&row.listed);
        let elsewhere = if row.listed.inside.is_none() { inside.clone() } else { HashSet::new() };
        match if detail == SummaryDetail::Row { Ok(None) } else { counted(row, &elsewhere).map(Some) } {
            Ok(counted) => summary.sessions.push(counted.unwrap_or(plain)),
            // A row that can't be counted is a row still.
            Err(error) if error.code != ErrorCode::Busy => {
                summary.warnings.push(passed_over(&plain.id, &error));
                summary.sessions.push(plain);
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
    let mut metadata = Members::default();
    describe(row, &mut metadata);
    metadata.warnings(&capped(row.warnings.clone()));
    session.metadata = metadata.finish();
    session
}

/// A row with its counts.
fn counted(row: Found, elsewhere: &HashSet<i64>) -> Result<Session, DriverError> {
    let session = row.listed.session.clone();
    let mut gathered = look(row, 0)?;
    let stats = gathered.stats(elsewhere);
    let full = gathered.header(Some(&stats))?;
    Ok(Session { metadata: full.metadata, main_chain_id: full.main_chain_id, ..session })
}

/// The row of one session, with all that can be told without its nodes.
pub(crate) fn row(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
    let found = in_databases(host, |opened| {
        let Some(mut gathered) = gather(opened, session, 0)? else { return Ok(None) };
        let found = &gathered.found;
        let elsewhere = match (&found.listed.inside, found.heads.of(&found.listed.session.id)) {
            (Some(_), _) | (None, []) => HashSet::new(),
            (None, _) => {
                let id = found.listed.session.id.as_str();
                elsewhere(listed(&found.opened, &[id], &found.heads)?.remove(id).unwrap_or_default().iter())
            }
        };
        let stats = gathered.stats(&elsewhere);
        gathered.header(Some(&stats)).map(Some)
    })?;
    found.map_or_else(|| atif::open(host, session).map(|(header, _)| header), Ok)
}
