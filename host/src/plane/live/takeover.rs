//! Taking a session from the program that holds it: it is asked to end, never killed, and never
//! guessed at.

use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use rustix::process::{Pid, Signal, kill_process};
use sepia_ir::LockState;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a holder has to end.
const SETTLE: Duration = Duration::from_millis(800);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Plane {
    /// Who holds a session by the word of its store; none when nobody does.
    pub(in crate::plane) async fn holder(&self, agent: &str, id: &str) -> Result<Option<LockState>, PlaneError> {
        for (_, reader) in self.readers_for(Some(agent)).await? {
            let locks = reader.locks().await?;
            if let Some(lock) = locks.into_iter().find(|lock| lock.id == id) {
                return Ok(Some(lock));
            }
        }
        Ok(None)
    }

    /// Asks the holder to end and waits until it let go; `locked`, with who it is, when it does
    /// not.
    pub(super) async fn take_over(&self, agent: &str, id: &str, holder: LockState) -> Result<(), PlaneError> {
        if let Some(pid) = holder.holder_pid.and_then(stranger) {
            match kill_process(pid, Signal::TERM) {
                // Gone by itself: what it held is free, or somebody else's.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(e) => return Err(locked(id, &holder).because(format!("it can't be asked to end: {e}"))),
            }
        }
        let deadline = Instant::now() + SETTLE;
        loop {
            let Some(holder) = self.holder(agent, id).await? else { return Ok(()) };
            if Instant::now() >= deadline {
                return Err(locked(id, &holder));
            }
            sleep(LOOK_AGAIN).await;
        }
    }
}

/// A process that may be asked to end: not us, and not one of the system's first.
fn stranger(pid: u32) -> Option<Pid> {
    let own = std::process::id();
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 1 && u32::try_from(*pid).ok() != Some(own))?;
    Pid::from_raw(pid)
}

/// The session is held.
pub(super) fn locked(id: &str, holder: &LockState) -> PlaneError {
    let who = holder.holder_pid.map_or_else(|| "a running agent".to_owned(), |pid| format!("process {pid}"));
    let shown = clean_line(id, 80);
    let message = format!("session `{shown}` is held by {who}, which did not let go; end it there first");
    PlaneError::new(ErrorKind::Locked, message)
}
