//! Builds driver crates into components.
//!
//! Three parts of the workspace use it: the build script of the host, which embeds the
//! components; `cargo xtask`, which adds the compilation target first; and tests that need
//! guests of their own. All of them build into the same folder with the same flags, so that
//! whoever comes second finds the work done.
//!
//! ```no_run
//! # fn main() -> Result<(), sepia_build::BuildError> {
//! # let root = std::path::Path::new(".");
//! let options = sepia_build::Options::default();
//! for built in sepia_build::components(root, &["sepia-driver-example"], &options)? {
//!     assert!(built.bytes.starts_with(b"\0asm"));
//! }
//! # Ok(())
//! # }
//! ```

mod component;
mod environment;
mod error;
mod target;
mod workspace;

pub use component::{Artifacts, Built, Options, components};
pub use environment::cargo;
pub use error::{BuildError, BuildErrorKind};
pub use target::{TARGET, add_target, has_target};
pub use workspace::{COMPONENTS_DIR, drivers, target_dir, target_dir_above, workspace_root};
