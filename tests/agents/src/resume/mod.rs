//! Resuming a session with its agent's own program, one more prompt, and what the model was
//! shown then.

mod acp;
pub(crate) mod claude;
pub(crate) mod cline;

use crate::Failed;
use crate::conversation::{self, Part};
use crate::machine::Machine;
use crate::model_server::{ANSWER, ModelServer, Recorded};
use crate::programs::{Program, Programs};
use std::process::Command;
use std::time::Duration;

/// The time for a start, a turn and the end; the programs need two to four seconds when
/// nothing else runs.
const LIMIT: Duration = Duration::from_secs(180);
/// A key that opens nothing.
const KEY: &str = "sk-loopback";

/// What sessions are resumed with.
pub(crate) struct Resumer {
    programs: Programs,
    server: ModelServer,
}

impl Resumer {
    /// Starts the model server.
    pub(crate) fn new(programs: Programs) -> Result<Self, Failed> {
        Ok(Self { programs, server: ModelServer::start()? })
    }

    /// Resumes the session and says one thing more: the conversation that the model was shown.
    ///
    /// # Errors
    ///
    /// The program can't be run, doesn't find the session, or doesn't end its turn in time.
    pub(crate) fn resume(&self, program: Program, session: &str, machine: &Machine) -> Result<Vec<Part>, Failed> {
        let mut command = self.programs.command(program)?;
        // Only what this run asks counts.
        self.server.take();
        let address = self.server.address();
        let answer = match program {
            Program::ClaudeCode => claude::print(&mut command, session, machine, &address),
            Program::ClaudeAgentAcp | Program::Cline => speaks_acp(program, &mut command, machine, &address)
                .and_then(|command| acp::resume(command, session, machine.cwd(), &prompt(program))),
        };
        let asked = self.server.take();
        let answer = answer.map_err(|e| format!("{}: {e}", program.label()))?;
        if !answer.contains(ANSWER) {
            let said = format!("{} ended its turn without the answer of the model, with `{answer}`", program.label());
            return Err(said.into());
        }
        let prompt = prompt(program);
        let turns = asked.iter().filter(|asked| conversation::asks(&asked.body, &prompt));
        // Beside the turn a program may ask for a title, with the prompt alone.
        let turn = turns.map(|asked| conversation::parts(&asked.body)).max_by_key(Vec::len);
        turn.ok_or_else(|| {
            format!("{} asked the model for {} and never for the turn", program.label(), urls(&asked)).into()
        })
    }
}

/// Makes the command of a program one that speaks the Agent Client Protocol.
pub(crate) fn speaks_acp<'a>(
    program: Program,
    command: &'a mut Command,
    machine: &Machine,
    server: &str,
) -> Result<&'a mut Command, Failed> {
    match program {
        Program::ClaudeCode => Err("Claude Code speaks it only through another program".into()),
        Program::ClaudeAgentAcp => Ok(claude::point(confined(command, machine), server)),
        Program::Cline => cline::acp(command, machine, server),
    }
}

/// What is said on resuming. Another for each program, since one may come after the other.
fn prompt(program: Program) -> String {
    format!("Now this is asked through {}.", program.label())
}

fn urls(asked: &[Recorded]) -> String {
    match asked {
        [] => "nothing".to_owned(),
        asked => asked.iter().map(|asked| asked.url.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// What every program gets: the machine, and no way out of it. Requests to anywhere but the
/// loopback interface go to a proxy that isn't there.
pub(crate) fn confined<'a>(command: &'a mut Command, machine: &Machine) -> &'a mut Command {
    const NOWHERE: &str = "http://127.0.0.1:9";
    machine.confine(command);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        command.env(name, NOWHERE);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost")
}
