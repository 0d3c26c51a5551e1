//! How a call, or the process, ends.

use crate::script::{
    CloseStdin, CloseStdout, Exit, Fail, IgnoreSignals, Kill, Late, NoAnswer, On, Repeat, Respond, RespondAndExit,
    Round, RpcError, SpawnStubborn, Step, StubbornChild, Victim,
};
use serde_json::Value;
use std::path::PathBuf;

/// Answers with this result.
pub fn respond(result: Value) -> Step {
    Respond { respond: result }.into()
}

/// Answers with an error.
pub fn error(code: i64, message: impl Into<String>) -> Step {
    Fail { error: RpcError::new(code, message) }.into()
}

/// Answers with an error that has data.
pub fn error_with(code: i64, message: impl Into<String>, data: Value) -> Step {
    Fail { error: RpcError { data: Some(data), ..RpcError::new(code, message) } }.into()
}

/// Answers with the default result and ends right behind it.
pub fn respond_and_exit(code: u8) -> Step {
    RespondAndExit { respond_and_exit: code }.into()
}

/// Never answers.
pub fn no_answer() -> Step {
    NoAnswer { no_answer: On }.into()
}

/// Does this after the answer.
pub fn late(steps: impl IntoIterator<Item = Step>) -> Step {
    Late { late: steps.into_iter().collect() }.into()
}

/// Does this so many times.
pub fn repeat(times: u64, steps: impl IntoIterator<Item = Step>) -> Step {
    Repeat { repeat: Round { times, steps: steps.into_iter().collect() } }.into()
}

/// Ends the process.
pub fn exit(code: u8) -> Step {
    Exit { exit: code }.into()
}

/// Ends the process by SIGKILL.
pub fn kill_self() -> Step {
    Kill { kill: Victim::Agent }.into()
}

/// Ends stdout; the process lives.
pub fn close_stdout() -> Step {
    CloseStdout { close_stdout: On }.into()
}

/// Ends stdin; the process lives.
pub fn close_stdin() -> Step {
    CloseStdin { close_stdin: On }.into()
}

/// Starts a chain of so many processes that do not end; their pids go to a file.
pub fn spawn_stubborn(depth: u32, pid_file: impl Into<PathBuf>) -> Step {
    SpawnStubborn { spawn_stubborn: StubbornChild { depth, pid_file: pid_file.into(), inherit_stdio: true } }.into()
}

/// The same, but without stdin, stdout and stderr of the agent, which end with it.
pub fn spawn_stubborn_apart(depth: u32, pid_file: impl Into<PathBuf>) -> Step {
    SpawnStubborn { spawn_stubborn: StubbornChild { depth, pid_file: pid_file.into(), inherit_stdio: false } }.into()
}

/// Ignores SIGTERM, SIGHUP and SIGINT, from the start of the process on.
pub fn ignore_signals() -> Step {
    IgnoreSignals { ignore_signals: On }.into()
}
