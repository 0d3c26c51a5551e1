//! The capability to write sessions.

use crate::host::Host;
use crate::session_read::{SessionRead, Transcript};
use sepia_ir::{
    Artifact, CheckpointRef, DeleteOutcome, DriverError, ErrorCode, FileVersion, MessageNode, RewindPlan, SaveOptions,
    SaveReport, Session, SessionRef, ToolUse,
};

/// Nodes that come one after the other.
pub trait Nodes: 'static {
    /// The next nodes in the order of the store, at most about `max`; none at the end.
    fn batch(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError>;
}

impl<T: Transcript> Nodes for T {
    fn batch(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        self.next(max)
    }
}

/// Writes sessions; the Rust form of `wit/session-write.wit` and `wit/tool-vocabulary.wit`, where
/// each function is described.
pub trait SessionWrite: SessionRead {
    /// A session being written.
    type Draft: Draft;

    /// Starts writing a session. The header has no nodes; an empty id asks for a fresh one.
    fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<Self::Draft, DriverError>;

    /// Reads the nodes of a session that was written a moment ago, from where its agent looks for it, to be compared.
    /// What only a row has, and what one record adds to the node of another, may be left out of them. The default
    /// opens the session, which mostly takes a search for it, and one more look through all of it.
    fn read_back(host: &Host, written: &SaveReport) -> Result<Box<dyn Nodes>, DriverError> {
        Ok(Box::new(Self::open(host, &SessionRef { id: written.id.clone(), agent_id: None })?))
    }

    /// Gives it another title; 1 to 200 characters on one line.
    fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError>;

    /// All that belongs to the session and nothing else.
    fn plan_delete(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError>;

    /// Takes all of that away, files through [`discard`](crate::Services::discard).
    fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError>;

    /// Brings back the rows of a deleted session, after the host has put its files back. The
    /// default is right for a driver that keeps no rows.
    fn undelete(_host: &Host, _undo: &[u8]) -> Result<(), DriverError> {
        Ok(())
    }

    /// Cuts the session back to the kept nodes of the plan.
    fn rewind(host: &Host, session: &SessionRef, plan: &RewindPlan, header: Session) -> Result<(), DriverError>;

    /// The points that files can be brought back to. The default takes them from the row.
    fn checkpoints(host: &Host, session: &SessionRef) -> Result<Vec<CheckpointRef>, DriverError> {
        Ok(Self::summary_of(host, session)?.checkpoints)
    }

    /// The files of a checkpoint that the agent keeps by itself.
    fn checkpoint_files(
        _host: &Host,
        _session: &SessionRef,
        _checkpoint: &str,
    ) -> Result<Vec<FileVersion>, DriverError> {
        Err(DriverError::new(ErrorCode::Unsupported, "this agent keeps no files of checkpoints by itself"))
    }

    /// This agent's calls in the common form; none where it can't say the whole call.
    fn common_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        vec![None; calls.len()]
    }

    /// Common calls as this agent's tools; none where it has no such tool.
    fn own_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        vec![None; calls.len()]
    }
}

/// A session being written; see the resource `draft`. Dropped before it is committed, it leaves
/// nothing behind.
pub trait Draft: 'static {
    /// The next nodes, in order; a node's parent comes before it.
    fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), DriverError>;

    /// Puts the session in its place, whole; in a dry run only tells what would happen. When it
    /// fails, nothing of it is left.
    fn commit(&mut self) -> Result<SaveReport, DriverError>;

    /// Takes back what [`commit`](Self::commit) did, because reading it back gave something else: there is nothing
    /// afterwards, or what was there before.
    fn undo(&mut self) -> Result<(), DriverError>;
}
