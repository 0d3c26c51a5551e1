//! Resuming a session by the Agent Client Protocol.

use super::LIMIT;
use crate::Failed;
use crate::acp::{Agent, Turn};
use std::path::Path;
use std::process::Command;

/// Loads the session, prompts it, and ends the program: the text of the answer.
pub(super) fn resume(command: &mut Command, session: &str, cwd: &Path, prompt: &str) -> Result<String, Failed> {
    let mut agent = Agent::start(command, LIMIT)?;
    let talked = talk(&mut agent, session, cwd, prompt);
    let ended = agent.end()?;
    match talked {
        Ok(turn) if turn.stop == "end_turn" && !ended.is_late => Ok(turn.said),
        Ok(turn) => Err(format!("the turn ended with `{}`; {}", turn.stop, ended.said()).into()),
        Err(e) => Err(format!("{e}; {}", ended.said()).into()),
    }
}

fn talk(agent: &mut Agent, session: &str, cwd: &Path, prompt: &str) -> Result<Turn, Failed> {
    agent.initialize()?;
    agent.load(session, cwd)?;
    agent.prompt(session, prompt)
}
