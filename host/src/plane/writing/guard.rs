//! Who else is at a session: the agent that holds it, and other processes of ours.

use crate::home::LockFile;
use crate::plane::live::Reservation;
use crate::plane::{DetachReason, ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A session that is ours alone while the value lives.
#[derive(Debug)]
pub(in crate::plane) enum Claim {
    /// By a lock that processes of ours respect.
    Stored(#[expect(dead_code, reason = "held, not read")] Arc<LockFile>),
    /// It is live here, and no turn begins.
    Live(#[expect(dead_code, reason = "held, not read")] Reservation),
}

impl Plane {
    /// Has the session to ourselves while the value lives: no other process of ours writes it, and no running agent
    /// holds it, unless it is to be taken by force. One that is live here and idle is ours already; no turn begins in it
    /// as long.
    pub(in crate::plane) async fn claim(&self, agent: &str, id: &str, force: bool) -> Result<Claim, PlaneError> {
        if let Some(live) = self.live.get(id, Some(agent)) {
            return Ok(Claim::Live(live.reserve()?));
        }
        let held = self.hold(agent, id)?;
        if !force {
            self.refuse_when_live(agent, id).await?;
        }
        Ok(Claim::Stored(Arc::new(held)))
    }

    /// The same for what its agent must not go on from: a session that is live here is let go first, and stays ours
    /// meanwhile. `busy` when a turn runs, unless that is to end with it.
    pub(in crate::plane) async fn seize(
        &self,
        agent: &str,
        id: &str,
        force: bool,
        reason: DetachReason,
    ) -> Result<Claim, PlaneError> {
        let Some(live) = self.live.get(id, Some(agent)) else { return self.claim(agent, id, force).await };
        let reserved = if reason == DetachReason::Deleted { None } else { Some(live.reserve()?) };
        let lock = reserved.as_ref().map_or_else(|| live.lock(), Reservation::lock);
        self.live.let_go(&live, reason).await;
        match lock {
            Some(lock) => Ok(Claim::Stored(lock)),
            // It was being let go already.
            None => self.claim(agent, id, force).await,
        }
    }

    /// Fails when the session is live here: what is to be done with it would be undone by its agent, or not be seen.
    pub(in crate::plane) fn refuse_live_here(&self, agent: &str, id: &str) -> Result<(), PlaneError> {
        if self.live.get(id, Some(agent)).is_none() {
            return Ok(());
        }
        let shown = clean_line(id, 80);
        let message = format!("session `{shown}` is live here; detach it first");
        Err(PlaneError::new(ErrorKind::Conflict, message))
    }

    /// Fails when a running agent holds the session, with who that is.
    async fn refuse_when_live(&self, agent: &str, id: &str) -> Result<(), PlaneError> {
        let Some(lock) = self.holder(agent, id).await? else { return Ok(()) };
        let holder = lock.holder_pid.map_or_else(|| "a running agent".to_owned(), |pid| format!("process {pid}"));
        let shown = clean_line(id, 80);
        let message = format!("session `{shown}` is held by {holder}; end it there first, or force it");
        Err(PlaneError::new(ErrorKind::Locked, message))
    }

    /// Keeps other processes of ours from writing the session while the value lives.
    pub(in crate::plane) fn hold(&self, agent: &str, id: &str) -> Result<LockFile, PlaneError> {
        let digest = Sha256::digest(format!("{agent}\0{id}"));
        match self.home.lock(&crate::text::hex(&digest[..16])) {
            Ok(Some(held)) => Ok(held),
            Ok(None) => {
                let shown = clean_line(id, 80);
                let message = format!("another sepia is writing session `{shown}` at this moment; try again");
                Err(PlaneError::new(ErrorKind::Busy, message))
            }
            Err(e) => {
                let message = "the lock of the session can't be taken; is the folder of sepia's own files writable?";
                Err(PlaneError::new(ErrorKind::Internal, message).because(e.to_string()))
            }
        }
    }
}

/// A write went well, and what was there before could not be labelled.
pub(super) fn not_kept(error: &std::io::Error) -> PlaneError {
    let message = "it was written, and what was there before is in the trash without a name";
    PlaneError::new(ErrorKind::Internal, message).because(error.to_string())
}
