//! `sepia serve` from outside: what its client sends, gets, and is left with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod checkpoints;
mod concurrency;
mod drivers;
mod ends;
mod frames;
mod growing;
mod history;
mod manifest;
mod overlay;
mod schema;
mod search;
mod sessions;
mod writing;
