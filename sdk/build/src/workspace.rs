//! Where things are in the workspace.

use crate::environment::cargo;
use crate::error::{BuildError, BuildErrorKind};
use std::fs;
use std::path::{Path, PathBuf};

/// Folder below the target directory that nested builds write to. It is not the one that the
/// calling cargo works in, whose lock is held as long as a build script runs.
pub const COMPONENTS_DIR: &str = "components";

/// The root of the workspace that `directory` is in.
pub fn workspace_root(directory: &Path) -> Result<PathBuf, BuildError> {
    directory
        .ancestors()
        .find(|folder| folder.join("drivers").is_dir() && folder.join("wit/worlds.wit").is_file())
        .map(Path::to_owned)
        .ok_or_else(|| files("the current folder is not in a checkout of sepia: change into one and run this again"))
}

/// The drivers that are built in: the folders below `drivers/` with a crate in them, sorted.
/// A folder `x` holds the crate `sepia-driver-x`. This is the only list of them.
pub fn drivers(root: &Path) -> Result<Vec<String>, BuildError> {
    let unreadable = |error| files(format!("the folder drivers/ can't be read ({error}): check its permissions"));
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("drivers")).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().join("Cargo.toml").is_file() {
            let name = entry.file_name().into_string().map_err(|name| {
                files(format!("the folder {} in drivers/ is no UTF-8: rename it", name.to_string_lossy()))
            })?;
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The target directory of the workspace, as cargo's configuration has it.
pub fn target_dir(root: &Path) -> Result<PathBuf, BuildError> {
    let failed = |why: String| BuildError::new(BuildErrorKind::Toolchain, format!("`cargo metadata` failed: {why}"));
    let output = cargo(root)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| failed(format!("{error}; check that cargo is on PATH")))?;
    if !output.status.success() {
        return Err(failed("see what it said above".into()).with_details(&output.stderr));
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| failed(format!("it printed no JSON ({error})")))?;
    let directory = metadata["target_directory"].as_str();
    directory.map(PathBuf::from).ok_or_else(|| failed("it names no target directory; update cargo".into()))
}

/// The target directory that a build script's `OUT_DIR` lies in: right even where it was
/// named on the command line of the calling cargo. With a target triple there is a tagged
/// folder within the tagged one, so the outermost counts.
pub fn target_dir_above(out_dir: &Path) -> Result<PathBuf, BuildError> {
    let tagged = out_dir.ancestors().filter(|folder| folder.join("CACHEDIR.TAG").is_file());
    tagged.last().map(Path::to_owned).ok_or_else(|| {
        files("the folder that cargo gave the build script lies in no target directory: run the build through cargo")
    })
}

fn files(message: impl Into<String>) -> BuildError {
    BuildError::new(BuildErrorKind::Files, message)
}
