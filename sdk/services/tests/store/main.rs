//! Stores from outside: what is reached, what is refused, and what is reported.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod calls;
mod ground;
mod links;
mod paths;
mod walk;
