//! The drivers that this program carries in itself, put here by its build script.

/// Id and component of each driver, sorted by id.
pub static COMPONENTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/components.rs"));
