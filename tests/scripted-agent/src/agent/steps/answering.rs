//! Answers, and steps that hold steps.

use super::super::defaults;
use super::super::run::Run;
use super::Flow;
use crate::record::Event;
use crate::script::{Fail, RespondAndExit, Round, RpcError};

pub(super) fn fail(run: &mut Run<'_>, step: &Fail) {
    let RpcError { code, message, data } = &step.error;
    let data = data.as_ref().map(|data| run.known().fill(data));
    run.answer(Err(RpcError { code: *code, message: message.clone(), data }));
}

pub(super) fn respond_and_exit(run: &mut Run<'_>, step: &RespondAndExit) {
    let outcome = defaults::result(run);
    let frame = run.answer_frame(outcome);
    run.agent.keep_all();
    // Before the answer: nothing is to come between it and the end.
    run.agent.record(Event::Exit { code: Some(step.respond_and_exit) });
    run.agent.send(frame.as_bytes());
    std::process::exit(i32::from(step.respond_and_exit))
}

pub(super) fn repeat(run: &mut Run<'_>, round: &Round) {
    for _ in 0..round.times {
        if super::run(run, &round.steps) == Flow::Interrupted {
            return;
        }
    }
}
