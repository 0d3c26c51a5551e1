//! The log: on stderr, in one line each, and never on stdout.

use std::io::{self, IsTerminal};
use tracing_subscriber::EnvFilter;

/// Starts the log as `SEPIA_LOG` says, from `warn` on by default.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env("SEPIA_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(colours)
        .with_target(false)
        .without_time()
        .init();
}
