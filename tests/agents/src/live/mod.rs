//! The proof of live sessions: the agents' own programs behind `sepia serve`, from the first
//! prompt of a session to its deletion.
//!
//! ```text
//! proof      the steps               script      what is asked, what the model says
//! session    what a step asks for    events      what has to be told and stored
//! client     the wire                remembered  what the model has to be shown
//! processes  what is left running      timing      what is added to the programs' own time
//! ```

mod client;
mod events;
mod processes;
mod proof;
mod remembered;
mod script;
mod session;
pub(crate) mod timing;

use crate::Failed;
use crate::machine::Machine;
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::programs::{Program, Programs};
use crate::resume::{claude, cline, confined};
use crate::say;
use proof::Proof;
use session::Live;
use std::process::Command;
use std::time::Instant;

/// An agent, and the program that it is live with.
const AGENTS: &[(&str, Program)] = &[("claude", Program::ClaudeAgentAcp), ("cline", Program::Cline)];

/// A conversation that is wrong is shown whole in what is said of it; so much of it tells why.
const LONGEST: usize = 6_000;

/// Proves the agents that the options ask for; whether all was well.
pub(crate) fn prove(options: &Options, programs: &Programs) -> Result<bool, Failed> {
    let mut is_well = true;
    for (agent, program) in AGENTS.iter().filter(|(agent, _)| options.has_target(agent)) {
        let machine = Machine::empty(&options.folder.join("machines"))?;
        is_well &= prove_one(options, programs, &machine, agent, *program)?;
        if options.keep {
            say(&format!("    kept: {}", machine.keep()));
        }
    }
    Ok(is_well)
}

fn prove_one(
    options: &Options,
    programs: &Programs,
    machine: &Machine,
    agent: &str,
    program: Program,
) -> Result<bool, Failed> {
    let server = ModelServer::with_rules(script::rules(program, machine))?;
    let mut serve = serve(options, programs, machine, &server.address())?;
    let live = Live::start(&mut serve)?;
    let mut proof = Proof { program, agent, machine, server: &server, live };
    let mut is_well = true;
    for (name, step) in Proof::STEPS {
        let start = Instant::now();
        is_well = tell(program, name, start, step(&mut proof));
        if !is_well {
            break;
        }
    }
    let start = Instant::now();
    let ended = proof.live.end()?;
    if !is_well {
        say(&format!("    sepia serve: {}", ended.said()));
    }
    let left = match processes::all(machine).as_slice() {
        [] if ended.status.success() && !ended.is_late => Ok("with 0".to_owned()),
        [] => Err(format!("sepia serve did not end well: {}", ended.said()).into()),
        left => Err(format!("this still runs: {}", left.join(", ")).into()),
    };
    Ok(tell(program, "ended, and nothing left", start, left) && is_well)
}

/// Tells what came of a step; whether it was well.
fn tell(program: Program, name: &str, start: Instant, outcome: Result<String, Failed>) -> bool {
    let (label, millis) = (program.label(), start.elapsed().as_millis());
    match &outcome {
        Ok(seen) => say(&format!("live {label}: {name}: ok, {seen} ({millis} ms)")),
        Err(e) => {
            let why: String = e.to_string().chars().take(LONGEST).collect();
            say(&format!("live {label}: {name}: failed ({millis} ms)\n    {why}"));
        }
    }
    outcome.is_ok()
}

/// `sepia serve` on the machine. The variables of both agents do no harm to each other.
fn serve(options: &Options, programs: &Programs, machine: &Machine, server: &str) -> Result<Command, Failed> {
    let mut serve = Command::new(&options.program);
    cline::point(claude::point(confined(&mut serve, machine), server), machine, server)?;
    serve.env("SEPIA_INHERIT_ENV", "1").env("SEPIA_LIST_TIMEOUT_MS", crate::sepia::LISTING).arg("serve");
    for (agent, program) in AGENTS.iter().filter(|(agent, _)| options.has_target(agent)) {
        let mut command = words(&programs.command(*program)?)?;
        if *program == Program::Cline {
            command.push_str(" --acp");
        }
        serve.env(format!("SEPIA_AGENT_{}_COMMAND", agent.to_uppercase()), command);
    }
    Ok(serve)
}

/// A command as `sepia` takes it from a variable: split at spaces.
fn words(command: &Command) -> Result<String, Failed> {
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(|word| {
        let word = word.to_string_lossy();
        if word.contains(char::is_whitespace) {
            return Err(format!("`{word}` has a space, which no command of an agent can have: move the folder"));
        }
        Ok(word.into_owned())
    });
    Ok(words.collect::<Result<Vec<_>, _>>()?.join(" "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn a_command_is_said_in_words() {
        assert_eq!(words(Command::new("node").arg("/a/b.js")).unwrap(), "node /a/b.js");
        assert!(words(Command::new("node").arg("/a c/b.js")).unwrap_err().to_string().contains("/a c/b.js"));
    }
}
