//! Who may write to stdout.

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdout, stderr, stdout};
use std::fs::File;
use std::io;

/// Descriptors below are those that every program has.
const FIRST_FREE: i32 = 3;

/// Takes stdout for frames: what is returned is the only way to it from then on, and whatever
/// else in this process writes to stdout writes to stderr instead.
pub fn take_stdout() -> io::Result<File> {
    // Not for programs that we start: one that lives on would keep the client waiting for the end.
    let frames = fcntl_dupfd_cloexec(stdout(), FIRST_FREE)?;
    dup2_stdout(stderr())?;
    Ok(File::from(frames))
}
