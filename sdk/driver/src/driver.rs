//! Who a driver is.

use sepia_ir::Manifest;

/// Who a driver is. What it can do are further traits, one a capability.
pub trait Driver: Sized + 'static {
    /// What the driver says of itself. Called with no store reachable; must answer the same
    /// each time.
    fn manifest() -> Manifest;
}
