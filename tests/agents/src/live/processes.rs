//! Processes that know a machine: what is started there has its home directory in the
//! environment, whatever process group it makes for itself.

use crate::machine::Machine;
use std::fs;

/// Set by `sepia` for an agent's program, and handed on to all that it starts.
const OF_AGENT: &[u8] = b"SEPIA_AGENT_TOKEN=";

/// Agents' programs on the machine, and what these started.
pub(super) fn of_agents(machine: &Machine) -> Vec<String> {
    running(machine, |environment| environment.iter().any(|variable| variable.starts_with(OF_AGENT)))
}

/// All processes on the machine.
pub(super) fn all(machine: &Machine) -> Vec<String> {
    running(machine, |_| true)
}

/// Id and command line of processes on the machine. One that has ended has no environment.
fn running(machine: &Machine, is_wanted: impl Fn(&[&[u8]]) -> bool) -> Vec<String> {
    let home = format!("HOME={}", machine.home().display());
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let found = entries.filter_map(|entry| {
        let name = entry.file_name().to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?.to_owned();
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let variables: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
        if !variables.contains(&home.as_bytes()) || !is_wanted(&variables) {
            return None;
        }
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        Some(format!("{name} `{}`", String::from_utf8_lossy(&command).replace('\0', " ").trim_end()))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn only_what_knows_the_machine_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine::empty(folder.path()).unwrap();
        assert_eq!(all(&machine), Vec::<String>::new());
        let mut command = Command::new("sleep");
        let mut child = machine.confine(&mut command).arg("600").stdin(Stdio::null()).spawn().unwrap();
        assert_eq!(all(&machine), [format!("{} `sleep 600`", child.id())]);
        assert_eq!(of_agents(&machine), Vec::<String>::new());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(all(&machine), Vec::<String>::new());
    }
}
