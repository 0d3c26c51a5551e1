//! What is taken out, what stays, and that nothing breaks on the way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod assignments;
mod decoys;
mod hostile;
mod json;
mod kinds;
mod planted;
mod properties;
mod sessions;
mod structure;
mod wraps;
