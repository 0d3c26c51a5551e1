//! The process itself.

use super::super::run::Run;
use super::super::{complain, stubborn};
use crate::record::Event;
use crate::script::StubbornChild;
use rustix::process::{Signal, getpid, kill_process};

pub(super) fn kill(run: &Run<'_>) {
    run.agent.keep_all();
    run.agent.record(Event::Exit { code: None });
    if let Err(e) = kill_process(getpid(), Signal::KILL) {
        complain(&format!("the agent could not kill itself: {e}"));
    }
}

pub(super) fn close_stdout(run: &Run<'_>) {
    run.keep();
    run.agent.record(Event::ClosedStdout);
    if let Err(e) = run.agent.stdout.close() {
        complain(&format!("stdout could not be closed: {e}"));
    }
}

pub(super) fn close_stdin(run: &Run<'_>) {
    run.keep();
    run.agent.record(Event::ClosedStdin);
    if let Err(e) = run.agent.stdin.close() {
        complain(&format!("stdin could not be closed: {e}"));
    }
}

pub(super) fn spawn_stubborn(run: &Run<'_>, step: &StubbornChild) {
    match stubborn::spawn(step.depth, &step.pid_file, step.inherit_stdio) {
        Ok(pids) => run.agent.record(Event::Spawned { pids }),
        Err(e) => complain(&format!("the processes could not be started: {e}")),
    }
}
