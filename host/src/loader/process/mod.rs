//! Drivers that are programs: `sepia-driver-*`, spoken to over their stdio.
//!
//! The wire is [`sepia_ir::driver_wire`] over [`crate::jsonrpc`]. A program runs with the
//! person's own rights, so that nothing here is a sandbox; what is bounded is what it can cost
//! this host: time, memory, and processes left behind.
//!
//! ```text
//! probe        --manifest, once
//! driver       one process a driver, started at the first call, again after it died
//! session_read the port, in calls of the wire
//! ```

mod announced;
mod answer;
mod driver;
mod identity;
mod listing;
mod page;
mod probe;
mod session_read;
mod session_write;
mod streamed;

pub use driver::ProcessDriver;
pub use probe::probe;
