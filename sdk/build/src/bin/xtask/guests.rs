//! `cargo xtask guests`: builds the guests that misbehave, which the tests of the loader use.
//! Those tests would build them too, but while their time is taken.

use crate::Context;
use crate::failure::Failure;
use sepia_build::{Artifacts, Options};

/// The crate with one guest an example.
const CRATE: &str = "sepia-hostile";

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    let options = Options { artifacts: Artifacts::Examples, ..Options::default() };
    let built = sepia_build::components(&context.root, &[CRATE], &options)?;
    context.console.say(&format!("{} guests are built.", built.len()));
    Ok(())
}
