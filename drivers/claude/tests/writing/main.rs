//! The driver from outside: sessions go in, stores come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "exact by construction; builders read better")]
#![allow(unreachable_pub, clippy::cast_precision_loss, reason = "the modules of a test are all of one program")]

mod again;
mod checkpoints;
mod content;
mod deleting;
#[path = "../reading/demo.rs"]
#[allow(dead_code, reason = "the tests of reading use the rest")]
mod demo;
mod faults;
mod ids;
mod places;
mod records;
mod renaming;
mod rewinding;
mod tools;
mod written;
