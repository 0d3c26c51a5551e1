//! The log: on stderr, in one line each, and never on stdout.

use std::io;
use tracing_subscriber::EnvFilter;

/// Starts the log as `SEPIA_LOG` says, from `warn` on by default. Without colours: it is read
/// in files as often as on a terminal.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env("SEPIA_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .init();
}
