//! Who may write to stdout.

use rustix::io::dup;
use rustix::stdio::{dup2_stdout, stderr, stdout};
use std::fs::File;
use std::io;

/// Takes stdout for frames: what is returned is the only way to it from then on, and whatever
/// else in this process writes to stdout writes to stderr instead.
pub fn take_stdout() -> io::Result<File> {
    let frames = dup(stdout())?;
    dup2_stdout(stderr())?;
    Ok(File::from(frames))
}
