//! What readers ask the database.

use super::fact::{Fact, OpenTurn, Page, SessionKey};
use super::owner::Owner;
use super::storing::{count, stored};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Most facts of one page, whatever was asked for.
const MOST_FACTS: usize = 10_000;
/// A page ends behind the fact that fills it to this, bytes.
const MOST_BYTES: usize = 16 << 20;

/// A page of a session.
pub(super) fn page(connection: &Connection, session: &SessionKey, after: u64, limit: usize) -> rusqlite::Result<Page> {
    let standing: Option<(i64, u64, u32)> = connection
        .prepare_cached("SELECT number, last, generation FROM sessions WHERE agent = ?1 AND id = ?2")?
        .query_row([&session.agent, &session.id], |row| Ok((row.get(0)?, count(row, 1)?, row.get(2)?)))
        .optional()?;
    let Some((number, last, generation)) = standing else {
        let generation = connection.prepare_cached("SELECT generation FROM log")?.query_row([], |row| row.get(0))?;
        return Ok(Page { generation, ..Page::default() });
    };
    let first = connection
        .prepare_cached("SELECT sequence FROM facts WHERE session = ?1 ORDER BY sequence LIMIT 1")?
        .query_row([number], |row| count(row, 0))
        .optional()?
        .unwrap_or(0);
    let mut statement = connection.prepare_cached(
        "SELECT position, sequence, generation, id, at, kind, turn, command, data FROM facts
         WHERE session = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3",
    )?;
    let mut rows = statement.query(params![number, stored(after), at_most(limit)])?;
    let (mut facts, mut bytes) = (Vec::new(), 0);
    while bytes < MOST_BYTES
        && let Some(row) = rows.next()?
    {
        let fact = fact(row)?;
        bytes = bytes.saturating_add(fact.data.len());
        facts.push(fact);
    }
    Ok(Page { facts, last, first, generation })
}

/// Facts of all sessions, in the order in which they were stored.
pub(super) fn store(connection: &Connection, after: u64, limit: usize) -> rusqlite::Result<Vec<(SessionKey, Fact)>> {
    let mut statement = connection.prepare_cached(
        "SELECT f.position, f.sequence, f.generation, f.id, f.at, f.kind, f.turn, f.command, f.data, s.agent, s.id
         FROM facts f CROSS JOIN sessions s ON s.number = f.session
         WHERE f.position > ?1 ORDER BY f.position LIMIT ?2",
    )?;
    let mut rows = statement.query(params![stored(after), at_most(limit)])?;
    let (mut facts, mut bytes) = (Vec::new(), 0);
    while bytes < MOST_BYTES
        && let Some(row) = rows.next()?
    {
        let fact = fact(row)?;
        bytes = bytes.saturating_add(fact.data.len());
        facts.push((SessionKey { agent: row.get(9)?, id: row.get(10)? }, fact));
    }
    Ok(facts)
}

/// All turns that are open, oldest session first.
pub(super) fn open_turns(connection: &Connection) -> rusqlite::Result<Vec<OpenTurn>> {
    connection
        .prepare_cached(
            "SELECT s.agent, s.id, t.turn, t.pid, t.started FROM open_turns t JOIN sessions s ON s.number = t.session
             ORDER BY t.session, t.turn",
        )?
        .query_map([], |row| {
            Ok(OpenTurn {
                session: SessionKey { agent: row.get(0)?, id: row.get(1)? },
                turn: row.get(2)?,
                owner: Owner { pid: row.get(3)?, started: count(row, 4)? },
            })
        })?
        .collect()
}

fn at_most(limit: usize) -> i64 {
    stored(limit.min(MOST_FACTS) as u64)
}

fn fact(row: &Row<'_>) -> rusqlite::Result<Fact> {
    Ok(Fact {
        position: count(row, 0)?,
        sequence: count(row, 1)?,
        generation: row.get(2)?,
        id: row.get(3)?,
        at: row.get(4)?,
        kind: row.get(5)?,
        turn: row.get(6)?,
        command: row.get(7)?,
        data: row.get(8)?,
    })
}

/// Position of the newest fact that was ever stored; 0 for none.
pub(super) fn newest(connection: &Connection) -> rusqlite::Result<u64> {
    let newest = connection
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'facts'", [], |row| count(row, 0))
        .optional()?;
    Ok(newest.unwrap_or_default())
}
