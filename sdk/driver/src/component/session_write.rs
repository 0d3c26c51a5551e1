//! The exports `session-write` and `tool-vocabulary`, answered by the trait.

use super::session_read::{self, Exported};
use super::writing_bindings::exports::sepia::driver::{session_write, tool_vocabulary};
use super::writing_services::WritingImports;
use crate::host::Host;
use crate::session_write::SessionWrite;
use crate::written::Checked;
use sepia_ir::{
    Artifact, CheckpointRef, DeleteOutcome, DriverError, ErrorCode, FileVersion, MessageNode, RewindPlan, SaveOptions,
    SaveReport, Session, SessionRef, ToolUse,
};
use std::cell::RefCell;

fn host() -> Host {
    session_read::host().and_writing(WritingImports)
}

/// A draft, until it is committed.
pub struct OpenDraft<D: SessionWrite>(RefCell<Option<Checked<D>>>);

fn over() -> DriverError {
    DriverError::new(ErrorCode::Invalid, "the draft was committed, and takes no more")
}

impl<D: SessionWrite> session_write::Guest for Exported<D> {
    type Draft = OpenDraft<D>;

    fn begin(header: Session, options: SaveOptions) -> Result<session_write::Draft, DriverError> {
        let draft = Checked::<D>::begin(host(), header, &options)?;
        Ok(session_write::Draft::new(OpenDraft::<D>(RefCell::new(Some(draft)))))
    }

    fn rename(session: SessionRef, title: String) -> Result<(), DriverError> {
        D::rename(&host(), &session, &title)
    }

    fn plan_delete(session: SessionRef) -> Result<Vec<Artifact>, DriverError> {
        D::plan_delete(&host(), &session)
    }

    fn delete(session: SessionRef) -> Result<DeleteOutcome, DriverError> {
        D::delete(&host(), &session)
    }

    fn undelete(undo: Vec<u8>) -> Result<(), DriverError> {
        D::undelete(&host(), &undo)
    }

    fn rewind(session: SessionRef, plan: RewindPlan, header: Session) -> Result<(), DriverError> {
        D::rewind(&host(), &session, &plan, header)
    }

    fn checkpoints(session: SessionRef) -> Result<Vec<CheckpointRef>, DriverError> {
        D::checkpoints(&host(), &session)
    }

    fn checkpoint_files(session: SessionRef, checkpoint: String) -> Result<Vec<FileVersion>, DriverError> {
        D::checkpoint_files(&host(), &session, &checkpoint)
    }
}

impl<D: SessionWrite> session_write::GuestDraft for OpenDraft<D> {
    fn append(&self, nodes: Vec<MessageNode>) -> Result<(), DriverError> {
        self.0.borrow_mut().as_mut().ok_or_else(over)?.append(nodes)
    }

    fn commit(&self) -> Result<SaveReport, DriverError> {
        self.0.borrow_mut().take().ok_or_else(over)?.commit()
    }
}

impl<D: SessionWrite> tool_vocabulary::Guest for Exported<D> {
    fn to_common(calls: Vec<ToolUse>) -> Vec<Option<ToolUse>> {
        D::common_tools(&calls)
    }

    fn from_common(calls: Vec<ToolUse>) -> Vec<Option<ToolUse>> {
        D::own_tools(&calls)
    }
}
