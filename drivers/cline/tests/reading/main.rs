//! The driver from outside: stores go in, sessions come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "exact by construction; builders read better")]
#![allow(unreachable_pub, reason = "the modules of a test are all of one program")]

mod agents;
mod compaction;
mod damage;
mod demo;
mod garbage;
mod huge;
mod ids;
mod index;
mod laws;
mod locks;
mod manifests;
mod places;
mod samples;
mod search;
mod spoken;
mod task_damage;
mod tasks;
mod tools;
