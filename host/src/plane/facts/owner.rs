//! The process that a turn belongs to, and whether it still lives.

use sepia_services::running_since;
use std::io;

/// A process, told apart from a later one of the same number by when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::plane) struct Owner {
    /// Number of the process.
    pub pid: u32,
    /// When it started, clock ticks since the system did.
    pub started: u64,
}

impl Owner {
    /// This process. Fails where the system does not tell when a process started.
    pub(in crate::plane) fn current() -> io::Result<Self> {
        let pid = std::process::id();
        match running_since("self")? {
            Some(started) => Ok(Self { pid, started }),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "/proc does not tell of this process; mount it")),
        }
    }

    /// Whether it still runs. Fails when that can't be told.
    pub(super) fn lives(&self) -> io::Result<bool> {
        if let Some(started) = running_since(self.pid)? {
            return Ok(started == self.started);
        }
        // Where /proc tells of nobody, it has not told that this one is gone.
        match running_since("self")? {
            Some(_) => Ok(false),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "/proc tells of no process; mount it")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Owner, running_since};
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_lives_and_another_start_of_its_number_does_not() {
        let own = Owner::current().unwrap();
        assert_eq!(own.pid, std::process::id());
        assert!(own.lives().unwrap());
        assert!(!Owner { started: own.started + 1, ..own }.lives().unwrap());
    }

    #[test]
    fn a_process_that_ended_is_dead_before_and_after_its_parent_fetched_it() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let owner = Owner { pid: child.id(), started: running_since(child.id()).unwrap().unwrap() };
        assert!(owner.lives().unwrap());
        let mut output = child.stdout.take().unwrap();
        drop(child.stdin.take());
        std::io::Read::read_to_end(&mut output, &mut Vec::new()).unwrap();
        // The output is closed shortly before the process is a zombie.
        while owner.lives().unwrap() {
            std::thread::yield_now();
        }
        assert!(child.wait().unwrap().success());
        assert!(!owner.lives().unwrap());
    }
}
