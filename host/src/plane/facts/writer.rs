//! The thread that writes: it takes all that waits, and commits it at once, so that many facts
//! share one fsync.

use super::bounds::Bounds;
use super::database::{Damage, Database, begin, open_to_write, set_aside};
use super::error::{LogError, LogErrorKind, is_busy, is_damage};
use super::fact::SessionKey;
use super::job::Job;
use super::owner::Owner;
use super::place::{FileId, Passing, Place};
use super::pruning::{Left, Pruning, forget, give_back, work_in};
use super::{schema, storing};
use crate::plane::clock::Clock;
use rusqlite::Connection;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Most facts of one transaction, unless one job has more.
const GROUP_FACTS: usize = 4_096;
/// Most bytes of one transaction, unless one job has more.
const GROUP_BYTES: u64 = 8 << 20;
/// How often the file may change under one transaction, before it fails.
const TRIES: usize = 4;

/// Whoever waits for the end of something.
pub(super) type Done = oneshot::Sender<Result<(), LogError>>;

/// What the thread is asked for.
pub(super) enum Request {
    /// To be written, with others.
    Write(Box<dyn Job>),
    /// All facts of the session go.
    Forget(SessionKey, Done),
    /// A reader found this file damaged.
    SetAside(Damage, Done),
    /// Nothing comes after this.
    Close(Done),
}

/// Why a transaction was not committed.
enum Failure {
    Database(rusqlite::Error),
    Log(LogError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// What the thread has.
pub(super) struct Writer {
    place: Place,
    wait: Duration,
    owner: Owner,
    clock: Arc<dyn Clock>,
    database: Option<Database>,
    pruning: Pruning,
    /// Pages were given back since the write-ahead log was worked in.
    shrunk: bool,
}

impl Writer {
    pub(super) fn new(place: Place, bounds: &Bounds, owner: Owner, clock: Arc<dyn Clock>) -> Self {
        let pruning = Pruning::new(bounds);
        Self { place, wait: bounds.busy_wait, owner, clock, database: None, pruning, shrunk: false }
    }

    /// Works until there is nobody left who could ask, and nothing that was asked.
    pub(super) fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        let mut put_off = None;
        loop {
            let request = match put_off.take() {
                Some(request) => request,
                None if self.pruning.is_due() => match requests.try_recv() {
                    Ok(request) => request,
                    Err(mpsc::error::TryRecvError::Empty) => {
                        self.prune();
                        continue;
                    }
                    Err(mpsc::error::TryRecvError::Disconnected) => return,
                },
                None => match requests.blocking_recv() {
                    Some(request) => request,
                    None => return,
                },
            };
            match request {
                Request::Write(job) => {
                    put_off = self.write_group(job, &mut requests);
                    // One step a group: who stores without a pause is not to be kept from
                    // pruning, nor the other way round.
                    if self.pruning.is_due() {
                        self.prune();
                    }
                }
                // Who waits may have given up.
                Request::Forget(session, done) => drop(done.send(self.forget(&session))),
                Request::SetAside(damage, done) => drop(done.send(self.set_aside(&damage))),
                Request::Close(done) => {
                    self.work_in();
                    self.database = None;
                    drop(done.send(Ok(())));
                    return;
                }
            }
        }
    }

    /// Writes this job and those behind it. Gives back a request that is none.
    fn write_group(&mut self, first: Box<dyn Job>, requests: &mut mpsc::Receiver<Request>) -> Option<Request> {
        let (mut facts, mut bytes) = first.size();
        let mut group = vec![first];
        let mut put_off = None;
        while facts < GROUP_FACTS && bytes < GROUP_BYTES {
            match requests.try_recv() {
                Ok(Request::Write(job)) => {
                    let size = job.size();
                    facts = facts.saturating_add(size.0);
                    bytes = bytes.saturating_add(size.1);
                    group.push(job);
                }
                Ok(other) => {
                    put_off = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        self.commit(group);
        put_off
    }

    fn commit(&mut self, mut group: Vec<Box<dyn Job>>) {
        let owner = self.owner;
        let outcome = self.write(|connection, _| group.iter_mut().try_for_each(|job| job.run(connection, owner)));
        let outcome = match outcome {
            // One of them can't be stored: the others are not to fail with it.
            Err(error) if error.kind == LogErrorKind::Invalid && group.len() > 1 => {
                return group.into_iter().for_each(|job| self.commit(vec![job]));
            }
            outcome => outcome.map(|_| ()),
        };
        if outcome.is_ok() {
            self.pruning.count(group.iter().fold(0, |bytes, job| bytes.saturating_add(job.size().1)));
        }
        for job in group {
            job.answer(outcome.clone());
        }
    }

    /// Does this in one transaction, and tells in which file. A file that turns out damaged is
    /// moved aside, and it is done in the new one.
    fn write<T>(
        &mut self,
        mut work: impl FnMut(&Connection, FileId) -> rusqlite::Result<T>,
    ) -> Result<(T, FileId), LogError> {
        let (place, wait) = (self.place.clone(), self.wait);
        for _ in 0..TRIES {
            let gate = place.pass(Passing::Shared, wait)?;
            let Some(database) = self.present()? else {
                drop(gate);
                self.database = Some(open_to_write(&self.place, self.wait)?);
                continue;
            };
            let file = database.file;
            let written = transact(&place, &database.connection, wait, |connection| work(connection, file));
            drop(gate);
            match written {
                Ok(done) => return Ok((done, file)),
                Err(Failure::Log(error)) => {
                    self.database = None;
                    return Err(error);
                }
                Err(Failure::Database(error)) if is_damage(&error) => {
                    self.set_aside(&Damage { file, reason: error.to_string() })?;
                }
                Err(Failure::Database(error)) if is_busy(&error) => {
                    return Err(LogError::busy(self.place.path(), self.wait).because(error));
                }
                Err(Failure::Database(error)) => {
                    let error = LogError::of_database(self.place.path(), "could not be written", &error);
                    if error.kind != LogErrorKind::Invalid {
                        // Whatever is wrong, a connection made anew does not have it.
                        self.database = None;
                    }
                    return Err(error);
                }
            }
        }
        let message =
            format!("{} was changed again and again; keep other programs away from it", self.place.path().display());
        Err(LogError::new(LogErrorKind::Failed, message))
    }

    /// The database, when it is open and still the one that is there.
    fn present(&mut self) -> Result<Option<&Database>, LogError> {
        let now = self.place.file()?;
        self.database = self.database.take().filter(|database| {
            let same = Some(database.file) == now;
            if !same {
                tracing::warn!("{} was moved away; what is there now is used", self.place.path().display());
            }
            same
        });
        Ok(self.database.as_ref())
    }

    fn set_aside(&mut self, damage: &Damage) -> Result<(), LogError> {
        self.database = self.database.take().filter(|database| database.file != damage.file);
        set_aside(&self.place, self.wait, damage)
    }

    /// Takes the facts of a session, in steps that let other processes write between them.
    fn forget(&mut self, session: &SessionKey) -> Result<(), LogError> {
        let (forgotten, of) = self.write(|connection, _| storing::begin_forgetting(connection, session))?;
        let Some(forgotten) = forgotten else { return Ok(()) };
        loop {
            let start = Instant::now();
            let most = self.pruning.facts();
            let (left, _) = self.write(|connection, file| {
                // In another file the number of the session is that of another session.
                if file == of { forget(connection, forgotten, most) } else { Ok(Left::Nothing) }
            })?;
            if left == Left::Nothing {
                // What they took is given back to the disk.
                self.pruning.hurry();
                return Ok(());
            }
            self.pruning.took(start.elapsed());
        }
    }

    /// Makes one step of pruning. When it fails, the next one comes with the next facts.
    fn prune(&mut self) {
        match self.prune_some() {
            Ok(Left::More) => {}
            Ok(Left::Nothing) => self.pruning.rest(),
            Err(failure) => {
                self.pruning.rest();
                let error = match failure {
                    // Another process writes, or prunes: nobody waits for this.
                    Failure::Database(error) if is_busy(&error) => return,
                    Failure::Database(error) => LogError::of_database(self.place.path(), "could not be pruned", &error),
                    Failure::Log(error) if error.kind == LogErrorKind::Busy => return,
                    Failure::Log(error) => error,
                };
                self.database = None;
                warn(&error);
            }
        }
    }

    fn prune_some(&mut self) -> Result<Left, Failure> {
        let place = self.place.clone();
        let _gate = place.pass(Passing::Shared, Duration::ZERO).map_err(Failure::Log)?;
        self.present().map_err(Failure::Log)?;
        let Some(database) = &self.database else { return Ok(Left::Nothing) };
        let now = self.clock.now_ms();
        let start = Instant::now();
        let pruning = &self.pruning;
        let prune = |connection: &Connection| pruning.prune(connection, now);
        if transact(&place, &database.connection, Duration::ZERO, prune)? == Left::More {
            self.pruning.took(start.elapsed());
            return Ok(Left::More);
        }
        let left = give_back(&database.connection)?;
        if left == Left::More {
            self.shrunk = true;
        } else if std::mem::take(&mut self.shrunk) {
            self.work_in();
        }
        Ok(left)
    }

    /// Works the write-ahead log into the file. What is in it is on disk whether or not that
    /// succeeds.
    fn work_in(&self) {
        if let Some(database) = &self.database
            && let Err(error) = work_in(&database.connection)
            && !is_busy(&error)
        {
            warn(&LogError::of_database(self.place.path(), "could not take in its write-ahead log", &error));
        }
    }
}

/// Does this in one transaction, all or nothing.
fn transact<T>(
    place: &Place,
    connection: &Connection,
    wait: Duration,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> Result<T, Failure> {
    let transaction = begin(connection, wait)?;
    // A newer sepia may have changed the tables since the file was opened.
    let version = schema::version(&transaction)?;
    if version != schema::VERSION {
        return Err(Failure::Log(LogError::newer(place.path(), version, schema::VERSION)));
    }
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn warn(error: &LogError) {
    tracing::warn!("{error} ({})", error.cause.as_deref().unwrap_or("no cause was told"));
}
