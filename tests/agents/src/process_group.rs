//! A program that is run with a hard limit of time, in a process group of its own that is
//! killed at the end, whatever it started.

use crate::Failed;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More output than this is not kept.
const LONGEST_OUTPUT: u64 = 64 << 20;

/// A running program.
pub(crate) struct Group {
    /// Reaped last: until then its id, which is the group's too, passes to nobody else.
    leader: Child,
    id: Pid,
    stderr: Option<JoinHandle<String>>,
    watch: Option<(Sender<()>, JoinHandle<()>)>,
    is_late: Arc<AtomicBool>,
}

/// What is left of it.
#[derive(Debug)]
pub(crate) struct Ended {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// All of its stdout, when that was not read by another.
    pub(crate) stdout: String,
    /// All of its stderr.
    pub(crate) stderr: String,
    /// It was killed because its time was over.
    pub(crate) is_late: bool,
}

impl Ended {
    /// How it ended, and the end of what it said, for an error.
    pub(crate) fn said(&self) -> String {
        let late = if self.is_late { ", killed because its time was over" } else { "" };
        let said = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        let mut lines: Vec<&str> = said.lines().rev().filter(|line| !line.trim().is_empty()).take(8).collect();
        lines.reverse();
        if lines.is_empty() {
            return format!("{}{late}, without a word", self.status);
        }
        format!("{}{late}; it said:\n      {}", self.status, lines.join("\n      "))
    }
}

impl Group {
    /// Starts a program whose stdin and stdout are the caller's to use.
    pub(crate) fn start(command: &mut Command, limit: Duration) -> Result<(Self, ChildStdin, ChildStdout), Failed> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut leader =
            command.spawn().map_err(|e| format!("{} can't be started: {e}", command.get_program().display()))?;
        let id = Pid::from_child(&leader);
        let (stdin, stdout) = (leader.stdin.take(), leader.stdout.take());
        let stderr = leader.stderr.take().map(|pipe| thread::spawn(move || text(pipe)));
        let (stop, stopped) = mpsc::channel::<()>();
        let is_late = Arc::new(AtomicBool::new(false));
        let late = Arc::clone(&is_late);
        let watch = thread::spawn(move || {
            if stopped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                late.store(true, Ordering::Release);
                kill(id);
            }
        });
        let group = Self { leader, id, stderr, watch: Some((stop, watch)), is_late };
        match (stdin, stdout) {
            (Some(stdin), Some(stdout)) => Ok((group, stdin, stdout)),
            _ => Err("a program was started without pipes".into()),
        }
    }

    /// Runs a program to its end, with nothing on its stdin.
    pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Ended, Failed> {
        let (group, stdin, stdout) = Self::start(command, limit)?;
        drop(stdin);
        let stdout = thread::spawn(move || text(stdout));
        let mut ended = group.wait()?;
        ended.stdout = stdout.join().unwrap_or_default();
        Ok(ended)
    }

    /// Waits until the program has ended, and ends what it started.
    pub(crate) fn wait(mut self) -> Result<Ended, Failed> {
        self.has_ended()?;
        self.end();
        let status = self.leader.wait()?;
        let stderr = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        Ok(Ended { status, stdout: String::new(), stderr, is_late: self.is_late.load(Ordering::Acquire) })
    }

    /// Waits for the leader without reaping it; the watch sees to it that this ends.
    fn has_ended(&self) -> io::Result<()> {
        loop {
            match waitid(WaitId::Pid(self.id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Err(Errno::INTR) => {}
                Err(e) => return Err(e.into()),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Kills the whole group. The watch is over before the leader's id is given back.
    fn end(&mut self) {
        if let Some((stop, watch)) = self.watch.take() {
            drop(stop);
            // It has nothing to tell.
            let _ended = watch.join();
        }
        kill(self.id);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.watch.is_some() {
            self.end();
            // Nothing is left to be done about one that can't be waited for.
            let _reaped = self.leader.wait();
        }
    }
}

fn kill(group: Pid) {
    // There is no such group once all of it is gone, which is what is wanted.
    let _gone = kill_process_group(group, Signal::KILL);
}

fn text(pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // What was read until the pipe broke is what can be told.
    let _broken = pipe.take(LONGEST_OUTPUT).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_and_the_end_are_told() {
        let ended = Group::run(&mut shell("echo out; echo err >&2; exit 3"), LONG).unwrap();
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!((ended.status.code(), ended.is_late), (Some(3), false));
    }

    #[test]
    fn what_a_program_left_running_is_killed_with_it() {
        // Its output stays open as long as the child lives: were it not killed, this would wait
        // for ten minutes.
        let ended = Group::run(&mut shell("sleep 600 & echo started"), LONG).unwrap();
        assert_eq!((ended.stdout.as_str(), ended.is_late), ("started\n", false));
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let ended = Group::run(&mut shell("sleep 600"), Duration::from_millis(50)).unwrap();
        assert!(ended.is_late);
        assert!(ended.said().contains("its time was over"));
    }
}
