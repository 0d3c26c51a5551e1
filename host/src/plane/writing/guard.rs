//! Who else is at a session: the agent that holds it, and other processes of ours.

use crate::home::LockFile;
use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use sha2::{Digest, Sha256};

impl Plane {
    /// Has the session to ourselves while the value lives: no other process of ours writes it, and no running agent
    /// holds it, unless it is to be taken by force.
    pub(in crate::plane) async fn claim(&self, agent: &str, id: &str, force: bool) -> Result<LockFile, PlaneError> {
        let held = self.hold(agent, id)?;
        if !force {
            self.refuse_when_live(agent, id).await?;
        }
        Ok(held)
    }

    /// Fails when a running agent holds the session, with who that is.
    async fn refuse_when_live(&self, agent: &str, id: &str) -> Result<(), PlaneError> {
        let readers = self.readers_for(Some(agent)).await?;
        for (_, reader) in readers {
            let locks = reader.locks().await?;
            if let Some(lock) = locks.iter().find(|lock| lock.id == id) {
                let holder =
                    lock.holder_pid.map_or_else(|| "a running agent".to_owned(), |pid| format!("process {pid}"));
                let shown = clean_line(id, 80);
                let message = format!("session `{shown}` is held by {holder}; end it there first, or force it");
                return Err(PlaneError::new(ErrorKind::Locked, message));
            }
        }
        Ok(())
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
