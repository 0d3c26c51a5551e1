//! Sessions that a running agent holds.
//!
//! The agent keeps no lock of a session. What there is: a status that says that it goes on, and
//! the number of the process that runs it. A process of the agent's own holds its sessions, at
//! work or not. In a hub, which outlives its clients, only those at work are held. A process
//! that is gone proves nothing, since a session that was resumed keeps the number of the first.

use crate::about::About;
use crate::database::Index;
use crate::facts::Facts;
use crate::place::{Folder, SESSIONS, STORE, is_id};
use crate::session;
use sepia_ir::{DriverError, FileEntry, LockState};
use sepia_sdk::Host;
use std::collections::{HashMap, HashSet};

/// What runs a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runner {
    /// A process of the agent, for its own sessions.
    Own,
    /// The agent's hub, for those of its clients.
    Hub,
    /// None, or something else that got the number.
    None,
}

/// See the module.
pub(crate) fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
    let index = Index::new(host, Vec::new());
    // An index that can't be read is told by the list; the manifests say the same.
    let (known, rows) = match (index.outlines(), index.open_sessions()) {
        (Ok(all), Ok(open)) => (all.into_iter().map(|row| row.id).collect(), open),
        _ => (HashSet::new(), Vec::new()),
    };
    let mut open = rows;
    open.extend(of_manifests(host, &known)?);
    let mut runners: HashMap<u32, Runner> = HashMap::new();
    let mut locks = Vec::new();
    for (id, facts) in open {
        let Some(pid) = facts.pid.filter(|_| facts.is_open() && is_id(&id)) else { continue };
        let runner = *runners.entry(pid).or_insert_with(|| runner(host, pid));
        let at_work = matches!(facts.status.as_deref(), Some("running" | "pending"));
        if runner == Runner::Own || (runner == Runner::Hub && at_work) {
            locks.push(LockState { id, holder_pid: Some(pid) });
        }
    }
    locks.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    locks.dedup_by(|a, b| a.id == b.id);
    Ok(locks)
}

/// What the manifests say of sessions that the index does not know.
fn of_manifests(host: &Host, known: &HashSet<String>) -> Result<Vec<(String, Facts)>, DriverError> {
    let mut open = Vec::new();
    for file in host.walk(STORE, SESSIONS, 1, &[".json".to_owned()])?.files {
        let Some(name) = folder_of(&file).map(str::to_owned).filter(|name| !known.contains(name)) else { continue };
        let folder = Folder { name, files: vec![file] };
        if let Some(facts) = session::manifest(host, &folder, &mut About::default()) {
            open.push((folder.name, facts));
        }
    }
    Ok(open)
}

/// The folder of a manifest.
fn folder_of(file: &FileEntry) -> Option<&str> {
    let (folder, name) = file.path.strip_prefix(SESSIONS)?.strip_prefix('/')?.split_once('/')?;
    (name.strip_suffix(".json") == Some(folder)).then_some(folder)
}

fn runner(host: &Host, pid: u32) -> Runner {
    match host.command_line(pid) {
        Some(line) if is_agent(&line) => {
            if line.split(' ').any(|word| word == "--cline-hub-daemon") {
                Runner::Hub
            } else {
                Runner::Own
            }
        }
        _ => Runner::None,
    }
}

/// Whether a command line is the agent's: its program, or a script of it that an interpreter
/// runs.
fn is_agent(line: &str) -> bool {
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let Some(program) = words.next() else { return false };
    if is_named(program) {
        return true;
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let interprets = ["node", "bun", "deno", "tsx"].contains(&name);
    let script = words.find(|word| !word.starts_with('-') && *word != "run");
    interprets && script.is_some_and(|script| script.split('/').any(|part| is_named(part) || part == "@cline"))
}

fn is_named(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = [".js", ".mjs", ".cjs", ".exe"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    name == "cline"
}

#[cfg(test)]
mod tests {
    use super::is_agent;

    #[test]
    fn the_agent_is_told_by_its_program() {
        for line in [
            "cline --json x",
            "/usr/bin/cline --acp",
            "node /opt/lib/cline/dist/index.js",
            "bun run /x/@cline/cli/main.mjs",
            "node --no-warnings /usr/bin/cline",
        ] {
            assert!(is_agent(line), "{line}");
        }
        for line in [
            "",
            "vim cline",
            "node server.js cline",
            "/usr/bin/clined",
            "tail -f /home/dev/.cline/data/logs/cline.log",
            "node",
        ] {
            assert!(!is_agent(line), "{line}");
        }
    }
}
