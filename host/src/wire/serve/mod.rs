//! `sepia serve`: the plane as ndjson JSON-RPC 2.0 on stdio.
//!
//! [`methods`] reads like the contents page of the wire. A frame that is wrong costs an error
//! for itself; requests run at once and are answered as they finish; stdout carries frames
//! and nothing else.

mod answer;
mod connection;
mod error;
mod events;
mod feeds;
mod live;
mod methods;
mod order;
mod params;
mod results;
mod schema;
mod stdio;
mod writing;

pub use connection::{End, serve};
pub(crate) use results::Converted;
pub use schema::schema;
pub use stdio::take_stdout;

/// Version of this wire; raised with every breaking change.
pub const PROTOCOL: u32 = 1;
