//! What the methods answer, where it is not a value of the plane or of the IR.

use crate::home::Node;
use crate::plane::{LossCounts, PlaneConfig, Resume, Saved, ToldLoss};
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

/// `sessions.convert`
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Converted {
    /// Id of the copy, in the form of its agent. After a dry run, one that it might have.
    session_id: String,
    /// The agent that has it.
    agent_id: String,
    /// What resumes it.
    resume: Resume,
    /// What its agent can't hold as it was, at most 500 of it.
    losses: Vec<ToldLoss>,
    /// How much that is.
    loss_counts: LossCounts,
    /// What a person should know.
    warnings: Vec<String>,
    /// Nothing was written.
    dry_run: bool,
}

impl From<Saved> for Converted {
    fn from(saved: Saved) -> Self {
        let Saved { id: session_id, agent_id, resume, losses, loss_counts, warnings, dry_run } = saved;
        Self { session_id, agent_id, resume, losses, loss_counts, warnings, dry_run }
    }
}

/// `sessions.rename`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Renamed {
    /// The title as it was written.
    pub(super) title: String,
}

/// `trash.empty`
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Emptied {
    /// Entries that are gone for good.
    pub(super) emptied: usize,
}
