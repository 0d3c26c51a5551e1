//! Writing the sessions of the agent.
//!
//! ```text
//! saving     a session being written, one transaction; whole: what it is once all of it is there
//! destination    the database that it goes to
//! header     the row of a session
//! node       a row of a message; native, message, chat, calls, blocks: what goes into it; own: what it was before
//! promise    what a row was written for that later rows decide
//! cogs       what the agent puts the context of a session together from
//! delete     all that belongs to a session; undo: what brings it back
//! rename, rewind
//! tools      the agent's tools and the common ones
//! target     the database, open for writing; shape: what its tables want
//! id         ids
//! ```

mod blocks;
mod calls;
mod chat;
mod cogs;
mod delete;
mod destination;
mod header;
mod id;
mod message;
mod native;
mod node;
mod own;
mod promise;
mod rename;
mod rewind;
mod saving;
mod shape;
mod target;
mod tools;
mod undo;
mod whole;

pub use saving::DevinDraft;

use crate::Devin;
use crate::read_back::ReadBack;
use sepia_ir::{
    Artifact, DeleteOutcome, DriverError, RewindPlan, SaveOptions, SaveReport, Session, SessionRef, ToolUse,
};
use sepia_sdk::{Host, Nodes, SessionWrite};

impl SessionWrite for Devin {
    type Draft = DevinDraft;

    fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<DevinDraft, DriverError> {
        DevinDraft::begin(host, header, options)
    }

    fn read_back(host: &Host, written: &SaveReport) -> Result<Box<dyn Nodes>, DriverError> {
        Ok(Box::new(ReadBack::open(host, &written.id)?))
    }

    fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
        rename::rename(host, session, title)
    }

    fn plan_delete(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
        delete::plan(host, session)
    }

    fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
        delete::delete(host, session)
    }

    fn undelete(host: &Host, undo: &[u8]) -> Result<(), DriverError> {
        delete::undelete(host, undo)
    }

    fn rewind(host: &Host, session: &SessionRef, plan: &RewindPlan, header: Session) -> Result<(), DriverError> {
        rewind::rewind(host, session, plan, &header)
    }

    fn common_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        calls.iter().map(tools::common).collect()
    }

    fn own_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        calls.iter().map(tools::own).collect()
    }
}
