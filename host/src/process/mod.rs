//! Programs that run for us: drivers, and agents. Each leads a process group of its own, is
//! spoken to in JSON-RPC lines over its stdio, and is ended with all that it started.
//!
//! ```text
//! connection   a running program, as whoever speaks to it sees it
//!   supervision  the task that watches over it
//!   incoming     what it says
//!   end          why it is spoken to no more
//!   group        the process and all that it starts
//!   noise        what it writes to stdout that is no message
//!   stderr       its last lines there
//! ```

mod connection;
mod end;
mod group;
mod incoming;
mod noise;
mod stderr;
mod supervision;

pub(crate) use connection::{Bounds, Connection};
pub(crate) use end::EndKind;
pub(crate) use group::{Environment, Exit, Group, Launch, Variable};
pub(crate) use incoming::{Incoming, ROOM, Said};
pub(crate) use stderr::StderrTail;
