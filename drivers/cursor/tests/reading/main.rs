//! The driver from outside: stores go in, sessions come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "exact by construction; builders read better")]
#![allow(unreachable_pub, clippy::cast_precision_loss, reason = "the modules of a test are all of one program")]

mod build;
mod damage;
mod databases;
mod demo;
mod laws;
mod proto;
mod samples;
mod spaces;
