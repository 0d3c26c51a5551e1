//! Processes of agents, found from outside.

use rustix::process::{Pid, Signal, kill_process};
use sepia_tests::processes::is_alive;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Agents whose script is below a folder. Not by the ids of those that were started: in thousands
/// of turns an id comes again for a process that is none of ours.
pub(crate) fn running(folder: &Path) -> Vec<u32> {
    let folder = folder.as_os_str().as_bytes();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_agent = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let mut arguments = line.split(|byte| *byte == 0);
        let program = arguments.next().unwrap_or_default();
        program.ends_with(b"scripted-agent-for-tests")
            && arguments.any(|argument| argument.starts_with(folder))
            && is_alive(*pid)
    };
    processes.filter(is_agent).collect()
}

/// Kills the agent that works in a directory; whether there was one.
pub(crate) fn kill_in(folder: &Path, cwd: &Path) -> bool {
    let in_it = |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|own| own == cwd);
    let agents: Vec<u32> = running(folder).into_iter().filter(in_it).collect();
    // One may have ended by itself meanwhile.
    agents.iter().any(|pid| kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).is_ok())
}
