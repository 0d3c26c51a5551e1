//! The command line from outside: what a person types, sees, and is left with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

mod agents;
mod doctor;
mod ends;
mod export;
mod help;
mod hostile_text;
mod import;
mod kept_rows;
mod list;
mod marks;
mod moves;
mod search;
mod show;
