//! Never says who it is.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::Manifest;

struct Bad;

impl Misdeed for Bad {
    fn manifest() -> Manifest {
        loop {
            std::hint::spin_loop();
        }
    }
}

sepia_sdk::export_driver!(Guest<Bad>);
