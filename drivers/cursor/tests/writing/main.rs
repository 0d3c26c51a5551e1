//! The driver from outside: sessions go in, chats that the agent resumes come out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::float_cmp, clippy::needless_pass_by_value, reason = "exact by construction; builders read better")]
#![allow(
    unreachable_pub,
    dead_code,
    clippy::cast_precision_loss,
    reason = "the modules of a test are all of one program"
)]

#[path = "../reading/build.rs"]
mod build;
#[path = "../reading/demo.rs"]
mod demo;

mod deleting;
mod faults;
mod native;
mod refusals;
mod renaming;
mod rewinding;
mod round_trip;
mod session;
mod store;
mod vocabulary;
