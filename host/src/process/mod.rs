//! Programs that run for us: drivers, and agents. Each leads a process group of its own, is
//! spoken to in JSON-RPC lines over its stdio, and is ended with all that it started.
//!
//! ```text
//! connection  frames in and out, and the end of the process
//!   group       the process and all that it starts
//!   noise       what it writes to stdout that is no message
//!   stderr      its last lines there
//! ```

mod connection;
mod group;
mod noise;
mod stderr;

pub(crate) use connection::{Bounds, Connection, EndKind, Incoming, ROOM, Said};
pub(crate) use group::{Environment, Exit, Group, Launch, Variable};
pub(crate) use stderr::StderrTail;
