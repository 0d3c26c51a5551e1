//! Processes, as `/proc` shows them.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long something outside of us may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Looks until it is so: for what nobody sends an event for.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}: not so after {PATIENCE:?}");
        sleep(Duration::from_millis(10));
    }
}

/// Process groups of driver programs that wrote their ids into the file `pids` of a folder.
pub fn groups_of(folder: &Path) -> Vec<u32> {
    let text = fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// Processes of these groups that still run; one that ended and was not waited for does not count.
pub fn alive_in(groups: &[u32]) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|pid: &u32| group(*pid).is_some_and(|group| groups.contains(&group))).collect()
}

fn group(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in the second field may hold anything; what follows its last parenthesis can't.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let (state, _parent, group) = (fields.next()?, fields.next()?, fields.next()?);
    (state != "Z" && state != "X").then(|| group.parse().ok()).flatten()
}

/// The most memory that a process had resident so far, bytes.
pub fn peak_memory(pid: u32) -> u64 {
    memory(pid, "VmHWM:")
}

/// What a process has resident, bytes.
pub fn resident_memory(pid: u32) -> u64 {
    memory(pid, "VmRSS:")
}

fn memory(pid: u32, what: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Whether a process runs; one that ended and was not waited for does not.
pub fn is_alive(pid: u32) -> bool {
    group(pid).is_some()
}

/// Waits until a process has ended.
pub fn wait_until_gone(pid: u32) {
    wait_until("a process has ended", || !is_alive(pid));
}
