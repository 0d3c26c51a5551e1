//! The services of a subprocess driver, done in this process.

/// The services of this process.
pub struct Native;
