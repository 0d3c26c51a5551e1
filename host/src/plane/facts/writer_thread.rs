//! The writer's thread, started when something is to be written first.

use super::bounds::Bounds;
use super::error::{LogError, LogErrorKind};
use super::owner::Owner;
use super::place::Place;
use super::writer::{Done, Request, Writer};
use crate::plane::clock::Clock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// Most requests that wait. Who comes then waits to be let in.
const MOST_WAITING: usize = 1_024;

#[derive(Debug)]
enum State {
    Idle,
    Running { requests: mpsc::Sender<Request>, thread: JoinHandle<()> },
    Closed,
}

/// The writer's thread. It ends when this is dropped, behind the last request.
#[derive(Debug)]
pub(super) struct WriterThread {
    place: Place,
    bounds: Bounds,
    owner: Owner,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

impl WriterThread {
    pub(super) fn new(place: Place, bounds: Bounds, owner: Owner, clock: Arc<dyn Clock>) -> Self {
        Self { place, bounds, owner, clock, state: Mutex::new(State::Idle) }
    }

    /// Hands over a request.
    pub(super) async fn send(&self, request: Request) -> Result<(), LogError> {
        let requests = self.requests()?;
        requests.send(request).await.map_err(|_| self.ended())
    }

    /// Hands over a request, and waits until it is done.
    pub(super) async fn ask(&self, request: impl FnOnce(Done) -> Request) -> Result<(), LogError> {
        let (done, answer) = oneshot::channel();
        self.send(request(done)).await?;
        answer.await.unwrap_or_else(|_| Err(self.ended()))
    }

    /// Ends the thread, behind all that was handed over.
    pub(super) async fn close(&self) -> Result<(), LogError> {
        let State::Running { requests, .. } = std::mem::replace(&mut *self.state(), State::Closed) else {
            return Ok(());
        };
        let (done, answer) = oneshot::channel();
        requests.send(Request::Close(done)).await.map_err(|_| self.failed())?;
        answer.await.unwrap_or_else(|_| Err(self.failed()))
    }

    /// Why there was no answer.
    pub(super) fn ended(&self) -> LogError {
        match *self.state() {
            State::Closed => LogError::closed(self.place.path()),
            State::Idle | State::Running { .. } => self.failed(),
        }
    }

    fn failed(&self) -> LogError {
        let message = format!(
            "the thread that writes {} ended by a fault of sepia; try again, and report it",
            self.place.path().display()
        );
        LogError::new(LogErrorKind::Failed, message)
    }

    /// Where requests go. Starts the thread when there is none.
    fn requests(&self) -> Result<mpsc::Sender<Request>, LogError> {
        let mut state = self.state();
        match &*state {
            State::Closed => return Err(LogError::closed(self.place.path())),
            State::Running { requests, thread } if !thread.is_finished() => return Ok(requests.clone()),
            State::Running { .. } | State::Idle => {}
        }
        let (requests, waiting) = mpsc::channel(MOST_WAITING);
        let writer = Writer::new(self.place.clone(), &self.bounds, self.owner, Arc::clone(&self.clock));
        let thread = std::thread::Builder::new()
            .name("facts-writer".to_owned())
            .spawn(move || writer.run(waiting))
            .map_err(|error| LogError::of_system(self.place.path(), "got no thread that writes it", error))?;
        *state = State::Running { requests: requests.clone(), thread };
        Ok(requests)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the thread to a test that waits for its end.
    #[cfg(test)]
    pub(super) fn into_thread(self) -> Option<JoinHandle<()>> {
        match self.state.into_inner().unwrap_or_else(PoisonError::into_inner) {
            State::Running { thread, .. } => Some(thread),
            State::Idle | State::Closed => None,
        }
    }
}
