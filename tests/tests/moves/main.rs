//! Sessions move from every agent to every other, through the built program, and back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test stops where a value is missing")]

mod branches;
mod everywhere;
mod large;
mod parts;
mod trash;
