//! Trying a driver on the laws that all drivers keep: how it is brought in over chosen places,
//! and how the suite of `sepia-conformance` calls it. Stands beside the plane and knows only
//! the loader.

mod copy;
mod subject;
mod trial;

pub use copy::copy_store;
pub use subject::DriverSubject;
pub use trial::{Places, Trial, TrialError};
