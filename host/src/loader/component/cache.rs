//! What was made of components and is kept on disk: compiled code, and who they said they are.
//!
//! The runtime takes a compiled image for what it is and runs it: sixty-four flipped bytes in
//! the middle of one were accepted. So entries lie in a [`PrivateFolder`], and whatever raises
//! a doubt is made again.

#![allow(unsafe_code, reason = "reading back compiled code is unsafe; what is said at the two calls is why it holds")]

use super::introduction::Introduction;
use super::private_folder::{Doubt, PrivateFolder};
use super::sealed::{Sealed, Unsealed};
use crate::text::hex;
use sha2::{Digest, Sha256};
use std::hash::Hash;
use std::path::PathBuf;
use wasmtime::Engine;
use wasmtime::component::Component;

/// Changes with the layout of an entry.
const SCHEMA: u32 = 3;
const HOST: &str = env!("CARGO_PKG_VERSION");

/// A folder of what was made of components.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PrivateFolder,
}

impl Cache {
    /// The cache in this folder, which is made when it is needed.
    pub(super) fn new(place: PathBuf) -> Self {
        Self { folder: PrivateFolder::new(place) }
    }

    /// The compiled form of the component with this SHA-256, if there is one beyond doubt.
    pub(super) fn code(&self, engine: &Engine, sha256: &[u8; 32]) -> Option<Component> {
        let name = code_name(engine, sha256);
        match Unsealed::new() {
            Ok(memory) => self.folder.take_into(&name, memory, |memory| map(engine, &memory.seal()?)),
            // Not every system has such memory.
            Err(_) => self.folder.take(&name, |image| load(engine, image)),
        }
    }

    /// Keeps a compiled component.
    pub(super) fn put_code(&self, engine: &Engine, sha256: &[u8; 32], component: &Component) {
        let image = component.serialize().map_err(|e| Doubt::Useless(e.to_string()));
        self.folder.put(&code_name(engine, sha256), image);
    }

    /// What the component with this SHA-256 said of itself to this version of the host.
    pub(super) fn introduction(&self, sha256: &[u8; 32]) -> Option<Introduction> {
        self.folder.take(&introduction_name(sha256), |text| {
            serde_json::from_slice(text).map_err(|e| Doubt::Useless(e.to_string()))
        })
    }

    /// Keeps what a component said of itself.
    pub(super) fn put_introduction(&self, sha256: &[u8; 32], introduction: &Introduction) {
        let text = serde_json::to_vec(introduction).map_err(|e| Doubt::Useless(e.to_string()));
        self.folder.put(&introduction_name(sha256), text);
    }
}

/// Compiled code depends on the engine and the host.
fn code_name(engine: &Engine, sha256: &[u8; 32]) -> String {
    let mut hasher = Sha256Hasher(Sha256::new());
    hasher.0.update(sha256);
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.update(HOST);
    hasher.0.update(SCHEMA.to_le_bytes());
    format!("{}.image", hex(&hasher.0.finalize()))
}

/// What was accepted depends on the checks of the host.
fn introduction_name(sha256: &[u8; 32]) -> String {
    let hasher = Sha256::new().chain_update(sha256).chain_update(HOST).chain_update(SCHEMA.to_le_bytes());
    format!("{}.about", hex(&hasher.finalize()))
}

// SAFETY, of both functions below: reading code back demands bytes that `serialize` gave, unchanged; the
// runtime checks its version and settings, but takes the machine code on trust. An image comes only from
// `PrivateFolder`, which verified a keyed BLAKE3 over it under a 256-bit random key in a file that only this user can
// read, in a folder that only this user can write, and the only writer of such entries is `Cache::put_code`, from
// `serialize`. The code covers the name of the entry too, so that one entry can't stand in for another. The bytes are a
// private copy in memory, made before the check, so that nothing can change them after it: a vector, or memory that is
// sealed against every change.

/// Maps an image: only the pages that are looked at cost anything.
fn map(engine: &Engine, image: &Sealed) -> Result<Component, Doubt> {
    // SAFETY: see above.
    let mapped = unsafe { Component::deserialize_file(engine, image.place()) };
    mapped.or_else(|error| {
        // Without `/proc`, or where such memory may not become code.
        tracing::debug!("a compiled driver can't be mapped: {error}");
        load(engine, &image.bytes()?)
    })
}

/// Copies an image.
fn load(engine: &Engine, image: &[u8]) -> Result<Component, Doubt> {
    // SAFETY: see above.
    unsafe { Component::deserialize(engine, image) }.map_err(|e| Doubt::Useless(e.to_string()))
}

/// Feeds what a type hashes into SHA-256: the standard hashers are no match for an attacker
/// and differ between versions.
struct Sha256Hasher(Sha256);

impl std::hash::Hasher for Sha256Hasher {
    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest.iter().take(8).fold(0, |n, byte| n << 8 | u64::from(*byte))
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}
