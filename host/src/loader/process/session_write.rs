//! The writing side of a program, in calls of the wire. Version 1 of it can save a whole session, rename,
//! delete for good and rewind; the rest is the extension `write`.

use super::answer;
use super::driver::ProcessDriver;
use super::session_read::of;
use crate::jsonrpc::Fragment;
use crate::loader::{Draft, Fault, FaultKind, SessionWrite, check};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sepia_ir::driver_wire::{
    CallsParams, CheckpointParams, DeleteParams, RenameParams, RewindParams, UndeleteParams, WriteParams,
};
use sepia_ir::{
    Artifact, CheckpointRef, DeleteOutcome, FileVersion, MessageNode, RewindPlan, SaveOptions, SaveReport, Session,
    SessionRef, ToolUse,
};
use sepia_services::TrashEntry;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const BEGIN: &str = "session-write.begin";
const COMMIT: &str = "session-write.draft.commit";
const RENAME: &str = "session-write.rename";
const PLAN_DELETE: &str = "session-write.plan-delete";
const DELETE: &str = "session-write.delete";
const UNDELETE: &str = "session-write.undelete";
const REWIND: &str = "session-write.rewind";
const CHECKPOINTS: &str = "session-write.checkpoints";
const CHECKPOINT_FILES: &str = "session-write.checkpoint-files";
const COMMON: &str = "tool-vocabulary.to-common";
const OWN: &str = "tool-vocabulary.from-common";

/// A delete outcome as the wire has it.
#[derive(Deserialize)]
struct Deleted {
    removed: Vec<Artifact>,
    failed: Vec<(Artifact, String)>,
    undo: String,
}

#[derive(Deserialize)]
struct Checkpoints {
    checkpoints: Vec<CheckpointRef>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    content: Option<String>,
}

fn folder(trash: &TrashEntry) -> String {
    trash.folder().to_string_lossy().into_owned()
}

impl ProcessDriver {
    fn only_with_write(&self, call: &'static str) -> Result<(), Fault> {
        let message =
            "this driver is a program that has not the extension `write`; use its component, or a newer program";
        if self.extensions.write { Ok(()) } else { Err(self.unsupported(call, message)) }
    }

    async fn asked<T: for<'de> Deserialize<'de>>(
        &self,
        call: &'static str,
        method: &'static str,
        params: &(impl Serialize + Sync),
    ) -> Result<T, Fault> {
        let result: Fragment = self.call(call, method, params).await?;
        answer::parse(self.id(), call, &result)
    }

    async fn translated(
        &self,
        call: &'static str,
        method: &'static str,
        calls: Vec<ToolUse>,
    ) -> Result<Vec<Option<ToolUse>>, Fault> {
        if !self.extensions.write {
            return Ok(vec![None; calls.len()]);
        }
        let params = CallsParams { calls };
        let translated = self.asked(call, method, &params).await?;
        self.checked(call, check::translated(translated, params.calls.len()))
    }
}

#[async_trait]
impl SessionWrite for ProcessDriver {
    async fn begin(
        &self,
        header: Session,
        options: SaveOptions,
        trash: Arc<TrashEntry>,
    ) -> Result<Box<dyn Draft>, Fault> {
        self.only_with_write(BEGIN)?;
        let params = WriteParams { session: header, options, trash: Some(folder(&trash)) };
        Ok(Box::new(WholeDraft { driver: self.clone(), params }))
    }

    async fn rename(&self, session: SessionRef, title: &str, _trash: Arc<TrashEntry>) -> Result<(), Fault> {
        let params = RenameParams { id: session.id, agent_id: session.agent_id, title: title.to_owned() };
        self.call(RENAME, "session.rename", &params).await?;
        Ok(())
    }

    async fn plan_delete(&self, session: SessionRef) -> Result<Vec<Artifact>, Fault> {
        self.only_with_write(PLAN_DELETE)?;
        Ok(check::artifacts(self.asked(PLAN_DELETE, "session.planDelete", &of(session)).await?))
    }

    fn keeps_what_it_deletes(&self) -> bool {
        self.extensions.write
    }

    async fn delete(&self, session: SessionRef, trash: Arc<TrashEntry>) -> Result<DeleteOutcome, Fault> {
        if !self.extensions.write {
            // It takes away what it takes away, and doesn't say what that is.
            self.call(DELETE, "session.delete", &of(session)).await?;
            return Ok(DeleteOutcome { removed: Vec::new(), failed: Vec::new(), undo: Vec::new() });
        }
        let params = DeleteParams { id: session.id, agent_id: session.agent_id, trash: Some(folder(&trash)) };
        let deleted: Deleted = self.asked(DELETE, "session.delete", &params).await?;
        let wrong = |e| Fault::new(self.id(), DELETE, FaultKind::Contract, format!("`undo` is no base64: {e}"));
        let undo = BASE64.decode(&deleted.undo).map_err(wrong)?;
        Ok(check::deleted(DeleteOutcome { removed: deleted.removed, failed: deleted.failed, undo }))
    }

    async fn undelete(&self, undo: Vec<u8>) -> Result<(), Fault> {
        self.only_with_write(UNDELETE)?;
        self.call(UNDELETE, "session.undelete", &UndeleteParams { undo: BASE64.encode(undo) }).await?;
        Ok(())
    }

    async fn rewind(
        &self,
        session: SessionRef,
        plan: RewindPlan,
        header: Session,
        trash: Arc<TrashEntry>,
    ) -> Result<(), Fault> {
        let trash = self.extensions.write.then(|| folder(&trash));
        let params = RewindParams { session: of(session), plan, truncated: header, trash };
        self.call(REWIND, "session.rewind", &params).await?;
        Ok(())
    }

    async fn checkpoints(&self, session: SessionRef) -> Result<Vec<CheckpointRef>, Fault> {
        let answer: Checkpoints = self.asked(CHECKPOINTS, "session.checkpoints", &of(session)).await?;
        Ok(answer.checkpoints)
    }

    async fn checkpoint_files(&self, session: SessionRef, checkpoint: &str) -> Result<Vec<FileVersion>, Fault> {
        self.only_with_write(CHECKPOINT_FILES)?;
        let params = CheckpointParams { id: session.id, agent_id: session.agent_id, checkpoint: checkpoint.to_owned() };
        let files: Vec<File> = self.asked(CHECKPOINT_FILES, "session.checkpointFiles", &params).await?;
        let decoded = files.into_iter().map(|File { path, content }| {
            let content = content.map(|content| BASE64.decode(content)).transpose();
            Ok(FileVersion { path, content: content? })
        });
        decoded.collect::<Result<_, base64::DecodeError>>().map_err(|e| {
            Fault::new(self.id(), CHECKPOINT_FILES, FaultKind::Contract, format!("a file is no base64: {e}"))
        })
    }

    async fn common_tools(&self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        self.translated(COMMON, "tools.common", calls).await
    }

    async fn own_tools(&self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        self.translated(OWN, "tools.own", calls).await
    }
}

/// A draft that waits here until it is whole: the wire has no pieces.
struct WholeDraft {
    driver: ProcessDriver,
    params: WriteParams,
}

#[async_trait]
impl Draft for WholeDraft {
    async fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), Fault> {
        self.params.session.nodes.extend(nodes);
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<SaveReport, Fault> {
        let report = self.driver.asked(COMMIT, "session.write", &self.params).await?;
        self.driver.checked(COMMIT, check::saved(report))
    }
}
