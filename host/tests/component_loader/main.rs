//! The loader of components from outside: guests that do each one thing wrong, and after each
//! of them a good guest that is served as before.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests say what went wrong by failing"
)]

mod answers;
mod cache;
mod databases;
mod files;
mod guests;
mod inspection;
mod memory;
mod output;
mod reading;
mod rescan;
mod search;
mod time;
