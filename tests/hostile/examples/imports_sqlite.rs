//! Imports an interface of the contract that the host does not offer.

use sepia_hostile::{Guest, Misdeed};

struct Bad;

impl Misdeed for Bad {
    #[cfg(target_family = "wasm")]
    fn summary_of(_host: &sepia_sdk::Host, order: &str) -> Result<sepia_ir::Session, sepia_ir::DriverError> {
        sepia_sdk::component::bindings::sepia::driver::sqlite::open_read("home", order)?;
        Ok(sepia_hostile::answer("opened"))
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
