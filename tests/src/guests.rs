//! The components that misbehave, built once.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A guest by the name of its example: from the folder `SEPIA_HOSTILE_DIR`, or built now.
pub fn wasm(name: &str) -> &'static [u8] {
    static GUESTS: OnceLock<HashMap<String, Vec<u8>>> = OnceLock::new();
    let guests = GUESTS.get_or_init(|| match std::env::var_os("SEPIA_HOSTILE_DIR") {
        Some(folder) => read(Path::new(&folder)),
        None => build(),
    });
    guests.get(name).unwrap_or_else(|| panic!("there is no guest {name}"))
}

fn read(folder: &Path) -> HashMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let guests = files.filter(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    guests.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())).collect()
}

fn build() -> HashMap<String, Vec<u8>> {
    let root = sepia_build::workspace_root(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let options = sepia_build::Options { artifacts: sepia_build::Artifacts::Examples, ..Default::default() };
    let built = sepia_build::components(&root, &["sepia-hostile"], &options).unwrap();
    built.into_iter().map(|guest| (guest.name, guest.bytes)).collect()
}
