//! The contract as wasmtime sees it, generated from `wit/`.

#![expect(missing_docs, clippy::pedantic, reason = "generated")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "writer",
    imports: { default: async | trappable },
    exports: { default: async },
    with: {
        "sepia:driver/types": crate::loader::component::bindings::types,
        "sepia:driver/sqlite.connection": crate::host_services::Connection,
        "sepia:driver/sqlite.rows": sepia_services::sqlite::Rows,
        "sepia:driver/durable-files.new-file": crate::host_services::UnseenFile,
    },
});

/// The interface `types`, whose records are those of `sepia-ir`: lifted straight into them.
pub mod types {
    pub use sepia_ir::*;

    /// The interface has no functions.
    pub trait Host {}
    impl<T: ?Sized> Host for &mut T {}

    /// Nor has its half that sees the store.
    pub trait HostWithStore<T>: wasmtime::component::HasData {}
    impl<T, D: ?Sized + wasmtime::component::HasData> HostWithStore<T> for D {}

    /// Nothing to link.
    pub fn add_to_linker<T, D: wasmtime::component::HasData>(
        _linker: &mut wasmtime::component::Linker<T>,
        _host: fn(&mut T) -> D::Data<'_>,
    ) -> wasmtime::Result<()> {
        Ok(())
    }
}
