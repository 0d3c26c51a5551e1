//! What is done inside one transaction of the writer.

use super::fact::{NewFact, Numbers, OpenTurn, SessionKey, TurnEdge};
use super::owner::Owner;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A number of this column that is never negative.
pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// A number as the database takes it. Beyond the largest one there lies nothing.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Number and generation of the session, as it stands after `more` facts.
struct Standing {
    number: i64,
    last: i64,
    generation: u32,
}

/// Counts `more` facts in, and makes the session when there was none.
fn advance(connection: &Connection, session: &SessionKey, more: usize) -> rusqlite::Result<Standing> {
    let more = stored(more as u64);
    connection
        .prepare_cached(
            "INSERT INTO sessions (agent, id, last, generation) VALUES (?1, ?2, ?3, (SELECT generation FROM log))
             ON CONFLICT (agent, id) DO UPDATE SET last = last + excluded.last
             RETURNING number, last, generation",
        )?
        .query_row(params![session.agent, session.id, more], |row| {
            Ok(Standing { number: row.get(0)?, last: row.get(1)?, generation: row.get(2)? })
        })
}

/// Stores facts, and gives back the numbers of each.
pub(super) fn append(
    connection: &Connection,
    owner: Owner,
    (session, facts): &(SessionKey, Vec<NewFact>),
) -> rusqlite::Result<Vec<Numbers>> {
    let standing = advance(connection, session, facts.len())?;
    let mut sequence = standing.last - stored(facts.len() as u64);
    let mut insert = connection.prepare_cached(
        "INSERT INTO facts (session, sequence, generation, id, at, kind, turn, command, data)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    let mut numbers = Vec::with_capacity(facts.len());
    for fact in facts {
        sequence += 1;
        let position = insert.insert(params![
            standing.number,
            sequence,
            standing.generation,
            fact.id,
            fact.at,
            fact.kind,
            fact.turn,
            fact.command,
            fact.data
        ])?;
        if let (Some(edge), Some(turn)) = (fact.turn_edge, &fact.turn) {
            match edge {
                TurnEdge::Opens => open_turn(connection, standing.number, turn, owner)?,
                TurnEdge::Closes => {
                    close_turn(connection, standing.number, turn, None)?;
                }
            }
        }
        numbers.push(Numbers {
            position: position.unsigned_abs(),
            sequence: sequence.unsigned_abs(),
            generation: standing.generation,
        });
    }
    Ok(numbers)
}

fn open_turn(connection: &Connection, session: i64, turn: &str, owner: Owner) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO open_turns (session, turn, pid, started) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session, turn, owner.pid, stored(owner.started)])?;
    Ok(())
}

/// Closes a turn, if this owner has it open. Whether it was open.
fn close_turn(connection: &Connection, session: i64, turn: &str, of: Option<Owner>) -> rusqlite::Result<bool> {
    let (pid, started) = match of {
        Some(owner) => (Value::from(i64::from(owner.pid)), Value::from(stored(owner.started))),
        None => (Value::Null, Value::Null),
    };
    let closed = connection
        .prepare_cached(
            "DELETE FROM open_turns WHERE session = ?1 AND turn = ?2
             AND (?3 IS NULL OR (pid = ?3 AND started = ?4))",
        )?
        .execute(params![session, turn, pid, started])?;
    Ok(closed > 0)
}

/// Stores the closing fact of each turn that its owner still has open. None for the others: they
/// were closed by somebody else, or opened anew.
pub(super) fn close_turns(
    connection: &Connection,
    owner: Owner,
    turns: &Vec<(OpenTurn, (SessionKey, Vec<NewFact>))>,
) -> rusqlite::Result<Vec<Option<Vec<Numbers>>>> {
    let mut closed = Vec::with_capacity(turns.len());
    for (turn, closing) in turns {
        let open = match number_of(connection, &turn.session)? {
            Some(session) => close_turn(connection, session, &turn.turn, Some(turn.owner))?,
            None => false,
        };
        closed.push(if open { Some(append(connection, owner, closing)?) } else { None });
    }
    Ok(closed)
}

/// Raises the generation of a session, and makes the session when there was none.
pub(super) fn raise_generation(connection: &Connection, _owner: Owner, session: &SessionKey) -> rusqlite::Result<u32> {
    let standing = advance(connection, session, 0)?;
    raise(connection, standing.number)
}

fn raise(connection: &Connection, session: i64) -> rusqlite::Result<u32> {
    connection
        .prepare_cached("UPDATE sessions SET generation = generation + 1 WHERE number = ?1 RETURNING generation")?
        .query_row([session], |row| row.get(0))
}

/// A session of which facts are still to be taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Forgotten {
    /// Number of the session.
    pub(super) session: i64,
    /// Newest sequence that goes.
    pub(super) through: i64,
}

/// Begins to forget a session: from here on it is in a new generation, and no turn of it is
/// open. None when there is no such session.
pub(super) fn begin_forgetting(connection: &Connection, session: &SessionKey) -> rusqlite::Result<Option<Forgotten>> {
    let Some(number) = number_of(connection, session)? else { return Ok(None) };
    raise(connection, number)?;
    connection.prepare_cached("DELETE FROM open_turns WHERE session = ?1")?.execute([number])?;
    let through = connection
        .prepare_cached("SELECT last FROM sessions WHERE number = ?1")?
        .query_row([number], |row| row.get(0))?;
    Ok(Some(Forgotten { session: number, through }))
}

fn number_of(connection: &Connection, session: &SessionKey) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT number FROM sessions WHERE agent = ?1 AND id = ?2")?
        .query_row([&session.agent, &session.id], |row| row.get(0))
        .optional()
}
