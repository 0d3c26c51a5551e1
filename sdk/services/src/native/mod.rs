//! The native side.

mod error;
mod place;
mod process;
mod store;

pub use error::ServiceError;
pub use place::{Place, PlaceError, place_of};
pub use process::start_ticks;
pub use store::{Link, Store, Stores};
