//! Live sessions, with an agent that does what a script says.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod attaching;
mod cancelling;
mod command_line;
mod ends;
mod feeds;
mod frames;
mod log;
mod noise;
mod permissions;
mod queue;
mod replay;
mod terminal;
mod turns;
