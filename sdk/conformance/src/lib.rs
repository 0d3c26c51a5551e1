//! The laws that every reading driver must keep, as a suite that runs on any driver.
//!
//! [`Suite`] reads everything that a [`Subject`] shows of a store and says of each law whether
//! it held. It knows no agent: that a title is the right one is for the driver's own tests;
//! that the list and the session agree on it is for this.

mod failure;
mod laws;
mod report;
mod subject;
mod suite;
mod tree;

pub use failure::Failure;
pub use report::{Outcome, Report};
pub use subject::{Copy, Opened, Subject};
pub use suite::Suite;
pub use tree::tree_hash;
