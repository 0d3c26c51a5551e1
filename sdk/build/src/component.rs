//! Runs cargo for the target of components and takes what it made.

use crate::environment::cargo;
use crate::error::{BuildError, BuildErrorKind};
use crate::target::{self, TARGET};
use crate::workspace::{COMPONENTS_DIR, target_dir};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Byte searches are several times faster with it, and every supported runtime has it.
const RUSTFLAGS: &str = "-Ctarget-feature=+simd128";

/// What of a crate is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Artifacts {
    /// Its library, a `cdylib`: one component a crate.
    #[default]
    Library,
    /// Its examples, each a `cdylib`: one component an example.
    Examples,
}

/// How to build.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What of the crates.
    pub artifacts: Artifacts,
    /// Target directory of the workspace; none: ask cargo. Components go to a folder of their
    /// own in it.
    pub target_dir: Option<PathBuf>,
}

/// A component.
#[derive(Debug, Clone)]
pub struct Built {
    /// Name of the crate, or of the example.
    pub name: String,
    /// Where cargo keeps it; the next build may replace it.
    pub path: PathBuf,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Builds crates of the workspace into components, in the order of `crates` and within one by
/// name. Nothing is compiled when nothing changed.
pub fn components(root: &Path, crates: &[&str], options: &Options) -> Result<Vec<Built>, BuildError> {
    if crates.is_empty() {
        return Ok(Vec::new());
    }
    if !target::has_target()? {
        return Err(target::missing());
    }
    let target_dir = match &options.target_dir {
        Some(directory) => directory.clone(),
        None => target_dir(root)?,
    };
    let mut command = cargo(root);
    command
        .args(["build", "--profile", "component", "--target", TARGET])
        .arg("--target-dir")
        .arg(target_dir.join(COMPONENTS_DIR))
        .args(["--message-format", "json-render-diagnostics"])
        .arg(match options.artifacts {
            Artifacts::Library => "--lib",
            Artifacts::Examples => "--examples",
        })
        .args(crates.iter().flat_map(|name| ["--package", name]))
        .env("CARGO_ENCODED_RUSTFLAGS", RUSTFLAGS);
    let output = command.output().map_err(|error| {
        let message = format!("cargo could not be started ({error}): check that it is on PATH");
        BuildError::new(BuildErrorKind::Toolchain, message)
    })?;
    if !output.status.success() {
        let message = format!(
            "{} could not be built for {TARGET}: see what the compiler said, mend that, and build again",
            crates.join(", ")
        );
        return Err(BuildError::new(BuildErrorKind::Compile, message).with_details(&output.stderr));
    }
    let mut found = artifacts(&output.stdout, options.artifacts)?;
    found.sort_by(|a, b| (a.rank(crates), &a.name).cmp(&(b.rank(crates), &b.name)));
    found.retain(|artifact| artifact.rank(crates) < crates.len());
    for name in crates {
        if !found.iter().any(|artifact| artifact.package == *name) {
            let message = format!("{name} gave no component: set crate-type = [\"cdylib\"] in its Cargo.toml");
            return Err(BuildError::new(BuildErrorKind::Artifact, message));
        }
    }
    found.into_iter().map(read).collect()
}

/// A `.wasm` file that cargo reported.
struct Artifact {
    package: String,
    name: String,
    path: PathBuf,
}

impl Artifact {
    fn rank(&self, crates: &[&str]) -> usize {
        crates.iter().position(|name| *name == self.package).unwrap_or(crates.len())
    }
}

/// The components among cargo's messages.
fn artifacts(messages: &[u8], wanted: Artifacts) -> Result<Vec<Artifact>, BuildError> {
    let mut found = Vec::new();
    for line in messages.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let message: Value = serde_json::from_slice(line).map_err(|error| {
            BuildError::new(BuildErrorKind::Toolchain, format!("cargo sent a message that is no JSON ({error})"))
        })?;
        let kinds = message["target"]["kind"].as_array().map_or(&[][..], Vec::as_slice);
        let fits = match wanted {
            Artifacts::Library => kinds.iter().any(|kind| kind == "cdylib"),
            Artifacts::Examples => kinds.iter().any(|kind| kind == "example"),
        };
        let files = message["filenames"].as_array().map_or(&[][..], Vec::as_slice);
        let mut paths = files.iter().filter_map(Value::as_str).map(PathBuf::from);
        let wasm = paths.find(|path| path.extension().is_some_and(|extension| extension == "wasm"));
        let (true, Some(path), Some(manifest)) = (fits, wasm, message["manifest_path"].as_str()) else {
            continue;
        };
        let package = package_name(Path::new(manifest), &message)?;
        let name = match wanted {
            Artifacts::Library => package.clone(),
            Artifacts::Examples => message["target"]["name"].as_str().unwrap_or_default().to_owned(),
        };
        found.push(Artifact { package, name, path });
    }
    Ok(found)
}

/// The package that a message speaks of. `package_id` ends in `#name@version`, or in
/// `#version` when the name is that of the folder.
fn package_name(manifest: &Path, message: &Value) -> Result<String, BuildError> {
    let fragment = message["package_id"].as_str().and_then(|id| id.rsplit_once('#')).map(|(_, fragment)| fragment);
    let folder = manifest.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = match fragment.and_then(|fragment| fragment.split_once('@')) {
        Some((name, _)) => Some(name),
        None => folder,
    };
    name.map(str::to_owned).ok_or_else(|| {
        BuildError::new(BuildErrorKind::Toolchain, "cargo sent a message that names no package: update cargo")
    })
}

fn read(artifact: Artifact) -> Result<Built, BuildError> {
    let bytes = fs::read(&artifact.path).map_err(|error| {
        let message = format!("the component of {} can't be read ({error}): build again", artifact.name);
        BuildError::new(BuildErrorKind::Files, message)
    })?;
    Ok(Built { name: artifact.name, path: artifact.path, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_is_named_by_the_id_or_by_its_folder() {
        let named = serde_json::json!({"package_id": "path+file:///w/drivers/a#sepia-driver-a@0.1.0"});
        assert_eq!(package_name(Path::new("/w/drivers/a/Cargo.toml"), &named).ok().as_deref(), Some("sepia-driver-a"));
        let short = serde_json::json!({"package_id": "path+file:///w/hostile#0.1.0"});
        assert_eq!(package_name(Path::new("/w/hostile/Cargo.toml"), &short).ok().as_deref(), Some("hostile"));
    }

    #[test]
    fn only_components_of_the_wanted_kind_are_taken() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","package_id":"p#a@1.0.0","manifest_path":"/w/a/Cargo.toml","target":{"kind":["cdylib","rlib"],"name":"a"},"filenames":["/t/a.wasm","/t/liba.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","package_id":"p#a@1.0.0","manifest_path":"/w/a/Cargo.toml","target":{"kind":["example"],"name":"loop"},"filenames":["/t/loop.wasm"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
            "\n",
        );
        let names = |wanted| {
            artifacts(messages.as_bytes(), wanted)
                .map(|found| found.into_iter().map(|artifact| artifact.name).collect::<Vec<_>>())
                .ok()
        };
        assert_eq!(names(Artifacts::Library), Some(vec!["a".to_owned()]));
        assert_eq!(names(Artifacts::Examples), Some(vec!["loop".to_owned()]));
    }
}
