//! The drivers of this repository, built as the host's build script does.
#![allow(clippy::unwrap_used, reason = "a test")]

use sepia_build::{BuildErrorKind, Options};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    sepia_build::workspace_root(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn every_driver_is_a_component_of_this_contract_and_is_built_once() {
    let crates: Vec<String> =
        sepia_build::drivers(&root()).unwrap().iter().map(|name| format!("sepia-driver-{name}")).collect();
    let crates: Vec<&str> = crates.iter().map(String::as_str).collect();
    let first = sepia_build::components(&root(), &crates, &Options::default()).unwrap();
    assert_eq!(first.iter().map(|built| built.name.as_str()).collect::<Vec<_>>(), crates);
    for built in &first {
        // Layer 1 of the binary format is a component, layer 0 a core module.
        assert_eq!(built.bytes[..8], *b"\0asm\x0d\0\x01\0", "{}", built.name);
        let exported = b"sepia:driver/session-read@1.0.0";
        assert!(built.bytes.windows(exported.len()).any(|bytes| bytes == exported), "{}", built.name);
    }

    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let before: Vec<_> = first.iter().map(|built| modified(&built.path)).collect();
    let second = sepia_build::components(&root(), &crates, &Options::default()).unwrap();
    let after: Vec<_> = second.iter().map(|built| modified(&built.path)).collect();
    assert_eq!(before, after);
}

#[test]
fn a_crate_that_is_not_there_is_an_error_that_names_it() {
    let error = sepia_build::components(&root(), &["sepia-driver-nobody"], &Options::default()).unwrap_err();
    assert_eq!(error.kind, BuildErrorKind::Compile);
    assert!(error.message.contains("sepia-driver-nobody"), "{error}");
    assert!(!error.details.is_empty());
}

#[test]
fn a_folder_outside_of_a_checkout_is_said_to_be_one() {
    let error = sepia_build::workspace_root(Path::new("/")).unwrap_err();
    assert_eq!(error.kind, BuildErrorKind::Files);
    assert!(error.message.contains("not in a checkout of sepia"), "{error}");
}
