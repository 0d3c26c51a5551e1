//! The native side.

mod cores;
mod digest;
mod durable;
mod error;
mod file;
mod links;
mod path;
mod place;
mod process;
mod project;
mod search;
pub mod sqlite;
mod store;
mod survey;
mod walk;

pub use digest::sha256;
pub use durable::{Item as TrashItem, NewFile, TrashEntry, is_unseen, unseen_name, unseen_swept};
pub use error::ServiceError;
pub use links::{Link, SkipReason, SkippedLink};
pub use place::{Place, PlaceError, place_of};
pub use process::{command_line, lock_holders, running_since, start_ticks};
pub use search::Pattern;
pub use store::{Store, Stores};
