//! A driver as a component: the generated bindings, and the adapter between them and the
//! traits.

#[expect(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "reader",
        with: { "sepia:driver/types@1.0.0": sepia_ir },
        pub_export_macro: true,
        default_bindings_module: "sepia_sdk::component::bindings",
    });
}

mod services;
mod session_read;

pub use session_read::Exported;
