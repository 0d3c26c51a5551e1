//! The bulk reading and the durable writing that the host lends to drivers, and the places that
//! they may happen in: written once, used by the host for components and by the SDK for subprocess drivers.
//!
//! Everything here knows files, lines and JSON, and no agent's format. [`packed`] is the form
//! in which projected lines cross the component boundary; it, [`members`] and [`search`] build
//! for guests too, the rest is native.

pub mod members;
pub mod packed;
pub mod search;

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(not(target_family = "wasm"))]
pub use native::{
    Link, NewFile, Pattern, Place, PlaceError, ServiceError, SkipReason, SkippedLink, Store, Stores, TrashEntry,
    TrashItem, command_line, is_unseen, lock_holders, place_of, running_since, sha256, sqlite, start_ticks,
    unseen_name, unseen_swept,
};
