//! What the methods answer, where it is not a value of the plane or of the IR.

use crate::home::Node;
use crate::plane::PlaneConfig;
use schemars::JsonSchema;
use sepia_ir::Session;
use serde::Serialize;

/// `manifest`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServiceManifest {
    /// `sepia`
    pub(super) name: &'static str,
    /// Version of the program.
    pub(super) version: &'static str,
    /// Version of this wire, raised with every breaking change.
    pub(super) protocol: u32,
    /// This machine.
    pub(super) node: Node,
    /// What the environment and the defaults made of the settings.
    pub(super) config: PlaneConfig,
    /// The methods that are available.
    pub(super) methods: Vec<&'static str>,
}

/// `sessions.export`: a session to carry elsewhere. Only its schema is made from this; the
/// session itself is written as it is read.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Bundle {
    /// The whole session.
    session: Session,
}
