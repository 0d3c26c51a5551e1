//! The driver from outside: stores go in, sessions come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "exact by construction; builders read better")]
#![allow(
    unreachable_pub,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the modules of a test are all of one program"
)]

mod damage;
mod demo;
mod forest;
mod hostile;
mod listing;
mod locks;
mod outcomes;
mod pages;
mod places;
mod samples;
mod transcripts;
