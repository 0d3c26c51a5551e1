//! Writing sessions into stores of the agent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(unreachable_pub, reason = "modules of a test have no other reader")]

#[allow(dead_code, reason = "shared with the tests of reading")]
#[path = "../reading/demo.rs"]
mod demo;

mod carried;
mod copies;
mod delete;
mod faults;
mod native;
mod promises;
mod refusals;
mod rename;
mod rewind;
mod sessions;
mod store;
mod tools;
