//! A process and everything that it starts: one process group, ended as one.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

/// How long a group has between being asked to end and being killed.
const GRACE: Duration = Duration::from_secs(1);

/// A variable of the environment: name and value.
pub(crate) type Variable = (OsString, OsString);

/// What to start, and with what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch<'a> {
    /// The program.
    pub(crate) program: &'a Path,
    /// Its arguments.
    pub(crate) arguments: &'a [OsString],
    /// Its environment.
    pub(crate) environment: Environment<'a>,
    /// Its directory; none: ours.
    pub(crate) directory: Option<&'a Path>,
}

/// The environment of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Environment<'a> {
    /// Ours, with these variables changed.
    Ours(&'a [Variable]),
    /// These variables and no others.
    Only(&'a [Variable]),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// The system does not tell.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Self::Unknown => f.write_str("ended"),
        }
    }
}

impl From<WaitIdStatus> for Exit {
    fn from(status: WaitIdStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Self::Code(code),
            (_, Some(signal)) => Self::Signal(signal),
            _ => Self::Unknown,
        }
    }
}

/// A running process that leads a group of its own. Dropped, the group is killed.
///
/// The leader is reaped last: until then its id, which is the group's too, can't pass to a
/// stranger, so that a signal never hits one.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Child,
    id: Pid,
    reaped: bool,
}

/// The pipes of a process.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Group {
    /// Starts a program.
    pub(crate) fn start(launch: &Launch<'_>, stdin: Stdio) -> io::Result<(Self, Pipes)> {
        let mut command = Command::new(launch.program);
        command
            .args(launch.arguments)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        match launch.environment {
            Environment::Ours(changes) => command.envs(changes.iter().map(|(name, value)| (name, value))),
            Environment::Only(all) => command.env_clear().envs(all.iter().map(|(name, value)| (name, value))),
        };
        if let Some(directory) = launch.directory {
            command.current_dir(directory);
        }
        let mut leader = command.spawn()?;
        let id = leader.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let (Some(id), Some(stdout), Some(stderr)) = (id, leader.stdout.take(), leader.stderr.take()) else {
            return Err(io::Error::other("the system gave the new process no id or no pipes"));
        };
        let pipes = Pipes { stdin: leader.stdin.take(), stdout, stderr };
        Ok((Self { leader, id, reaped: false }, pipes))
    }

    /// Waits until the leader has ended, and leaves it unreaped.
    pub(crate) async fn exited(&self) -> io::Result<Exit> {
        // Listening comes before looking, so that no end falls between.
        let mut ends = signal(SignalKind::child())?;
        loop {
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            match waitid(WaitId::Pid(self.id), look) {
                Ok(Some(status)) => return Ok(status.into()),
                Ok(None) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(e) => return Err(e.into()),
            }
            if ends.recv().await.is_none() {
                return Err(io::Error::other("the ends of processes are no longer told"));
            }
        }
    }

    /// Kills what of the group still runs.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Asks the group to end, kills what is left after a second, and reaps the leader.
    pub(crate) async fn end(mut self) {
        self.signal(Signal::TERM);
        let _waited = timeout(GRACE, self.exited()).await;
        self.kill();
        match self.leader.wait().await {
            Ok(_) => self.reaped = true,
            Err(e) => tracing::warn!("process {} could not be reaped: {e}", self.id.as_raw_nonzero()),
        }
    }

    fn signal(&self, signal: Signal) {
        match kill_process_group(self.id, signal) {
            // Nobody is left: fine.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(e) => tracing::warn!("process group {} could not be signalled: {e}", self.id.as_raw_nonzero()),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
        }
    }
}
