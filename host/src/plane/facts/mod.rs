//! The log of facts: what happened in live sessions, on disk before anybody is told of it.
//!
//! One SQLite file, which several processes write at once. It has no wire's shape: the kind of a
//! fact is a name, its data JSON text, and a cursor of any wire is a position or a sequence.
//!
//! What a process stores goes through one thread, which commits all that waits at once. What it
//! reads does not wait for that thread.

mod bounds;
mod database;
mod error;
mod fact;
mod job;
mod owner;
mod place;
mod pruning;
mod readers;
mod reading;
mod schema;
mod storing;
mod writer;
mod writer_thread;

#[cfg(test)]
mod tests;

pub(in crate::plane) use bounds::Bounds;
pub(in crate::plane) use error::{LogError, LogErrorKind};
pub use fact::{Fact, Page};
pub(in crate::plane) use fact::{NewFact, OpenTurn, SessionKey, TurnEdge};
pub(in crate::plane) use owner::Owner;

use crate::plane::clock::Clock;
use job::{Run, job};
use place::Place;
use readers::{Readers, Reading};
use rusqlite::Connection;
use serde::de::IgnoredAny;
use std::path::PathBuf;
use std::sync::Arc;
use writer::Request;
use writer_thread::WriterThread;

/// The log of facts.
///
/// A future of these methods that is dropped before it is ready may or may not have done what it
/// was asked for; it never did half of it. Dropping the log ends its thread once that has written
/// what it was given; [`close`](Self::close) waits for it.
#[derive(Debug)]
pub(in crate::plane) struct FactLog {
    place: Place,
    writer: WriterThread,
    readers: Readers,
}

impl FactLog {
    /// The log in the file at `path`, written by the process `owner`; how old a fact is, the clock
    /// tells. Touches no disk: the file,
    /// and its folder, are made when the first fact is stored.
    pub(in crate::plane) fn new(path: PathBuf, bounds: Bounds, owner: Owner, clock: Arc<dyn Clock>) -> Self {
        let place = Place::new(path);
        let readers = Readers::new(place.clone(), bounds.busy_wait);
        Self { writer: WriterThread::new(place.clone(), bounds, owner, clock), readers, place }
    }

    /// Stores facts of a session, all or none, and gives them back numbered once they are on
    /// disk.
    ///
    /// Fails with [`LogErrorKind::Invalid`] when the data of one is no JSON, or when one opens or
    /// closes a turn and has none.
    pub(in crate::plane) async fn append(
        &self,
        session: &SessionKey,
        facts: Vec<NewFact>,
    ) -> Result<Vec<Fact>, LogError> {
        facts.iter().try_for_each(check)?;
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let size = size(&facts);
        let ((_, facts), numbers) = self.write((session.clone(), facts), size, storing::append).await?;
        Ok(numbered(facts, numbers))
    }

    /// The facts of a session whose sequence is larger than `after`, oldest first, at most
    /// `limit`. Empty for a session that nothing is known of.
    pub(in crate::plane) async fn read(
        &self,
        session: &SessionKey,
        after: u64,
        limit: usize,
    ) -> Result<Page, LogError> {
        let session = session.clone();
        let page = self.look(move |connection| reading::page(connection, &session, after, limit)).await?;
        Ok(page.unwrap_or_default())
    }

    /// The facts of all sessions whose position is larger than `after_position`, oldest first, at
    /// most `limit`; fewer when they are large, and none only when there are none.
    pub(in crate::plane) async fn read_store(
        &self,
        after_position: u64,
        limit: usize,
    ) -> Result<Vec<(SessionKey, Fact)>, LogError> {
        let facts = self.look(move |connection| reading::store(connection, after_position, limit)).await?;
        Ok(facts.unwrap_or_default())
    }

    /// Position of the newest fact of all sessions that was ever stored; 0 for none.
    pub(in crate::plane) async fn newest(&self) -> Result<u64, LogError> {
        Ok(self.look(reading::newest).await?.unwrap_or_default())
    }

    /// Raises the generation of a session, and tells the new one: what is stored from now on
    /// does not continue what a reader of the old one knows. Sequences go on.
    pub(in crate::plane) async fn raise_generation(&self, session: &SessionKey) -> Result<u32, LogError> {
        let (_, generation) = self.write(session.clone(), (0, 0), storing::raise_generation).await?;
        Ok(generation)
    }

    /// Takes away all facts of a session that was deleted. Another one of the same id is in a
    /// new generation and its sequences go on, so that an old cursor never fits other facts.
    ///
    /// After a failure some of the facts may be left; forgetting again takes them.
    pub(in crate::plane) async fn forget(&self, session: &SessionKey) -> Result<(), LogError> {
        self.writer.ask(|done| Request::Forget(session.clone(), done)).await
    }

    /// The turns that were opened by processes which no longer live, and never closed. Where
    /// the system can't tell of a process, it counts as living.
    pub(in crate::plane) async fn abandoned(&self) -> Result<Vec<OpenTurn>, LogError> {
        let turns = self.look(reading::open_turns).await?.unwrap_or_default();
        Ok(turns.into_iter().filter(is_abandoned).collect())
    }

    /// Stores for each abandoned turn the fact that `closing` makes, and gives back what was
    /// stored. Each turn is closed once, by whoever of several processes comes first.
    ///
    /// The fact is stored as one that closes this turn, whatever it says of that itself.
    pub(in crate::plane) async fn close_abandoned(
        &self,
        mut closing: impl FnMut(&SessionKey, &str) -> NewFact,
    ) -> Result<Vec<(SessionKey, Fact)>, LogError> {
        let mut turns = Vec::new();
        for turn in self.abandoned().await? {
            let fact = closing(&turn.session, &turn.turn).closing(turn.turn.clone());
            check(&fact)?;
            let facts = (turn.session.clone(), vec![fact]);
            turns.push((turn, facts));
        }
        if turns.is_empty() {
            return Ok(Vec::new());
        }
        let size = turns
            .iter()
            .map(|(_, (_, facts))| size(facts))
            .fold((0, 0), |(facts, bytes), more| (facts + more.0, u64::saturating_add(bytes, more.1)));
        let (turns, closed) = self.write(turns, size, storing::close_turns).await?;
        let mut stored = Vec::new();
        for ((_, (session, facts)), numbers) in turns.into_iter().zip(closed) {
            let facts = numbers.map(|numbers| numbered(facts, numbers)).unwrap_or_default();
            stored.extend(facts.into_iter().map(|fact| (session.clone(), fact)));
        }
        Ok(stored)
    }

    /// Ends the log: all that was handed over before is on disk when this is ready. What is
    /// asked later fails with [`LogErrorKind::Closed`].
    pub(in crate::plane) async fn close(&self) -> Result<(), LogError> {
        self.readers.close().await;
        self.writer.close().await
    }

    async fn write<I: Send + 'static, T: Send + 'static>(
        &self,
        input: I,
        size: (usize, u64),
        run: Run<I, T>,
    ) -> Result<(I, T), LogError> {
        let (job, answer) = job(input, size, run);
        self.writer.send(Request::Write(job)).await?;
        answer.await.unwrap_or_else(|_| Err(self.writer.ended()))
    }

    /// Reads; none when nothing was stored yet. What is damaged is moved aside first.
    async fn look<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<T> + Clone + Send + 'static,
    ) -> Result<Option<T>, LogError> {
        let damage = match self.readers.read(what.clone()).await? {
            Reading::Nothing => return Ok(None),
            Reading::Read(read) => return Ok(Some(read)),
            Reading::Damaged(damage) => damage,
        };
        self.writer.ask(|done| Request::SetAside(damage, done)).await?;
        match self.readers.read(what).await? {
            Reading::Nothing => Ok(None),
            Reading::Read(read) => Ok(Some(read)),
            Reading::Damaged(damage) => {
                let message = format!(
                    "{} is damaged again, just after it was made; look at the disk it is on",
                    self.place.path().display()
                );
                Err(LogError::new(LogErrorKind::Failed, message).because(damage.reason))
            }
        }
    }
}

fn check(fact: &NewFact) -> Result<(), LogError> {
    let invalid = |what: &str| LogError::new(LogErrorKind::Invalid, format!("a fact `{}` {what}", fact.kind));
    if fact.turn_edge.is_some() && fact.turn.is_none() {
        return Err(invalid("opens or closes a turn and names none; set its turn"));
    }
    match serde_json::from_str::<IgnoredAny>(&fact.data) {
        Ok(_) => Ok(()),
        Err(error) => Err(invalid("has data that is no JSON; hand over JSON text").because(error)),
    }
}

/// Count and bytes.
fn size(facts: &[NewFact]) -> (usize, u64) {
    (facts.len(), facts.iter().fold(0, |bytes, fact| fact.bytes().saturating_add(bytes)))
}

fn numbered(facts: Vec<NewFact>, numbers: Vec<fact::Numbers>) -> Vec<Fact> {
    facts.into_iter().zip(numbers).map(|(fact, numbers)| fact.numbered(numbers)).collect()
}

fn is_abandoned(turn: &OpenTurn) -> bool {
    match turn.owner.lives() {
        Ok(lives) => !lives,
        Err(error) => {
            tracing::warn!(
                "whether process {} still has turn {} of session {} open can't be told ({error}); it is left alone",
                turn.owner.pid,
                turn.turn,
                turn.session.id
            );
            false
        }
    }
}
