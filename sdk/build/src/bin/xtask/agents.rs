//! `cargo xtask agents`: builds the release program and runs the crate `sepia-agents`, which
//! knows which programs of agents to install, and what to prove with them.

use crate::Context;
use crate::build;
use crate::failure::Failure;
use crate::step::cargo;
use std::env;
use std::process::Command;

/// Where the agents' programs are kept, when not in the target directory.
const FOLDER: &str = "SEPIA_AGENTS_DIR";

pub(crate) fn run(context: &Context, arguments: &[String]) -> Result<(), Failure> {
    let program = build::program(context)?;
    let folder = match env::var_os(FOLDER).filter(|folder| !folder.is_empty()) {
        Some(folder) => std::path::absolute(&folder)
            .map_err(|error| Failure::new(format!("{FOLDER} is no folder ({error}): set it to one, or unset it")))?,
        None => sepia_build::target_dir(&context.root)?.join("agents"),
    };
    let status = Command::new(cargo())
        .args(["run", "--release", "--quiet", "--package", "sepia-agents", "--"])
        .args(arguments)
        .env("SEPIA_AGENTS_PROGRAM", program)
        .env(FOLDER, folder)
        .current_dir(&context.root)
        .status()
        .map_err(|error| {
            Failure::new(format!("the proof could not be run ({error}): check that cargo is installed"))
        })?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(Failure::new(
            "a session was not resumed with its whole conversation, or was not live as it should be: see the lines above",
        )),
        _ => Err(Failure::new("the proof broke off: see what it says above")),
    }
}
