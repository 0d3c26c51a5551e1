//! `cargo xtask bench`: builds the release program and runs the benches of the crate
//! `sepia-tests`, which know how to make stores, what to time and what to compare with.

use crate::Context;
use crate::build;
use crate::failure::Failure;
use crate::step::cargo;
use std::process::Command;

pub(crate) fn run(context: &Context, arguments: &[String]) -> Result<(), Failure> {
    let benches = context.root.join("tests/benches");
    let any = benches.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if !any {
        return Err(Failure::new("there are no benches in this checkout: they belong in tests/benches"));
    }
    let program = build::program(context)?;
    // The profile of everything else: the benches' own one would compile the runtime again.
    let status = Command::new(cargo())
        .args(["bench", "--profile", "release", "--package", "sepia-tests", "--benches", "--"])
        .args(arguments)
        .env("SEPIA_BENCH_PROGRAM", program)
        .current_dir(&context.root)
        .status()
        .map_err(|error| {
            Failure::new(format!("the benches could not be run ({error}): check that cargo is installed"))
        })?;
    if status.success() { Ok(()) } else { Err(Failure::new("the benches failed: see what they say above")) }
}
