//! What is asked of each agent in the proof, and what the model says to it.

use crate::machine::Machine;
use crate::model_server::{Answer, Rule};
use crate::programs::Program;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// A prompt, and the text that the turn ends with.
pub(super) struct Turn {
    pub(super) prompt: &'static str,
    pub(super) said: &'static str,
}

/// A turn with a call of a tool that needs a permission.
pub(super) struct Writing {
    pub(super) turn: Turn,
    /// The id of the call, as the model gives it.
    pub(super) call: &'static str,
    /// The file that is written.
    file: &'static str,
}

pub(super) const FIRST: Turn = Turn { prompt: "Please name the first colour.", said: "The first colour is red." };
pub(super) const ALLOWED: Writing = Writing {
    turn: Turn { prompt: "Please write the allowed file.", said: "The allowed file is written." },
    call: "toolu_live_allowed",
    file: "allowed.txt",
};
pub(super) const REFUSED: Writing = Writing {
    turn: Turn { prompt: "Please write the refused file.", said: "The refused file is not written." },
    call: "toolu_live_refused",
    file: "refused.txt",
};
/// Its answer would come long after all limits.
pub(super) const CANCELLED: Turn = Turn { prompt: "Please think very long.", said: "This took an hour." };
pub(super) const NEXT: Turn = Turn { prompt: "Please name the second colour.", said: "The second colour is blue." };
pub(super) const LAST: Turn = Turn { prompt: "Please name both colours.", said: "They are red and blue." };
pub(super) const OTHER: Turn = Turn { prompt: "Please say hello.", said: "Hello from another session." };

/// What is written into files.
pub(super) const CONTENT: &str = "written by the agent";

impl Writing {
    /// Where the file is.
    pub(super) fn path(&self, machine: &Machine) -> PathBuf {
        machine.cwd().join(self.file)
    }

    /// The tool, and what it is called with.
    pub(super) fn tool(&self, program: Program, machine: &Machine) -> (&'static str, Value) {
        match program {
            Program::ClaudeCode | Program::ClaudeAgentAcp => {
                ("Write", json!({"file_path": self.path(machine), "content": CONTENT}))
            }
            Program::Cline => ("run_commands", json!({"commands": [format!("printf '{CONTENT}' > {}", self.file)]})),
        }
    }

    fn rule(&self, program: Program, machine: &Machine) -> Rule {
        let (tool, input) = self.tool(program, machine);
        let (id, after) = (self.call.to_owned(), self.turn.said.to_owned());
        let answer = Answer::Call { id, tool: tool.to_owned(), input, after };
        Rule { asked: self.turn.prompt.to_owned(), answer, delay: Duration::ZERO }
    }
}

/// What the model says to all of it.
pub(super) fn rules(program: Program, machine: &Machine) -> Vec<Rule> {
    let text = |turn: &Turn, delay: Duration| Rule {
        asked: turn.prompt.to_owned(),
        answer: Answer::Text(turn.said.to_owned()),
        delay,
    };
    let mut rules: Vec<Rule> = [FIRST, NEXT, LAST, OTHER].iter().map(|turn| text(turn, Duration::ZERO)).collect();
    rules.push(text(&CANCELLED, Duration::from_secs(3600)));
    rules.extend([ALLOWED, REFUSED].iter().map(|writing| writing.rule(program, machine)));
    rules
}
