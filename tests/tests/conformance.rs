//! The laws of reading, on the component and on the program that are built from one driver.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests")]

use sepia::embedded::COMPONENTS;
use sepia::limits::Limits;
use sepia::loader::component::{Components, GrantedStore};
use sepia::loader::process::{ProcessDriver, probe};
use sepia::loader::subject::Waiting;
use sepia::loader::{Driver, Origin};
use sepia_conformance::{Report, Suite};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A folder that is no store of anybody, and one that is not there.
fn stores() -> Vec<(PathBuf, usize)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/claude/store");
    vec![(samples, 13), (PathBuf::from("/nonexistent/store"), 0)]
}

fn assert_kept(report: &Report, sessions: usize) {
    let failures: Vec<String> = report.failures().iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(report.sessions(), sessions);
}

async fn component(store: &Path) -> Arc<dyn Driver> {
    let (_, wasm) = COMPONENTS.iter().find(|(id, _)| *id == "claude").expect("an embedded driver");
    let components = Components::new(Limits::default(), None).unwrap();
    let prepared = components.bring_in(wasm, Origin::Embedded).await.unwrap();
    let stores = prepared.about().manifest.stores.clone();
    let granted = stores.into_iter().map(|request| GrantedStore {
        request,
        place: store.to_owned(),
        write: false,
        refuse: Arc::new(|_: &Path| false),
    });
    prepared.into_driver(granted.collect())
}

/// A program that looks for its store where we say.
async fn program(store: &Path, folder: &TempDir) -> ProcessDriver {
    let path = folder.path().join("sepia-driver-claude");
    let script = format!(
        "#!/bin/sh\nSEPIA_CLAUDE_DIR='{}' exec '{}' \"$@\"\n",
        store.display(),
        env!("CARGO_BIN_EXE_claude_program")
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let manifest = probe(&path, &Limits::default()).await.unwrap();
    ProcessDriver::new(&path, manifest, Limits::default()).unwrap()
}

#[test]
fn both_forms_of_the_claude_driver_keep_the_laws_and_agree() {
    for (store, sessions) in stores() {
        let runtime = Runtime::new().unwrap();
        let folder = TempDir::new().unwrap();
        let component = runtime.block_on(component(&store));
        let program = runtime.block_on(program(&store, &folder));
        let one = Waiting::new(&*component, runtime.handle().clone());
        let other = Waiting::new(&program, runtime.handle().clone());
        assert_kept(&Suite::new(&one).with_twin(&other).on_store(&store).run(), sessions);
        assert_kept(&Suite::new(&other).on_store(&store).run(), sessions);
        runtime.block_on(program.shutdown());
    }
}
