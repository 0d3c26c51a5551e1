//! `cargo xtask build`: adds the wasm target when it is missing and builds everything.

use crate::Context;
use crate::failure::Failure;
use crate::step::Step;
use std::path::PathBuf;

/// The host with its embedded drivers, the native drivers, and the tests with all that they
/// stand on: what tests need of a dependency may change its features, and everything above it
/// would be compiled twice if the tests came later.
pub(crate) const EVERYTHING: Step =
    Step { name: "build", arguments: &["build", "--release", "--workspace", "--all-targets"] };

/// Only what a person needs: the program and the native drivers.
const PROGRAM: Step = Step { name: "build", arguments: &["build", "--release"] };

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    add_target(context)?;
    EVERYTHING.must_succeed(context)?;
    context.console.say("The program is `sepia` in the folder release/ of the target directory.");
    Ok(())
}

/// Adds the target of components, saying so only when there was something to do.
pub(crate) fn add_target(context: &Context) -> Result<(), Failure> {
    if !sepia_build::has_target()? {
        context
            .console
            .say(&format!("Adding the compilation target {} (once; needs the network)", sepia_build::TARGET));
        sepia_build::add_target()?;
    }
    Ok(())
}

/// Builds the program and says where it is.
pub(crate) fn program(context: &Context) -> Result<PathBuf, Failure> {
    add_target(context)?;
    PROGRAM.must_succeed(context)?;
    let program = sepia_build::target_dir(&context.root)?.join("release/sepia");
    if program.is_file() {
        return Ok(program);
    }
    Err(Failure::new(
        "the build left no release/sepia in the target directory: unset CARGO_BUILD_TARGET, or build for this machine",
    ))
}
