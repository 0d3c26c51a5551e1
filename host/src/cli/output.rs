//! stdout, and what it is connected to.

use super::controls::Guarded;
use super::exit::Failure;
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

/// Columns assumed where nobody tells.
const DEFAULT_WIDTH: usize = 100;
/// Narrower than this nothing is readable; lines then wrap.
const LEAST_WIDTH: usize = 40;

/// stdout, buffered.
pub(super) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Whether a person looks at it.
pub(super) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` says no.
pub(super) fn colours() -> bool {
    is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Columns of the terminal.
pub(super) fn width() -> usize {
    let told = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    let set = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.filter(|columns| *columns > 0).or_else(set).unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH)
}

/// Prints a line whose text is clean already.
pub(super) fn line(text: &str) -> Result<(), Failure> {
    let mut out = stdout();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}

/// Prints a value as JSON and a line feed, on a terminal without a control character.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(64 << 10, Guarded::new(io::stdout().lock(), is_terminal()));
    value.serialize(&mut crate::jsonrpc::serializer(&mut out)).map_err(|e| Failure::output(&e.into()))?;
    writeln!(out).and_then(|()| out.flush()).map_err(|e| Failure::output(&e))
}
