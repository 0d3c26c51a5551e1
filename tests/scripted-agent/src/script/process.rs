//! Steps that concern the process itself.

use super::switch::On;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The end of the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// The exit code.
    pub exit: u8,
}

/// The end of the process by SIGKILL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kill {
    /// Who is killed.
    pub kill: Victim,
}

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Victim {
    /// The agent.
    #[serde(rename = "self")]
    Agent,
}

/// The client sees the end of stdout; the agent lives, and what it writes is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloseStdout {
    /// There is nothing to choose.
    pub close_stdout: On,
}

/// The client can write no more; the agent lives and writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloseStdin {
    /// There is nothing to choose.
    pub close_stdin: On,
}

/// Starts processes that ignore SIGTERM, SIGHUP, SIGINT and the end of stdin, each the child of
/// the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpawnStubborn {
    /// Which ones.
    pub spawn_stubborn: StubbornChild,
}

/// Processes that do not end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StubbornChild {
    /// How many: 2 is a child and a grandchild.
    pub depth: u32,
    /// Gets the pid of each on a line of its own. The step ends when all are there.
    pub pid_file: PathBuf,
    /// Whether they hold stdin, stdout and stderr of the agent open.
    #[serde(default = "inherit")]
    pub inherit_stdio: bool,
}

fn inherit() -> bool {
    true
}

/// SIGTERM, SIGHUP and SIGINT do nothing. They do nothing from the start of a process whose
/// script has this step anywhere, not only from the step on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoreSignals {
    /// There is nothing to choose.
    pub ignore_signals: On,
}
