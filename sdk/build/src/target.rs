//! The compilation target of components: whether it is there, and how it gets there.

use crate::error::{BuildError, BuildErrorKind};
use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The target that gives a component without a further step.
pub const TARGET: &str = "wasm32-wasip2";

/// Whether the toolchain in use can compile for [`TARGET`].
pub fn has_target() -> Result<bool, BuildError> {
    Ok(is_in(&sysroot()?))
}

/// Adds [`TARGET`] to the toolchain in use when it is missing; true when it had to. Needs
/// rustup and the network once.
pub fn add_target() -> Result<bool, BuildError> {
    let sysroot = sysroot()?;
    if is_in(&sysroot) {
        return Ok(false);
    }
    let not_added = |message: String| BuildError::new(BuildErrorKind::TargetNotAdded, message);
    let no_rustup = || {
        not_added(format!(
            "the Rust in use has no standard library for {TARGET} and is not one that rustup can add it to: install Rust \
             through https://rustup.rs, or that library through your system's packages, and run this again"
        ))
    };
    let toolchain = rustup_toolchain(&sysroot).ok_or_else(no_rustup)?;
    let output = Command::new("rustup")
        .args(["target", "add", TARGET, "--toolchain"])
        .arg(toolchain)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => no_rustup(),
            _ => not_added(format!("rustup could not be started ({error}): run `rustup target add {TARGET}` by hand")),
        })?;
    if output.status.success() && is_in(&sysroot) {
        return Ok(true);
    }
    Err(not_added(format!(
        "`rustup target add {TARGET}` did not install it: see what it said above, check that the network is reachable, \
         and run this again"
    ))
    .with_details(&output.stderr))
}

/// The error of a build that needs [`TARGET`] and doesn't find it.
pub(crate) fn missing() -> BuildError {
    BuildError::new(
        BuildErrorKind::TargetMissing,
        format!(
            "the drivers are built for {TARGET}, which this Rust does not have yet: run `cargo xtask build`, which adds \
             it and builds everything, or `rustup target add {TARGET}` and then this again"
        ),
    )
}

fn sysroot() -> Result<PathBuf, BuildError> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let said = |why: String| {
        BuildError::new(BuildErrorKind::Toolchain, format!("rustc could not be asked where it lives: {why}"))
    };
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| said(format!("{error}; check that Rust is installed and on PATH")))?;
    if !output.status.success() {
        return Err(said("see what it said above, and check the toolchain".into()).with_details(&output.stderr));
    }
    let path = String::from_utf8(output.stdout).map_err(|_| said("its path is no UTF-8; move the toolchain".into()))?;
    Ok(PathBuf::from(path.trim_end()))
}

/// The folder exists as soon as a download starts; what counts is a library in it.
fn is_in(sysroot: &Path) -> bool {
    let libraries = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    libraries
        .read_dir()
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")))
}

/// The name by which rustup knows a toolchain, when it is one of rustup's.
fn rustup_toolchain(sysroot: &Path) -> Option<OsString> {
    let of_rustup = sysroot.parent()?.file_name()? == "toolchains";
    of_rustup.then(|| sysroot.file_name().map(Into::into))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_of_rustup_is_named_and_another_is_not() {
        let named = rustup_toolchain(Path::new("/home/me/.rustup/toolchains/1.95-x86_64-unknown-linux-gnu"));
        assert_eq!(named, Some("1.95-x86_64-unknown-linux-gnu".into()));
        assert_eq!(rustup_toolchain(Path::new("/usr")), None);
    }

    #[test]
    fn an_empty_target_folder_is_no_target() {
        assert!(!is_in(Path::new("/nowhere")));
    }
}
