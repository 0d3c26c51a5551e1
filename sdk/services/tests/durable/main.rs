//! Writing to a store: whole or not at all, where the driver may, and nothing lost on the way.
#![allow(clippy::unwrap_used, reason = "a test stops where a value is missing")]

mod databases;
mod files;
mod ground;
mod trash;
