//! Taking facts away from the old end, in steps so small that nobody waits long for one.

use super::bounds::Bounds;
use super::fact::ROW_OVERHEAD;
use super::storing::{Forgotten, count, stored};
use rusqlite::{Connection, Statement, params};
use std::time::{Duration, Instant};

/// What one step may take from the log at most, bytes; one fact may be larger.
const STEP_BYTES: u64 = 2 << 20;
/// By how much more than has to go may be taken, bytes; some times it at the most.
const ROUGHLY: u64 = 128 << 10;
/// Bounds of the facts that one step takes.
const STEP_FACTS: (u64, u64) = (8, 4_096);
/// What a step should last; below half of it the next one is larger, above it smaller.
const STEP_TIME: Duration = Duration::from_millis(20);
/// Free pages of the file that one step gives back.
const STEP_PAGES: u64 = 256;
/// One in so many pages of the file may be free: the next facts go there.
const FREE_SHARE: u64 = 8;
/// Between two looks at the age, however little was stored.
const LOOK_AT_AGE: Duration = Duration::from_mins(10);

/// What a step left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    More,
}

/// When to prune, and how much at once.
#[derive(Debug)]
pub(super) struct Pruning {
    age: i64,
    bytes: u64,
    /// Bytes that may be stored between two prunings.
    every: u64,
    stored: u64,
    /// Facts of the next step.
    facts: u64,
    begun: Option<Instant>,
    due: bool,
}

impl Pruning {
    pub(super) fn new(bounds: &Bounds) -> Self {
        Self {
            age: i64::try_from(bounds.age.as_millis()).unwrap_or(i64::MAX),
            bytes: bounds.bytes,
            every: (bounds.bytes / 64).clamp(64 << 10, 4 << 20),
            stored: 0,
            facts: 256,
            begun: None,
            due: false,
        }
    }

    /// Counts what was stored.
    pub(super) fn count(&mut self, bytes: u64) {
        self.stored = self.stored.saturating_add(bytes);
        if self.stored >= self.every || self.begun.is_none_or(|begun| begun.elapsed() >= LOOK_AT_AGE) {
            self.due = true;
            self.stored = 0;
            self.begun = Some(Instant::now());
        }
    }

    /// Whether a step is to be made.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// A step is to be made, however little was stored.
    pub(super) fn hurry(&mut self) {
        self.due = true;
    }

    /// Facts that the next step takes at most.
    pub(super) fn facts(&self) -> u64 {
        self.facts
    }

    /// Nothing is to be done until more was stored.
    pub(super) fn rest(&mut self) {
        self.due = false;
    }

    /// Makes the next step larger or smaller, by how long one took.
    pub(super) fn took(&mut self, time: Duration) {
        if time > STEP_TIME {
            self.facts = (self.facts / 2).max(STEP_FACTS.0);
        } else if time < STEP_TIME / 2 {
            self.facts = (self.facts * 2).min(STEP_FACTS.1);
        }
    }

    /// Takes the oldest facts that are too old or too many. Inside a transaction.
    pub(super) fn prune(&self, connection: &Connection, now: i64) -> rusqlite::Result<Left> {
        let excess = self.excess(connection)?;
        // What a fact takes is an estimate, as good as a factor of three: pages are not full.
        let mut to_go = if excess > ROUGHLY { excess / 3 } else { excess };
        let oldest_kept = now.saturating_sub(self.age);
        let mut statement = connection
            .prepare_cached("SELECT position, at, octet_length(data) FROM facts ORDER BY position LIMIT ?1")?;
        let mut rows = statement.query([stored(self.facts)])?;
        let (mut through, mut seen, mut taken) = (None, 0, 0_u64);
        while let Some(row) = rows.next()? {
            let (position, at): (i64, i64) = (row.get(0)?, row.get(1)?);
            let bytes = count(row, 2)?.saturating_add(ROW_OVERHEAD);
            // One that claims to be of the future does not hold back those behind it.
            let may_go = to_go > 0 || at < oldest_kept || at > now;
            if !may_go || (seen > 0 && taken.saturating_add(bytes) > STEP_BYTES) {
                break;
            }
            if to_go > 0 || at < oldest_kept {
                through = Some(position);
            }
            to_go = to_go.saturating_sub(bytes);
            taken = taken.saturating_add(bytes);
            seen += 1;
        }
        drop(rows);
        let Some(through) = through else { return Ok(Left::Nothing) };
        connection.prepare_cached("DELETE FROM facts WHERE position <= ?1")?.execute([through])?;
        Ok(Left::More)
    }

    /// Bytes by which the log is too large.
    fn excess(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let used = number(connection, "PRAGMA page_count")?
            .saturating_sub(number(connection, "PRAGMA freelist_count")?)
            .saturating_mul(number(connection, "PRAGMA page_size")?);
        Ok(used.saturating_sub(self.bytes))
    }
}

/// Takes the oldest facts of a session that is forgotten. Inside a transaction.
pub(super) fn forget(connection: &Connection, forgotten: Forgotten, most: u64) -> rusqlite::Result<Left> {
    let mut statement = connection.prepare_cached(
        "SELECT sequence, octet_length(data) FROM facts WHERE session = ?1 AND sequence <= ?2
         ORDER BY sequence LIMIT ?3",
    )?;
    let mut rows = statement.query(params![forgotten.session, forgotten.through, stored(most)])?;
    let (mut through, mut taken) = (None, 0_u64);
    while let Some(row) = rows.next()? {
        let sequence: i64 = row.get(0)?;
        taken = taken.saturating_add(count(row, 1)?);
        if through.is_some() && taken > STEP_BYTES {
            break;
        }
        through = Some(sequence);
    }
    drop(rows);
    let Some(through) = through else { return Ok(Left::Nothing) };
    connection
        .prepare_cached("DELETE FROM facts WHERE session = ?1 AND sequence <= ?2")?
        .execute(params![forgotten.session, through])?;
    Ok(Left::More)
}

/// Gives free pages at the end of the file back to the disk. Outside a transaction: it is one.
pub(super) fn give_back(connection: &Connection) -> rusqlite::Result<Left> {
    let free = number(connection, "PRAGMA freelist_count")?;
    if free <= number(connection, "PRAGMA page_count")? / FREE_SHARE {
        return Ok(Left::Nothing);
    }
    run(&mut connection.prepare(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?)?;
    Ok(Left::More)
}

/// Works the write-ahead log into the file and empties it, unless somebody reads; only then does
/// the file get smaller. First as far as nobody has to wait, so that little is left for the time
/// in which nobody can write.
pub(super) fn work_in(connection: &Connection) -> rusqlite::Result<()> {
    run(&mut connection.prepare("PRAGMA wal_checkpoint(PASSIVE)")?)?;
    run(&mut connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)")?)
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<u64> {
    connection.prepare_cached(pragma)?.query_row([], |row| count(row, 0))
}

/// Runs a statement to its end: some do their work row by row.
fn run(statement: &mut Statement<'_>) -> rusqlite::Result<()> {
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
