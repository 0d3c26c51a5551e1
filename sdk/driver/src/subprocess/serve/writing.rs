//! The methods of writing; those of reading are answered as by a driver that only reads.

use super::Writing;
use super::methods::{self, Failure, params, session};
use super::reply::{Reply, written};
use super::request::Request;
use crate::host::Host;
use crate::session_write::SessionWrite;
use crate::written::Checked;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sepia_ir::driver_wire::{
    CallsParams, CheckpointParams, DeleteParams, RenameParams, RewindParams, UndeleteParams, WriteParams, code,
};
use sepia_ir::{DriverError, SaveOptions, SaveReport, Session, SessionRef, chain};
use sepia_services::TrashEntry;
use serde_json::json;
use std::io;
use std::sync::Arc;

/// Nodes handed to a draft at once.
const BATCH: usize = 256;

/// Answers a request: writes the result, or says why there is none.
pub(super) fn call<D: SessionWrite>(
    host: &dyn Fn() -> Result<Host, DriverError>,
    writing: Writing<'_>,
    request: &Request,
    reply: &mut Reply<'_>,
) -> Result<(), Failure> {
    let nothing = |reply: &mut Reply<'_>| reply.value(&()).map_err(written);
    match request.method.as_str() {
        "driver.manifest" => Ok(io::Write::write_all(reply, &manifest::<D>()?)?),
        "session.save" => {
            let session: Session = params(request)?;
            let off_branch = chain::off_branch(&session.nodes, session.main_chain_id);
            let options = SaveOptions { replace: true, dry_run: false, off_branch };
            save::<D>(writing(None)?, session, &options)?;
            nothing(reply)
        }
        "session.write" => {
            let asked: WriteParams = params(request)?;
            let report = save::<D>(writing(entry(asked.trash.as_deref()))?, asked.session, &asked.options)?;
            reply.value(&report).map_err(written)
        }
        "session.rename" => {
            let asked: RenameParams = params(request)?;
            let session = SessionRef { id: asked.id, agent_id: asked.agent_id };
            D::rename(&writing(None)?, &session, &asked.title)?;
            nothing(reply)
        }
        "session.planDelete" => {
            let plan = D::plan_delete(&host()?, &session(request)?)?;
            reply.value(&plan).map_err(written)
        }
        "session.delete" => {
            let asked: DeleteParams = params(request)?;
            let Some(trash) = asked.trash else {
                let why = "session.delete needs `trash`, a folder that what is taken away goes into";
                return Err(Failure::Answer { code: code::INVALID_PARAMS, message: why.into() });
            };
            let session = SessionRef { id: asked.id, agent_id: asked.agent_id };
            let outcome = D::delete(&writing(entry(Some(&trash)))?, &session)?;
            let undo = BASE64.encode(&outcome.undo);
            let result = json!({ "removed": outcome.removed, "failed": outcome.failed, "undo": undo });
            reply.value(&result).map_err(written)
        }
        "session.undelete" => {
            let asked: UndeleteParams = params(request)?;
            let undo = BASE64.decode(&asked.undo).map_err(|e| Failure::Answer {
                code: code::INVALID_PARAMS,
                message: format!("`undo` is no base64: {e}"),
            })?;
            D::undelete(&writing(None)?, &undo)?;
            nothing(reply)
        }
        "session.rewind" => {
            let asked: RewindParams = params(request)?;
            let session = SessionRef { id: asked.session.id, agent_id: asked.session.agent_id };
            D::rewind(&writing(entry(asked.trash.as_deref()))?, &session, &asked.plan, asked.truncated)?;
            nothing(reply)
        }
        "session.checkpoints" => {
            let checkpoints = D::checkpoints(&host()?, &session(request)?)?;
            reply.value(&json!({ "checkpoints": checkpoints })).map_err(written)
        }
        "session.checkpointFiles" => {
            let asked: CheckpointParams = params(request)?;
            let session = SessionRef { id: asked.id, agent_id: asked.agent_id };
            let files = D::checkpoint_files(&host()?, &session, &asked.checkpoint)?;
            let files: Vec<_> = files
                .iter()
                .map(|file| json!({ "path": file.path, "content": file.content.as_ref().map(|c| BASE64.encode(c)) }))
                .collect();
            reply.value(&files).map_err(written)
        }
        "tools.common" => {
            let asked: CallsParams = params(request)?;
            reply.value(&D::common_tools(&asked.calls)).map_err(written)
        }
        "tools.own" => {
            let asked: CallsParams = params(request)?;
            reply.value(&D::own_tools(&asked.calls)).map_err(written)
        }
        _ => methods::call::<D>(host, request, reply),
    }
}

/// The manifest as the wire has it, JSON on one line.
pub(super) fn manifest<D: SessionWrite>() -> io::Result<Vec<u8>> {
    let capabilities = ["sessionStore", "sessionWrite", "checkpoints", "rewind"];
    methods::manifest_with::<D>(&capabilities, &["scan", "native", "locks", "search", "write"])
}

fn entry(folder: Option<&str>) -> Option<Arc<TrashEntry>> {
    folder.map(|folder| Arc::new(TrashEntry::new(folder.into())))
}

fn save<D: SessionWrite>(host: Host, mut session: Session, options: &SaveOptions) -> Result<SaveReport, DriverError> {
    let mut nodes = std::mem::take(&mut session.nodes);
    let mut draft = Checked::<D>::begin(host, session, options)?;
    while !nodes.is_empty() {
        let rest = nodes.split_off(nodes.len().min(BATCH));
        draft.append(std::mem::replace(&mut nodes, rest))?;
    }
    draft.commit()
}
