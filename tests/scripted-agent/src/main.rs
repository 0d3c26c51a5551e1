//! `scripted-agent SCRIPT.json …`: an agent that does what a script says.

use std::process::ExitCode;

fn main() -> ExitCode {
    sepia_scripted_agent::run(std::env::args_os().skip(1).collect())
}
