//! The drivers that this program carries in itself, put here by its build script.

/// A component that is built in.
#[derive(Debug, Clone, Copy)]
pub struct Embedded {
    /// Id of the driver.
    pub name: &'static str,
    /// The component.
    pub wasm: &'static [u8],
    /// Its SHA-256.
    pub sha256: [u8; 32],
    /// What it says of itself, JSON, when its folder has that as `manifest.json`: then its code
    /// need not be compiled before it is called. A test holds the two against each other.
    pub manifest: Option<&'static str>,
}

/// The drivers, sorted by id.
pub static COMPONENTS: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/components.rs"));
