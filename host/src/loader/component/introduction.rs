//! What is known of a component before it is called: what its file shows, and what it said of
//! itself. Kept, so that a start need not bring in code that nobody calls.

use crate::loader::Capability;
use sepia_ir::Manifest;
use serde::{Deserialize, Serialize};

/// What is known of a component. It was inspected, its exports fitted, and its manifest passed
/// the checks of this host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Introduction {
    pub(super) manifest: Manifest,
    pub(super) capabilities: Vec<Capability>,
    /// Names of its imports.
    pub(super) imports: Vec<String>,
}
