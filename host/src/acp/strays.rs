//! Programs that an earlier sepia left behind, because it was killed itself: ended when the next
//! one starts an agent, and only those.
//!
//! Every agent gets a variable of its own, which all that it starts inherits, and a file under
//! `$SEPIA_HOME` holds its name while the agent runs. Nothing is told by a name or by a process
//! id, which may long be a stranger's.

use crate::home::unseen_in;
use crate::process::Variable;
use rustix::process::{Pid, Signal, kill_process};
use sepia_services::start_ticks;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The variable that tells whose a process is.
const VARIABLE: &str = "SEPIA_AGENT_TOKEN";
/// How long a stray has between being asked to end and being killed.
const GRACE: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The files that say which agents run, and for which sepia.
#[derive(Debug, Clone)]
pub(crate) struct Strays {
    folder: PathBuf,
}

/// The file of a running agent; gone with the value.
#[derive(Debug)]
pub(crate) struct Mark(PathBuf);

impl Drop for Mark {
    fn drop(&mut self) {
        // What stays names a token that nobody has.
        let _ = fs::remove_file(&self.0);
    }
}

impl Strays {
    /// The files in this folder, which need not be there.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// A token for an agent, and the variable that carries it.
    pub(super) fn token() -> (String, Variable) {
        let token = uuid::Uuid::new_v4().simple().to_string();
        (token.clone(), (VARIABLE.into(), token.into()))
    }

    /// Notes an agent that is about to run. Where that can't be written the log says so: nothing is worse for
    /// it as long as nobody kills us.
    pub(super) fn remember(&self, token: &str) -> Option<Mark> {
        let path = self.folder.join(token);
        match self.write(&path) {
            Ok(()) => Some(Mark(path)),
            Err(e) => {
                tracing::warn!("{} can't be written ({e}); an agent is left behind if sepia is killed", path.display());
                None
            }
        }
    }

    /// Whole under its name, or not at all: another process may look at any moment.
    fn write(&self, path: &Path) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let own = std::process::id();
        let start = start_ticks(own).unwrap_or_default();
        let mut file = unseen_in(&self.folder)?;
        io::Write::write_all(&mut file, format!("{own} {start}\n").as_bytes())?;
        file.persist(path).map(drop).map_err(|e| e.error)
    }

    /// Ends what earlier processes of ours left behind. Takes up to two seconds, and nothing at all
    /// when nothing was left; for a thread that may block.
    pub(crate) fn end_those_left(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut left: Vec<(String, PathBuf)> = Vec::new();
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let Some(token) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_token && fs::read_to_string(&path).is_ok_and(|text| !owner_lives(&text)) {
                left.push((token.to_owned(), path));
            }
        }
        let tokens: Vec<&str> = left.iter().map(|(token, _)| token.as_str()).collect();
        if !tokens.is_empty() && end_all(&tokens) {
            for (_, path) in &left {
                let _gone = fs::remove_file(path);
            }
        }
    }
}

/// Whether the process that a file names still runs.
fn owner_lives(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(pid), Some(start)) = (words.next().and_then(|word| word.parse().ok()), words.next()) else {
        return false;
    };
    start_ticks(pid).is_some_and(|actual| actual.to_string() == start)
}

/// Ends all processes with one of these tokens; whether none is left.
fn end_all(tokens: &[&str]) -> bool {
    let mut left = with_token(tokens);
    if left.is_empty() {
        return true;
    }
    tracing::warn!("{} processes that an earlier sepia left behind are ended", left.len());
    for how in [Signal::TERM, Signal::KILL] {
        signal(&left, how);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline && !left.is_empty() {
            std::thread::sleep(LOOK_AGAIN);
            left = with_token(tokens);
        }
    }
    left.is_empty()
}

fn signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        // One that is gone by now needs none.
        let _gone = kill_process(*process, signal);
    }
}

/// The processes that have one of the tokens in their environment. Those of other people can't be read,
/// and are none of ours.
fn with_token(tokens: &[&str]) -> Vec<Pid> {
    let wanted: Vec<String> = tokens.iter().map(|token| format!("{VARIABLE}={token}")).collect();
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let has_it = |path: &Path| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| wanted.iter().any(|wanted| variable == wanted.as_bytes()))
    };
    processes
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter_map(|path| Some((Pid::from_raw(path.file_name()?.to_str()?.parse().ok()?)?, path)))
        .filter(|(_, path)| has_it(path))
        .map(|(pid, _)| pid)
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{Strays, owner_lives, start_ticks, with_token};
    use std::process::{Command, Stdio};

    #[test]
    fn what_a_dead_process_left_is_ended_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let strays = Strays::at(folder.path().join("agents"));
        let (token, (name, value)) = Strays::token();
        let sleep = || {
            let mut command = Command::new("sleep");
            command.arg("600").stdin(Stdio::null());
            command
        };
        let mut left = sleep().env(&name, &value).spawn().unwrap();
        let mut decoy = sleep().spawn().unwrap();
        let mark = strays.remember(&token).unwrap();
        // The process that has it runs: it is us.
        strays.end_those_left();
        assert!(left.try_wait().unwrap().is_none());
        let gone = {
            let mut short = Command::new("true").spawn().unwrap();
            let id = short.id();
            short.wait().unwrap();
            id
        };
        std::fs::write(folder.path().join("agents").join(&token), format!("{gone} 1\n")).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| strays.end_those_left());
            // Reaped while the other waits for it to be gone.
            assert!(!left.wait().unwrap().success());
        });
        assert!(with_token(&[&token]).is_empty());
        assert!(!folder.path().join("agents").join(&token).exists());
        assert!(decoy.try_wait().unwrap().is_none(), "a process of that name that is not ours lives");
        decoy.kill().unwrap();
        decoy.wait().unwrap();
        drop(mark);
    }

    #[test]
    fn a_process_is_told_by_its_start_too() {
        let own = std::process::id();
        let start = start_ticks(own).unwrap();
        assert!(owner_lives(&format!("{own} {start}")));
        assert!(!owner_lives(&format!("{own} {}", start + 1)));
        assert!(!owner_lives("") && !owner_lives("x y"));
    }
}
