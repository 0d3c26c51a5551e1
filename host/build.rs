//! Builds the drivers of this repository into components and hands them to `embedded.rs`.
//! Runs again only when something that a component is made of changed.
#![allow(clippy::print_stdout, reason = "a build script speaks to cargo on stdout")]

use sepia_build::{BuildError, Built, Options};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// Crates that go into every component, relative to the root of the workspace.
const SHARED_CRATES: &[&str] = &["sdk/ir", "sdk/services", "sdk/driver"];

/// What else does: the contract, the versions of dependencies, and the profile. A new driver
/// shows in the last as a member of the workspace.
const SHARED_FILES: &[&str] = &["wit", "Cargo.lock", "Cargo.toml"];

fn main() -> ExitCode {
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={}", error.message);
            if error.details.is_empty() {
                // The line above stops the build, and cargo adds nothing to it.
                return ExitCode::SUCCESS;
            }
            eprintln!("{}", error.details);
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<(), BuildError> {
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // Of this run, not of the time when this script was compiled: one folder of build products
    // may serve several checkouts.
    let own_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = sepia_build::workspace_root(&own_dir)?;
    let drivers = sepia_build::drivers(&root)?;
    watch(&root, &drivers);
    let crates: Vec<String> = drivers.iter().map(|name| format!("sepia-driver-{name}")).collect();
    let crates: Vec<&str> = crates.iter().map(String::as_str).collect();
    let options = Options { target_dir: Some(sepia_build::target_dir_above(&out_dir)?), ..Options::default() };
    let built = sepia_build::components(&root, &crates, &options)?;
    println!("cargo::rustc-env=SEPIA_WASMTIME_VERSION={}", locked_version(&root, "wasmtime")?);
    write(&root, &out_dir, &drivers, &built)
}

/// Which version of a dependency is built in: `--version` tells, since a sandbox is as good as
/// its last patch.
fn locked_version(root: &Path, name: &str) -> Result<String, BuildError> {
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| BuildError::files("Cargo.lock", &error))?;
    let after_name = lock.split_once(&format!("name = \"{name}\"\nversion = \""));
    let version = after_name.and_then(|(_, rest)| rest.split_once('"')).map(|(version, _)| version.to_owned());
    Ok(version.unwrap_or_else(|| "unknown".to_owned()))
}

/// Names to cargo all that a component is made of. Tests and test data of a driver are not.
fn watch(root: &Path, drivers: &[String]) {
    let of_drivers = drivers.iter().map(|name| format!("drivers/{name}"));
    let crates = SHARED_CRATES.iter().map(ToString::to_string).chain(of_drivers);
    let of_crates = crates.flat_map(|folder| [format!("{folder}/src"), format!("{folder}/Cargo.toml")]);
    for input in of_crates.chain(SHARED_FILES.iter().map(ToString::to_string)) {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
}

/// Copies the components, since cargo may replace its own files under a build that still runs.
fn write(root: &Path, out_dir: &Path, drivers: &[String], built: &[Built]) -> Result<(), BuildError> {
    let put = |name: &str, content: &[u8]| {
        fs::write(out_dir.join(name), content).map_err(|error| BuildError::files(name, &error))
    };
    let mut list = String::from("&[\n");
    for (driver, component) in drivers.iter().zip(built) {
        let file = format!("{driver}.wasm");
        put(&file, &component.bytes)?;
        let manifest = root.join("drivers").join(driver).join("manifest.json");
        println!("cargo::rerun-if-changed={}", manifest.display());
        let manifest = fs::read_to_string(manifest).ok();
        let sha256: [u8; 32] = Sha256::digest(&component.bytes).into();
        let _ = writeln!(
            list,
            "    Embedded {{ name: {driver:?}, wasm: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")), sha256: {sha256:?}, manifest: {manifest:?} }},"
        );
    }
    list.push_str("]\n");
    put("components.rs", list.as_bytes())
}
