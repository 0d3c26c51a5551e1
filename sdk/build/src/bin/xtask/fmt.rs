//! `cargo xtask fmt`: formats all code.

use crate::Context;
use crate::failure::Failure;
use crate::step::Step;

const FORMAT: Step = Step { name: "format", arguments: &["fmt", "--all"] };

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    FORMAT.must_succeed(context)
}
