//! The process that a turn belongs to, and whether it still lives.

use std::fs;
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
        match process("self")? {
            Some(Process { started, .. }) => Ok(Self { pid, started }),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "/proc does not tell of this process; mount it")),
        }
    }

    /// Whether it still runs. Fails when that can't be told.
    pub(super) fn lives(&self) -> io::Result<bool> {
        if let Some(process) = process(&self.pid.to_string())? {
            return Ok(process.started == self.started && !process.dead);
        }
        // Where /proc tells of nobody, it has not told that this one is gone.
        match process("self")? {
            Some(_) => Ok(false),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "/proc tells of no process; mount it")),
        }
    }
}

struct Process {
    started: u64,
    /// Ended, and not yet fetched by its parent.
    dead: bool,
}

/// What the system tells of a process; none when there is none.
fn process(name: &str) -> io::Result<Option<Process>> {
    match fs::read(format!("/proc/{name}/stat")) {
        Ok(stat) => parse(&stat).map(Some).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("/proc/{name}/stat has no state and no start time"))
        }),
        // The second: it ended between the opening and the reading.
        Err(error) if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// "No such process".
const ESRCH: i32 = 3;

/// The state is field 3 and the start time field 22; field 2 is the program's name in
/// parentheses, which may hold spaces and parentheses itself.
fn parse(stat: &[u8]) -> Option<Process> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    Some(Process { started, dead: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Owner, parse};
    use std::process::{Command, Stdio};

    #[test]
    fn the_name_of_the_program_may_hold_anything() {
        let stat = b"42 (a) R 1 (\xff) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20";
        let process = parse(stat).unwrap();
        assert_eq!((process.started, process.dead), (777, false));
        assert!(parse(b"42 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777").unwrap().dead);
        for wrong in
            [&b""[..], b"42 (a", b"42 (a)", b"42 (a) S 1 2", b"(a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"]
        {
            assert!(parse(wrong).is_none());
        }
    }

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
        let owner =
            Owner { pid: child.id(), started: super::process(&child.id().to_string()).unwrap().unwrap().started };
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
