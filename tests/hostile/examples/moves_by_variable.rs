//! Does everything right over one store that `GUEST_DIR` moves: the tests move it to where
//! no driver may look.

use sepia_hostile::{Guest, Misdeed};
use sepia_ir::Manifest;

struct Moved;

impl Misdeed for Moved {
    fn manifest() -> Manifest {
        let mut manifest = sepia_hostile::manifest();
        manifest.stores.truncate(1);
        manifest.stores[0].env = vec!["GUEST_DIR".into()];
        manifest
    }
}

sepia_sdk::export_driver!(Guest<Moved>);
