//! sepia: one local session plane over all coding agents.
//!
//! Dependencies point down, and each layer knows only the one below it:
//!
//! ```text
//! cli, wire    what people and programs speak
//! plane        sessions, whichever agent keeps them
//! registry     which driver answers which capability for which agent
//! loader       how a driver is brought in: component or program
//! host_services  what a component may ask of the host
//! ```
//!
//! `acp`, which speaks to agents' own programs, stands under the plane, beside the registry; `process`,
//! `jsonrpc`, `home`, `environment`, `limits` and `text` stand beside all, and `conformance`, which tries a driver
//! of the loader. What holds everywhere:
//!
//! - Nothing below `plane` knows a wire, nothing above `registry` knows how a driver was
//!   loaded, and no file outside `drivers/` knows an agent's file format.
//! - Reading changes no byte of anyone's store.
//! - stdout belongs to frames (`serve`) or to what was asked for (the command line); every
//!   log line goes to stderr.
//! - One bad driver, store, session or frame costs itself and nothing else.

mod acp;
pub mod cli;
pub mod conformance;
pub mod embedded;
pub mod environment;
pub mod home;
pub mod host_services;
pub mod jsonrpc;
pub mod limits;
pub mod loader;
pub mod plane;
mod process;
pub mod registry;
pub mod text;
pub mod wire;
