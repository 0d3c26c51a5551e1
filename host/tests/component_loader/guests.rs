//! The guests, a store for them, and a host with short limits.

use sepia::limits::Limits;
use sepia::loader::component::{Components, GrantedStore, Prepared};
use sepia::loader::{Driver, Fault, LoadError, Origin, SessionRead};
use sepia_ir::{Session, SessionRef};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tempfile::TempDir;

/// A guest by the name of its example: from the folder `SEPIA_HOSTILE_DIR`, or built once.
pub(crate) fn wasm(name: &str) -> &'static [u8] {
    static GUESTS: OnceLock<HashMap<String, Vec<u8>>> = OnceLock::new();
    let guests = GUESTS.get_or_init(|| match std::env::var_os("SEPIA_HOSTILE_DIR") {
        Some(folder) => read_all(Path::new(&folder)),
        None => build_all(),
    });
    guests.get(name).unwrap_or_else(|| panic!("there is no guest {name}"))
}

fn read_all(folder: &Path) -> HashMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let guests = files.filter(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    guests.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

fn build_all() -> HashMap<String, Vec<u8>> {
    let root = sepia_build::workspace_root(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let options =
        sepia_build::Options { artifacts: sepia_build::Artifacts::Examples, ..sepia_build::Options::default() };
    let built = sepia_build::components(&root, &["sepia-hostile"], &options).unwrap();
    built.into_iter().map(|guest| (guest.name, guest.bytes)).collect()
}

/// Limits that a test reaches soon, and time enough for a machine under load.
pub(crate) fn limits() -> Limits {
    Limits {
        call: Duration::from_secs(20),
        memory: 64 << 20,
        transfer: 4 << 20,
        session_nodes: 20_000,
        session_bytes: 64 << 20,
        ..Limits::default()
    }
}

/// Limits with a short time.
pub(crate) fn hurried() -> Limits {
    Limits { call: Duration::from_millis(500), ..limits() }
}

/// A host without a cache.
pub(crate) fn host(limits: Limits) -> Components {
    Components::new(limits, None)
}

/// A folder with a store `home`, a store `other` beside it, and a secret outside of both.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for folder in ["home/sub", "other"] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        fs::write(place.path("home/a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(place.path("home/b.txt"), "four\n").unwrap();
        fs::write(place.path("other/theirs.txt"), "theirs\n").unwrap();
        fs::write(place.path("secret.txt"), "secret\n").unwrap();
        place
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    /// What a driver gets that was granted `home` alone.
    pub(crate) fn grant(&self, prepared: &Prepared) -> Vec<GrantedStore> {
        let request = prepared.about().manifest.stores.iter().find(|store| store.name == "home").unwrap().clone();
        vec![GrantedStore { request, place: self.path("home"), write: false, refuse: Arc::new(|_| false) }]
    }
}

pub(crate) async fn prepare(host: &Components, name: &str) -> Result<Prepared, LoadError> {
    host.bring_in(wasm(name), Origin::Embedded).await
}

/// A guest with its store.
pub(crate) async fn driver(host: &Components, place: &Place, name: &str) -> Arc<dyn Driver> {
    let prepared = prepare(host, name).await.unwrap();
    let stores = place.grant(&prepared);
    prepared.into_driver(stores)
}

pub(crate) fn read(driver: &Arc<dyn Driver>) -> &dyn SessionRead {
    driver.session_read().unwrap()
}

pub(crate) fn session(id: &str) -> SessionRef {
    SessionRef { id: id.to_owned(), agent_id: None }
}

/// Gives a guest an order and takes its answer.
pub(crate) async fn ordered(driver: &Arc<dyn Driver>, order: &str) -> Result<String, Fault> {
    let row: Session = read(driver).summary_of(session(order)).await?;
    Ok(row.title)
}

/// The host is as it was: a good guest of the same engine is served.
pub(crate) async fn still_serves(host: &Components) {
    let place = Place::new();
    let good = driver(host, &place, "well_behaved").await;
    let report = read(&good).scan().await.unwrap();
    let keys: Vec<_> = report.entries.into_iter().map(|entry| entry.key).collect();
    assert_eq!(keys, ["a.txt", "b.txt"]);
}
