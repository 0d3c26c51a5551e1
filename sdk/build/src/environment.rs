//! A cargo that starts as if from a clean shell, wherever it is started from.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Variables that cargo sets for what it runs, or that are meant for the host's own
/// compilation. In a nested cargo they would change flags or fingerprints, and with those
/// rebuild everything at each change of the caller (`build`, `clippy`, `nextest`).
const CLEARED: &[&str] = &[
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_CRATE_NAME",
    "CARGO_ENCODED_RUSTDOCFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_MAKEFLAGS",
    "CARGO_PRIMARY_PACKAGE",
    "CLIPPY_ARGS",
    "CLIPPY_CONF_DIR",
    "CLIPPY_TERMINAL_WIDTH",
    "DEBUG",
    "HOST",
    "LLVM_PROFILE_FILE",
    "MAKEFLAGS",
    "MFLAGS",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "TARGET",
];

/// The same, by the start of the name.
const CLEARED_PREFIXES: &[&str] = &[
    "CARGO_BIN_",
    "CARGO_CFG_",
    "CARGO_FEATURE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PROFILE_",
    "CARGO_TARGET_WASM32_",
    "DEP_",
    "NEXTEST",
    "__CARGO",
];

/// A command of the cargo in use, run in `directory`, without input.
pub fn cargo(directory: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory).stdin(Stdio::null());
    for (name, _) in env::vars_os() {
        if is_cleared(&name) {
            command.env_remove(name);
        }
    }
    command
}

fn is_cleared(name: &OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| CLEARED.contains(&name) || CLEARED_PREFIXES.iter().any(|start| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_sets_for_a_build_script_is_cleared_and_what_a_person_sets_stays() {
        for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_PKG_NAME", "CARGO_CFG_UNIX", "TARGET"]
        {
            assert!(is_cleared(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_TOOLCHAIN", "CARGO_NET_OFFLINE", "RUSTC"]
        {
            assert!(!is_cleared(OsStr::new(name)), "{name}");
        }
    }
}
