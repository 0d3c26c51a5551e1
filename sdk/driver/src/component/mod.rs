//! A driver as a component: the generated bindings, and the adapter between them and the
//! traits.

#[allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "reader",
        with: { "sepia:driver/types@1.0.0": sepia_ir },
        pub_export_macro: true,
        default_bindings_module: "sepia_sdk::component::bindings",
    });
}

/// What a driver that writes has besides.
#[allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, reason = "generated")]
pub mod writing_bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "session-writing",
        with: {
            "sepia:driver/types@1.0.0": sepia_ir,
            "sepia:driver/sqlite@1.0.0": crate::component::bindings::sepia::driver::sqlite,
        },
        pub_export_macro: true,
        export_macro_name: "export_writing",
        default_bindings_module: "sepia_sdk::component::writing_bindings",
    });
}

mod services;
mod session_read;
mod session_write;
mod writing_services;

pub use session_read::Exported;
