//! Whether a process that a lock names is still the one that took it, and who holds a lock.

use super::store::Store;
use cap_std::fs::MetadataExt;

/// Bytes of a command line that are told.
const COMMAND_LINE: usize = 4 << 10;

/// Start time of a running process in clock ticks since boot; none when there is no such
/// process, or it has ended and nobody has waited for it yet. Field 22 of `/proc/<pid>/stat`;
/// systems without `/proc` answer none.
pub fn start_ticks(pid: u32) -> Option<u64> {
    running_since(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Start time in what `/proc/<pid>/stat` holds of a process that runs.
fn running_since(stat: &str) -> Option<u64> {
    // The second field is the program's name in parentheses and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    // A zombie holds nothing any more, and where the first process of a container waits for
    // nobody it stays for ever; `X` and `x` are on their way out.
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Program and arguments of a running process, a space between them, at most 4 KiB; none when
/// there is no such process, it has ended, or it is another person's.
pub fn command_line(pid: u32) -> Option<String> {
    let mut line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
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
    let look = || std::fs::read_to_string("/proc/locks").unwrap_or_default();
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

    use super::{command_line, holder, lock, running_since, start_ticks};
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        assert!(start_ticks(std::process::id()).is_some_and(|ticks| ticks > 0));
        assert_eq!(start_ticks(u32::MAX), None);
    }

    #[test]
    fn the_name_of_a_program_moves_no_field() {
        let stat = |state: &str| format!("7 (a) S 1 (b)) {state} 1 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 1 0 4711 9 9");
        assert_eq!(running_since(&stat("S")), Some(4711));
        assert_eq!(running_since(&stat("Z")), None);
        assert_eq!(running_since("7 (a) S 1"), None);
        assert_eq!(running_since(""), None);
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
