//! `sepia schema`

use super::exit::Failure;
use super::output;
use std::io::Write;

pub(super) fn run() -> Result<(), Failure> {
    let mut out = output::stdout();
    serde_json::to_writer_pretty(&mut out, &crate::wire::serve::schema()).map_err(|e| Failure::output(&e.into()))?;
    writeln!(out).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}
