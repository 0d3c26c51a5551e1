//! What the end-to-end tests stand on: a machine with nothing of the person's on it, the
//! program on that machine, and a client of its wire. Knows the program from outside alone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a library for tests: whatever fails here is the failure of a test"
)]

pub mod claude;
pub mod client;
pub mod conversation;
pub mod guests;
pub mod machine;
pub mod processes;
pub mod random;
pub mod stage;
pub mod terminal;
pub mod tree;
pub mod unmovable;

pub use client::{Client, Ended};
pub use machine::{Machine, Ran};
pub use stage::Stage;
pub use terminal::Terminal;
