//! A live session, as others see it: what it is, and how its owner is asked.

use super::asked::Asked;
use super::batch::Batch;
use super::event::{AskedPermission, DetachReason};
use super::feed::Feed;
use super::owner::{Command, Prompt};
use crate::acp::Capabilities;
use crate::home::LockFile;
use crate::plane::{ErrorKind, PlaneError};
use crate::text::clean_line;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// A live session. Its owner, one task, has the agent.
#[derive(Debug)]
pub(in crate::plane) struct LiveSession {
    pub(in crate::plane) id: String,
    pub(in crate::plane) agent_id: String,
    pub(in crate::plane) cwd: String,
    pub(in crate::plane) title: String,
    /// It was made here, and may not be in its store yet.
    pub(in crate::plane) created: bool,
    /// Epoch milliseconds.
    pub(in crate::plane) live_since: i64,
    pub(super) capabilities: Capabilities,
    pub(super) feed: Feed<Arc<Batch>>,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) state: Mutex<State>,
    /// Permissions that its agent waits for.
    pub(super) permissions: Asked,
    /// Keeps other processes of ours from it, while it is live.
    pub(super) held: Mutex<Option<Arc<LockFile>>>,
    /// Why it is being let go, once it is.
    pub(super) leaving: watch::Sender<Option<DetachReason>>,
    /// Its agent is gone, and it is live no more.
    pub(super) gone: watch::Sender<bool>,
}

/// What changes of a live session.
#[derive(Debug)]
pub(super) struct State {
    /// A turn runs, or something writes the session.
    pub(super) busy: bool,
    /// When the last turn ended, or it went live.
    pub(super) idle_since: Instant,
}

/// A prompt that its session's owner has.
#[derive(Debug)]
pub struct PendingTurn {
    id: String,
    end: oneshot::Receiver<Result<TurnEnd, PlaneError>>,
}

impl PendingTurn {
    /// The end of its turn.
    pub async fn end(self) -> Result<TurnEnd, PlaneError> {
        self.end.await.unwrap_or_else(|_| Err(not_attached(&self.id)))
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// The agent's word for it.
    pub stop_reason: String,
    /// Tokens, where the agent tells, as it tells them.
    pub usage: Option<serde_json::Value>,
}

/// Keeps turns from beginning while the session is written, and other processes of ours from it,
/// also when it is let go meanwhile.
#[derive(Debug)]
pub(in crate::plane) struct Reservation {
    session: Arc<LiveSession>,
    lock: Option<Arc<LockFile>>,
}

impl Reservation {
    /// The lock that other processes of ours respect.
    pub(in crate::plane) fn lock(&self) -> Option<Arc<LockFile>> {
        self.lock.clone()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.session.state().busy = false;
    }
}

impl LiveSession {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a turn runs.
    pub(in crate::plane) fn is_busy(&self) -> bool {
        self.state().busy
    }

    /// Permissions that its agent waits for.
    pub(in crate::plane) fn asked(&self) -> Vec<AskedPermission> {
        self.permissions.all()
    }

    /// Keeps turns from beginning while the value lives; `busy` when one runs.
    pub(in crate::plane) fn reserve(self: &Arc<Self>) -> Result<Reservation, PlaneError> {
        if std::mem::replace(&mut self.state().busy, true) {
            return Err(self.busy());
        }
        Ok(Reservation { session: Arc::clone(self), lock: self.lock() })
    }

    /// The lock that other processes of ours respect, as long as it is live.
    pub(in crate::plane) fn lock(&self) -> Option<Arc<LockFile>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ready when it is live no more.
    pub(super) async fn gone(&self) {
        // The sender is its own, so there is no other end.
        let mut gone = self.gone.subscribe();
        let _gone = gone.wait_for(|gone| *gone).await;
    }

    /// How long nobody has used it; none while somebody does.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let unfollowed = self.feed.empty_since()?;
        let state = self.state();
        (!state.busy).then(|| state.idle_since.max(unfollowed).elapsed())
    }

    pub(super) fn busy(&self) -> PlaneError {
        let shown = clean_line(&self.id, 80);
        let message = format!("session `{shown}` is at work; wait for the end of the turn, or cancel it");
        PlaneError::new(ErrorKind::Busy, message)
    }

    /// Hands a prompt to the owner; what waits for the end of its turn.
    pub(super) async fn prompt(&self, prompt: Prompt) -> Result<PendingTurn, PlaneError> {
        let (reply, end) = oneshot::channel();
        match self.commands.send(Command::Prompt { prompt, reply }).await {
            Ok(()) => Ok(PendingTurn { id: self.id.clone(), end }),
            Err(_) => Err(not_attached(&self.id)),
        }
    }

    /// Asks for the end of the turn that runs, if one does.
    pub(super) async fn cancel(&self) -> Result<(), PlaneError> {
        self.ask(|reply| Command::Cancel { reply }).await
    }

    /// Answers a permission request.
    pub(super) async fn answer(&self, request: &str, option: Option<&str>) -> Result<(), PlaneError> {
        let (request, option) = (request.to_owned(), option.map(str::to_owned));
        self.ask(|reply| Command::Answer { request, option, reply }).await?
    }

    /// Has the owner let it go. The first reason counts.
    pub(super) fn leave(&self, reason: DetachReason) {
        self.leaving.send_if_modified(|leaving| {
            let first = leaving.is_none();
            leaving.get_or_insert(reason);
            first
        });
    }

    /// Whether it is being let go.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.borrow().is_some()
    }

    /// Has the owner let it go, unless somebody uses it by then.
    pub(super) async fn leave_when_idle(&self, ttl: Duration) {
        let _gone = self.commands.send(Command::LeaveWhenIdle { ttl }).await;
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, PlaneError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(command(reply)).await;
        if sent.is_ok()
            && let Ok(answer) = answer.await
        {
            return Ok(answer);
        }
        Err(not_attached(&self.id))
    }
}

/// The session is not live.
pub(super) fn not_attached(id: &str) -> PlaneError {
    let shown = clean_line(id, 80);
    let message = format!("session `{shown}` is not live here; attach it first");
    PlaneError::new(ErrorKind::Invalid, message)
}
