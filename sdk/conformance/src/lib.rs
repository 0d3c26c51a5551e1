//! The laws that every reading driver must keep, as a suite that runs on any driver.
//!
//! [`Suite`] reads everything that a [`Subject`] shows of a store and says of each law whether
//! it held. It knows no agent: that a title is the right one is for the driver's own tests;
//! that the list and the session agree on it is for this.

#[cfg(feature = "in-process")]
pub mod arbitrary;
#[cfg(feature = "in-process")]
mod equal;
mod failure;
#[cfg(feature = "in-process")]
mod faults;
#[cfg(feature = "in-process")]
mod in_process;
mod laws;
mod report;
mod subject;
mod suite;
mod tree;

#[cfg(feature = "in-process")]
pub use equal::equal_but_for;
pub use failure::Failure;
#[cfg(feature = "in-process")]
pub use faults::{FAULTS, Fault, at_every_step};
#[cfg(feature = "in-process")]
pub use in_process::InProcess;
pub use report::{Outcome, Report};
pub use subject::{Copy, Opened, Subject};
pub use suite::Suite;
pub use tree::{copy_tree, tree_hash};
