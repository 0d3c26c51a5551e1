//! The driver from outside, writing: sessions go in, stores come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "exact by construction; builders read better")]
#![allow(unreachable_pub, reason = "the modules of a test are all of one program")]

mod carrying;
mod delete;
mod faults;
mod ids;
mod native_form;
mod rename;
mod rewind;
mod round_trip;
mod same_agent;
mod stand;
mod tasks;
mod tools;
