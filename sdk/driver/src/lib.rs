//! What the author of a sepia driver uses.
//!
//! A driver is a type that implements [`Driver`] and one trait for each capability that it
//! has. [`export_driver!`] makes it a component; [`serve`](subprocess::serve) makes the same
//! code a `sepia-driver-*` program. Neither the driver nor its tests know which one runs: all
//! that they reach goes through a [`Host`].
//!
//! ```text
//! pub struct Example;
//!
//! impl Driver for Example {
//!     fn manifest() -> Manifest { … }
//! }
//!
//! impl SessionRead for Example {
//!     type Transcript = ExampleTranscript;
//!     fn scan(host: &Host) -> Result<ScanReport, DriverError> { … }
//!     fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> { … }
//!     fn open(host: &Host, session: &SessionRef) -> Result<ExampleTranscript, DriverError> { … }
//! }
//!
//! sepia_sdk::export_driver!(Example);
//! ```

mod driver;
mod host;
mod one_line;
mod quoted;
mod same;
pub mod search;
mod session_read;
mod session_write;
mod utf8;
mod written;

pub mod carried;
pub mod json;
pub mod metadata;
pub mod stats;
pub mod time;
pub mod tools;

#[cfg(target_family = "wasm")]
pub mod component;
#[cfg(not(target_family = "wasm"))]
pub mod subprocess;

pub use driver::Driver;
pub use host::{Database, Host, NewFile, Query, Services, WritableDatabase, WritingServices};
pub use one_line::one_line;
pub use quoted::quoted;
pub use same::{Same, same};
pub use sepia_ir as ir;
pub use sepia_services::{members, packed};
pub use session_read::{NativeCopy, SessionRead, Transcript, window};
pub use session_write::{Draft, Nodes, SessionWrite};
pub use utf8::{utf8, utf8_or_repaired};
pub use written::Checked;

/// Makes a component of a driver type: `export_driver!(Example)` of one that reads,
/// `export_driver!(Example, write)` of one that writes too. In a native build it only checks that it is one.
#[macro_export]
macro_rules! export_driver {
    ($driver:ty, write) => {
        $crate::export_driver!($driver);
        #[cfg(target_family = "wasm")]
        mod sepia_writing_component {
            use super::*;
            type Exported = $crate::component::Exported<$driver>;
            $crate::component::writing_bindings::export_writing!(
                Exported with_types_in $crate::component::writing_bindings
            );
        }
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn is_writer<D: $crate::SessionWrite>() {}
            is_writer::<$driver>();
        };
    };
    ($driver:ty) => {
        #[cfg(target_family = "wasm")]
        mod sepia_component {
            use super::*;
            type Exported = $crate::component::Exported<$driver>;
            $crate::component::bindings::export!(Exported with_types_in $crate::component::bindings);
        }
        #[cfg(not(target_family = "wasm"))]
        const _: fn() = || {
            fn is_driver<D: $crate::SessionRead>() {}
            is_driver::<$driver>();
        };
    };
}
