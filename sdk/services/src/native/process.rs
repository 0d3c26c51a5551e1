//! Whether a process that a lock names is still the one that took it.

/// Start time of a running process in clock ticks since boot; none when there is no such
/// process. Field 22 of `/proc/<pid>/stat`; systems without `/proc` answer none.
pub fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    let after_name = &stat[stat.rfind(')')? + 1..];
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::start_ticks;

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        assert!(start_ticks(std::process::id()).is_some_and(|ticks| ticks > 0));
        assert_eq!(start_ticks(u32::MAX), None);
    }
}
