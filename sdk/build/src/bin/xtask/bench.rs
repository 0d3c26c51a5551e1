//! `cargo xtask bench`: builds the release program and runs the crate `sepia-bench`, which
//! knows how to make stores, what to time and what to compare with.

use crate::Context;
use crate::build;
use crate::failure::Failure;
use crate::step::cargo;
use std::process::Command;

pub(crate) fn run(context: &Context, arguments: &[String]) -> Result<(), Failure> {
    let program = build::program(context)?;
    let folder = sepia_build::target_dir(&context.root)?.join("bench");
    let status = Command::new(cargo())
        .args(["run", "--release", "--quiet", "--package", "sepia-bench", "--"])
        .args(arguments)
        .env("SEPIA_BENCH_PROGRAM", program)
        .env("SEPIA_BENCH_FOLDER", folder)
        .current_dir(&context.root)
        .status()
        .map_err(|error| {
            Failure::new(format!("the bench could not be run ({error}): check that cargo is installed"))
        })?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1) => Err(Failure::new("a bar was missed, or a row differs from the truth: see the table above")),
        _ => Err(Failure::new("the bench broke off: see what it says above")),
    }
}
