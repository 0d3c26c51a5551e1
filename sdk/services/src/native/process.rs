//! Whether a process that a lock names is still the one that took it, and who holds a lock.

use super::store::Store;
use cap_std::fs::MetadataExt;
use rustix::io::Errno;
use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind};

/// Bytes of a command line that are told.
const COMMAND_LINE: usize = 4 << 10;

/// Start time of a running process in clock ticks since boot; none when there is no such
/// process, or it has ended and nobody has waited for it yet; systems without `/proc` answer none.
pub fn start_ticks(pid: u32) -> Option<u64> {
    running_since(pid).ok().flatten()
}

/// The same of the process of this number, or of this one: `self`. Fails when the system can't tell.
pub fn running_since(process: impl Display) -> io::Result<Option<u64>> {
    let path = format!("/proc/{process}/stat");
    match fs::read(&path) {
        Ok(stat) => match Stat::parse(&stat) {
            Some(stat) => Ok((!stat.ended).then_some(stat.started)),
            None => Err(io::Error::new(ErrorKind::InvalidData, format!("{path} has no state and no start time"))),
        },
        // The second: it ended between the opening and the reading.
        Err(e) if e.kind() == ErrorKind::NotFound || e.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
        Err(e) => Err(e),
    }
}

/// What the system tells of a process.
struct Stat {
    started: u64,
    ended: bool,
}

impl Stat {
    /// The state is field 3 and the start time field 22; field 2 is the program's name in
    /// parentheses, which may hold spaces and parentheses itself.
    fn parse(stat: &[u8]) -> Option<Self> {
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let mut fields = str::from_utf8(stat.get(name_end + 1..)?).ok()?.split_ascii_whitespace();
        // A zombie holds nothing any more, and where the first process of a container waits for
        // nobody it stays for ever; `X` and `x` are on their way out.
        let ended = matches!(fields.next()?, "Z" | "X" | "x");
        Some(Self { started: fields.nth(18)?.parse().ok()?, ended })
    }
}

/// Program and arguments of a running process, a space between them, at most 4 KiB; none when
/// there is no such process, it has ended, or it is another person's.
pub fn command_line(pid: u32) -> Option<String> {
    let mut line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    line.truncate(COMMAND_LINE);
    let text = String::from_utf8_lossy(&line).replace('\0', " ");
    let text = text.trim_end();
    // A process that has ended and was not waited for has none.
    (!text.is_empty()).then(|| text.to_owned())
}

/// For each file of the store a process that holds an advisory lock on it, if one does.
/// Systems without `/proc/locks` answer none.
pub fn lock_holders(store: &Store, paths: &[String]) -> Vec<Option<u32>> {
    // The table changes while it is read, and a lock may be passed over when others come and go:
    // one that is in either of two looks is held.
    let look = || fs::read_to_string("/proc/locks").unwrap_or_default();
    let locks = look() + &look();
    let locked: Vec<(&str, u32)> = locks.lines().filter_map(lock).collect();
    let holder = |path: &String| {
        let file = store.metadata(path)?;
        holder(&locked, file.dev(), file.ino())
    };
    paths.iter().map(holder).collect()
}

/// File and holder of one line of `/proc/locks`: `1: POSIX  ADVISORY  WRITE 77 08:01:5 0 EOF`,
/// with `->` before the kind for those who wait, which are none.
fn lock(line: &str) -> Option<(&str, u32)> {
    if line.contains("->") {
        return None;
    }
    let mut fields = line.split_ascii_whitespace().skip(4);
    let pid = fields.next()?.parse().ok()?;
    Some((fields.next()?, pid))
}

fn holder(locks: &[(&str, u32)], device: u64, inode: u64) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    locks.iter().find(|(locked, _)| *locked == file).map(|(_, pid)| *pid)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::{Stat, command_line, holder, lock, start_ticks};
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        assert!(start_ticks(std::process::id()).is_some_and(|ticks| ticks > 0));
        assert_eq!(start_ticks(u32::MAX), None);
    }

    #[test]
    fn the_name_of_the_program_may_hold_anything() {
        let stat = Stat::parse(b"42 (a) R 1 (\xff) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20").unwrap();
        assert_eq!((stat.started, stat.ended), (777, false));
        assert!(Stat::parse(b"42 (a) Z 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777").unwrap().ended);
        for wrong in
            [&b""[..], b"42 (a", b"42 (a)", b"42 (a) S 1 2", b"(a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"]
        {
            assert!(Stat::parse(wrong).is_none());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn one_that_has_ended_and_is_not_waited_for_does_not_run() {
        let mut ended = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(start_ticks(ended.id()).is_some());
        drop(ended.stdin.take());
        let stat = || std::fs::read_to_string(format!("/proc/{}/stat", ended.id())).unwrap();
        while !stat().contains(") Z ") {
            std::thread::yield_now();
        }
        assert_eq!(start_ticks(ended.id()), None);
        ended.wait().unwrap();
    }

    #[test]
    fn a_command_line_names_the_program() {
        let own = std::env::args().next().unwrap_or_default();
        assert!(command_line(std::process::id()).is_some_and(|line| line.starts_with(&own)));
        assert_eq!(command_line(u32::MAX), None);
    }

    #[test]
    fn the_holder_is_told_from_those_who_wait() {
        let locks = "1: FLOCK  ADVISORY  WRITE 11 08:01:50 0 EOF\n\
                     2: -> POSIX  ADVISORY  WRITE 12 08:01:51 0 EOF\n\
                     3: POSIX  ADVISORY  READ  13 08:01:51 0 EOF\n\
                     4: OFDLCK ADVISORY  READ -1 08:01:52 0 EOF\n";
        let locks: Vec<_> = locks.lines().filter_map(lock).collect();
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(holder(&locks, device, 50), Some(11));
        assert_eq!(holder(&locks, device, 51), Some(13));
        assert_eq!(holder(&locks, device, 52), None);
        assert_eq!(holder(&locks, device, 5), None);
        assert_eq!(holder(&locks, rustix::fs::makedev(8, 2), 50), None);
    }
}
