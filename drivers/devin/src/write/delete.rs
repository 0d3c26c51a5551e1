//! All that belongs to a session, taken away: rows of the databases, and the files beside them
//! that have its name or that its messages name. Sub-agents that are sessions of their own go with it.

use super::shape::{Shape, quoted};
use super::target::{Target, place_of};
use super::undo::{self, Deleted};
use crate::atif;
use crate::heads::Heads;
use crate::place::{self, FOLDER, Source, TRANSCRIPTS};
use crate::session::{find, in_databases};
use crate::value::{Columns, list, text};
use sepia_ir::{Artifact, DeleteOutcome, DriverError, ErrorCode, SessionRef};
use sepia_sdk::{Database, Host};
use std::collections::BTreeMap;

/// Where the files of sessions that are held lie.
const LOCKS: &str = "session_locks";
/// Where what was said before a compaction is kept.
const SUMMARIES: &str = "summaries";

/// What belongs to a session.
struct Belongings {
    /// Ids of the sessions that go, with the database that each is in.
    sessions: Vec<(Source, String)>,
    rows: Vec<Artifact>,
    files: Vec<Artifact>,
}

pub(crate) fn plan(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
    let Belongings { mut rows, files, .. } = belongings(host, session)?;
    rows.extend(files);
    Ok(rows)
}

pub(crate) fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
    let Belongings { sessions, rows, files } = belongings(host, session)?;
    let mut by_source: BTreeMap<&'static str, (Source, Vec<&str>)> = BTreeMap::new();
    for (source, id) in &sessions {
        by_source.entry(source.file()).or_insert((*source, Vec::new())).1.push(id);
    }
    let mut outcome = DeleteOutcome { removed: Vec::new(), failed: Vec::new(), undo: Vec::new() };
    // The rows are deleted and the files are gone before the rows are gone for good: what fails
    // fails while all can still stay.
    let mut open = Vec::new();
    let mut deleted = Vec::new();
    for (source, ids) in by_source.into_values() {
        let target = Target::open(host, source)?;
        target.database.begin()?;
        for id in &ids {
            let tables = target.copy(host, id, Some(&ids))?;
            deleted.push(Deleted { source, id: (*id).to_owned(), tables });
        }
        ids.iter().try_for_each(|id| target.delete(id, true))?;
        open.push(target);
    }
    for file in files {
        match host.discard(&file.store, &file.place) {
            Ok(bytes) => outcome.removed.push(Artifact { bytes, ..file }),
            // Somebody else took it away.
            Err(error) if error.code == ErrorCode::NotFound => {}
            Err(error) => outcome.failed.push((file, error.message)),
        }
    }
    let mut stays = None;
    for target in open {
        if stays.is_none() {
            stays = target.database.commit().err();
        }
    }
    match stays {
        None => {
            outcome.removed.splice(0..0, rows);
            outcome.undo = undo::bytes(deleted);
        }
        Some(error) if outcome.removed.is_empty() => return Err(error),
        Some(error) => outcome.failed.extend(rows.into_iter().map(|row| (row, error.message.clone()))),
    }
    Ok(outcome)
}

pub(crate) fn undelete(host: &Host, undo: &[u8]) -> Result<(), DriverError> {
    let deleted = undo::read(undo)?;
    for source in Source::DATABASES {
        let of_source: Vec<&Deleted> = deleted.iter().filter(|deleted| deleted.source == source).collect();
        if of_source.is_empty() {
            continue;
        }
        let target = Target::open(host, source)?;
        target.all_or_nothing(|| {
            for Deleted { id, tables, .. } in of_source {
                if target.has(id)? {
                    let message = format!("there is a session `{id}` again; delete it before the old one comes back");
                    return Err(DriverError::new(ErrorCode::Conflict, message));
                }
                target.put_back(tables)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn belongings(host: &Host, session: &SessionRef) -> Result<Belongings, DriverError> {
    let Some(found) = in_databases(host, |opened| find(opened, session))? else {
        return transcript_alone(host, session);
    };
    if found.listed.inside.is_some() {
        let message =
            "a sub-agent whose messages are among its session's goes only together with it; delete that session";
        return Err(DriverError::new(ErrorCode::Unsupported, message));
    }
    let id = found.listed.session.id.clone();
    drop(found);
    let mut belongings = Belongings { sessions: Vec::new(), rows: Vec::new(), files: Vec::new() };
    let mut named = Vec::new();
    for source in Source::DATABASES {
        let Some(opened) = place::open(host, source)? else { continue };
        if !opened.schema.has_sessions() {
            continue;
        }
        let database = &*opened.database;
        let shape = Shape::probe(database)?;
        let ids = family(&id, &Heads::read(&opened)?);
        for id in &ids {
            let rows = rows(database, &shape, source, id)?;
            if rows.iter().any(|row| row.place.starts_with("sessions:")) {
                belongings.sessions.push((source, id.clone()));
                belongings.rows.extend(rows);
            }
        }
        if opened.schema.has_nodes() {
            named.extend(texts_that_name_files(database, &ids)?.into_iter().map(|text| (source, text)));
        }
    }
    let ids: Vec<String> = belongings.sessions.iter().map(|(_, id)| id.clone()).collect();
    belongings.files = files(host, &ids, &named)?;
    Ok(belongings)
}

/// A session that is only a transcript.
fn transcript_alone(host: &Host, session: &SessionRef) -> Result<Belongings, DriverError> {
    let ids = match session.agent_id {
        None if place::is_id(&session.id) && atif::files(host)?.contains_key(&session.id) => vec![session.id.clone()],
        _ => return Err(DriverError::unknown_session(&session.id)),
    };
    Ok(Belongings { sessions: Vec::new(), rows: Vec::new(), files: files(host, &ids, &[])? })
}

/// A session and the sub-agents that are sessions of their own, and theirs.
fn family(id: &str, heads: &Heads) -> Vec<String> {
    let mut ids = vec![id.to_owned()];
    let mut at = 0;
    while let Some(parent) = ids.get(at).cloned() {
        let mut children: Vec<&String> =
            heads.parents.iter().filter(|(_, noted)| noted.session == parent).map(|(child, _)| child).collect();
        children.sort_unstable();
        for child in children {
            if !ids.contains(child) {
                ids.push(child.clone());
            }
        }
        at += 1;
    }
    ids
}

/// The rows of a session, one entry a table.
fn rows(database: &dyn Database, shape: &Shape, source: Source, id: &str) -> Result<Vec<Artifact>, DriverError> {
    let mut artifacts = Vec::new();
    for (table, column) in shape.of_session() {
        let lengths: Vec<String> =
            shape.columns(table).iter().map(|name| format!("COALESCE(LENGTH({}), 0)", quoted(name))).collect();
        let sql = format!("SELECT COUNT(*), SUM({}) FROM {} WHERE {column} = ?", lengths.join(" + "), quoted(table));
        let row = database.rows(&sql, &[text(id)])?.into_iter().next().unwrap_or_default();
        let mut row = Columns::of(row);
        let (count, bytes) = (row.whole().unwrap_or_default(), row.whole().unwrap_or_default());
        if count > 0 {
            artifacts.push(Artifact {
                place: format!("{table}:{id}"),
                store: place_of(source).0.to_owned(),
                bytes: u64::try_from(bytes).unwrap_or_default(),
            });
        }
    }
    Ok(artifacts)
}

/// Messages of these sessions in which files of summaries may be named.
fn texts_that_name_files(database: &dyn Database, ids: &[String]) -> Result<Vec<String>, DriverError> {
    let sql = "SELECT chat_message FROM message_nodes WHERE session_id IN (SELECT value FROM json_each(?)) \
               AND instr(chat_message, 'summaries/') > 0 AND instr(chat_message, '\"role\":\"system\"') > 0";
    let rows = database.rows(sql, &[list(ids)])?;
    Ok(rows.into_iter().filter_map(|row| Columns::of(row).text()).collect())
}

/// Whether a message of another session names a file.
fn is_named_elsewhere(host: &Host, source: Source, ids: &[String], path: &str) -> Result<bool, DriverError> {
    let Some(opened) = place::open(host, source)? else { return Ok(false) };
    let sql = "SELECT 1 FROM message_nodes WHERE session_id NOT IN (SELECT value FROM json_each(?)) \
               AND instr(chat_message, ?) > 0 LIMIT 1";
    Ok(!opened.database.rows(sql, &[list(ids), text(path)])?.is_empty())
}

/// Files of these sessions: those with the name of one, and summaries that only they name.
fn files(host: &Host, ids: &[String], named: &[(Source, String)]) -> Result<Vec<Artifact>, DriverError> {
    let mut files = Vec::new();
    let is_of_session = |path: &str, suffix: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.strip_suffix(suffix).is_some_and(|stem| ids.iter().any(|id| id == stem))
    };
    let artifact =
        |file: sepia_ir::FileEntry| Artifact { place: file.path, store: FOLDER.to_owned(), bytes: file.bytes };
    for (folder, suffix) in [(TRANSCRIPTS, ".json"), (LOCKS, ".lock")] {
        let found = walked(host, folder, 0, suffix)?.into_iter().filter(|file| is_of_session(&file.path, suffix));
        files.extend(found.map(artifact));
    }
    for file in walked(host, SUMMARIES, 2, ".md")? {
        let by_name = is_of_session(&file.path, ".md") && file.path.matches('/').count() == 1;
        let by_text = named.iter().find(|(_, text)| text.contains(&file.path));
        let belongs = match by_text {
            Some((source, _)) => !is_named_elsewhere(host, *source, ids, &file.path)?,
            None => false,
        };
        if by_name || belongs {
            files.push(artifact(file));
        }
    }
    let (locks, mut others): (Vec<Artifact>, Vec<Artifact>) =
        files.into_iter().partition(|file| file.place.starts_with(LOCKS));
    // The file of a lock that is held is the holder's.
    let paths: Vec<String> = locks.iter().map(|file| file.place.clone()).collect();
    let holders = if paths.is_empty() { Vec::new() } else { host.lock_holders(FOLDER, &paths) };
    let free = locks.into_iter().zip(holders).filter(|(_, holder)| holder.is_none()).map(|(file, _)| file);
    others.extend(free);
    Ok(others)
}

/// Files below a folder; none when there is no such folder.
fn walked(host: &Host, folder: &str, depth: u32, suffix: &str) -> Result<Vec<sepia_ir::FileEntry>, DriverError> {
    match host.walk(FOLDER, folder, depth, &[suffix.to_owned()]) {
        Ok(found) => Ok(found.files),
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
