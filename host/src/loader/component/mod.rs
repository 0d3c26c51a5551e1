//! Drivers that are WebAssembly components, each call in a sandbox of its own.

pub mod bindings;
