//! How each kind of step is done.

mod answering;
mod asking;
mod flood;
mod output;
mod process;
mod raw;
mod waiting;

use super::run::Run;
use crate::script::{Awaited, Step};

/// How it goes on after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next step.
    Next,
    /// Where the cancel is waited for, or nowhere.
    Interrupted,
}

/// Runs steps. A cancel skips those up to the next that waits for one: a script that waits at its
/// third step must not depend on whether the agent had come so far when the cancel came.
pub(crate) fn run(run: &mut Run<'_>, steps: &[Step]) -> Flow {
    let mut left = steps.iter();
    while let Some(mut step) = left.next() {
        if run.call.bell.is_interrupted() && !waits_for_cancel(step) {
            match left.find(|step| waits_for_cancel(step)) {
                Some(waiting) => step = waiting,
                None => return Flow::Interrupted,
            }
        }
        do_step(run, step);
    }
    if run.call.bell.is_interrupted() { Flow::Interrupted } else { Flow::Next }
}

fn waits_for_cancel(step: &Step) -> bool {
    matches!(step, Step::WaitFor(step) if step.wait_for == Awaited::Cancel)
}

fn do_step(run: &mut Run<'_>, step: &Step) {
    match step {
        Step::Update(step) => run.update(&run.known().fill(&step.update)),
        Step::Text(step) => output::text(run, step),
        Step::Thought(step) => output::thought(run, step),
        Step::Flood(step) => flood::flood(run, &step.flood),
        Step::Tool(step) => output::tool(run, &step.tool),
        Step::Echo(_) => run.say("agent_message_chunk", None, &run.text),
        Step::Remember(_) => output::remember(run),
        Step::Replay(_) => output::replay(run),
        Step::Permission(step) => asking::permission(run, &step.permission),
        Step::Request(step) => asking::request(run, &step.request),
        Step::Notify(step) => run.agent.notify(&step.notify.method, &run.known().fill(&step.notify.params)),
        Step::Raw(step) => raw::raw(run, step),
        Step::RawRepeat(step) => raw::raw_repeat(run, &step.raw_repeat),
        Step::Stderr(step) => raw::stderr(run, step),
        Step::Sleep(step) => waiting::sleep(run, step),
        Step::WaitFor(step) => waiting::wait_for(run, step),
        Step::WaitForFile(step) => waiting::wait_for_file(run, step),
        Step::Touch(step) => waiting::touch(run, step),
        Step::Exit(step) => run.agent.leave(step.exit),
        Step::Kill(_) => process::kill(run),
        Step::CloseStdout(_) => process::close_stdout(run),
        Step::CloseStdin(_) => process::close_stdin(run),
        Step::SpawnStubborn(step) => process::spawn_stubborn(run, &step.spawn_stubborn),
        // It was done when the process started.
        Step::IgnoreSignals(_) => {}
        Step::Respond(step) => run.answer(Ok(run.known().fill(&step.respond))),
        Step::Fail(step) => answering::fail(run, step),
        Step::RespondAndExit(step) => answering::respond_and_exit(run, step),
        Step::NoAnswer(_) => run.is_settled = true,
        Step::Late(step) => run.late.extend(step.late.iter().cloned()),
        Step::Repeat(step) => answering::repeat(run, &step.repeat),
    }
}
