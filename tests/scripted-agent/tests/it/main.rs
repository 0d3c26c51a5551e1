//! The program as a client sees it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod answering;
mod asking;
mod cases_history;
mod cases_stream;
mod cases_trouble;
mod client;
mod defaults;
mod output;
mod process;
mod raw;
mod start;
mod store;
mod waiting;
