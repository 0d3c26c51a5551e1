//! Where the program is, for tests of other crates.

use std::path::{Path, PathBuf};
use std::{env, io};

const NAME: &str = "scripted-agent";

/// The program beside the test that runs: cargo puts tests into a folder `deps` beside the programs.
/// It is there when its package was built with the same profile.
pub fn program_beside_tests() -> io::Result<PathBuf> {
    let test = env::current_exe()?;
    let beside = test.parent().and_then(Path::parent).unwrap_or(Path::new("")).join(NAME);
    if beside.exists() {
        return Ok(beside);
    }
    let message = format!("{} is not there; build the package sepia-scripted-agent first", beside.display());
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}
