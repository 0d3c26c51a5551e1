//! Databases of a store, as a driver reads them: with a live owner, with none, damaged, and
//! with statements that want more than to read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where a value is missing")]

mod bounds;
mod demo;
mod owner;
mod traces;
