//! The writing side of a component, each function a call of its own; a draft is one instance from its
//! beginning to its end.

use super::bindings::exports::sepia::driver::session_write::Guest;
use super::bindings::exports::sepia::driver::tool_vocabulary;
use super::call::{Sandbox, within};
use super::driver::GrantedGuest;
use crate::loader::{Draft, Fault, SessionWrite, Vocabulary, check};
use async_trait::async_trait;
use sepia_ir::{
    Artifact, CheckpointRef, DeleteOutcome, FileVersion, MessageNode, RewindPlan, SaveOptions, SaveReport, Session,
    SessionRef, ToolUse,
};
use sepia_services::{Store, TrashEntry};
use std::sync::Arc;
use wasmtime::component::ResourceAny;

const BEGIN: &str = "session-write.begin";
const APPEND: &str = "session-write.draft.append";
const COMMIT: &str = "session-write.draft.commit";
const COMMON: &str = "tool-vocabulary.to-common";
const OWN: &str = "tool-vocabulary.from-common";

impl GrantedGuest {
    async fn writing(&self, stores: Vec<Store>, call: &'static str) -> Result<(Sandbox, Guest), Fault> {
        let (mut sandbox, ready) = self.sandbox(stores, call).await?;
        let exports = ready.write.as_ref();
        let exports = exports.ok_or_else(|| self.start(call, "it no longer exports `session-write`".to_owned()))?;
        let guest = exports.load(&mut sandbox.store, &sandbox.instance);
        let guest = guest.map_err(|e| self.start(call, super::call::reason(&e)))?;
        Ok((sandbox, guest))
    }

    async fn for_writing(
        &self,
        call: &'static str,
        trash: Option<&Arc<TrashEntry>>,
    ) -> Result<(Sandbox, Guest), Fault> {
        self.writing(self.open_for_writing(call, trash)?, call).await
    }

    /// An instance for the tools, which reaches no store.
    async fn tools(&self, call: &'static str) -> Result<Option<OpenVocabulary>, Fault> {
        let Some(exports) = &self.ready(call).await?.vocabulary else { return Ok(None) };
        let (mut sandbox, _) = self.sandbox(Vec::new(), call).await?;
        let guest = exports.load(&mut sandbox.store, &sandbox.instance);
        let guest = guest.map_err(|e| self.start(call, super::call::reason(&e)))?;
        Ok(Some(OpenVocabulary { sandbox, guest, driver: Arc::clone(&self.driver) }))
    }
}

#[async_trait]
impl SessionWrite for GrantedGuest {
    async fn prepare(&self) {
        // Kept, with its failure, for the call that follows.
        let _ = self.ready(BEGIN).await;
    }

    async fn begin(
        &self,
        header: Session,
        options: SaveOptions,
        trash: Arc<TrashEntry>,
    ) -> Result<Box<dyn Draft>, Fault> {
        if !options.dry_run {
            self.make_first_store(BEGIN)?;
        }
        let (mut sandbox, guest) = self.for_writing(BEGIN, Some(&trash)).await?;
        let answer = within(sandbox.until(), guest.call_begin(&mut sandbox.store, &header, &options)).await;
        let resource = sandbox.judge_result(BEGIN, answer)?;
        Ok(Box::new(OpenDraft { sandbox, guest, resource, driver: Arc::clone(&self.driver) }))
    }

    async fn rename(&self, session: SessionRef, title: &str, trash: Arc<TrashEntry>) -> Result<(), Fault> {
        const CALL: &str = "session-write.rename";
        let (mut sandbox, guest) = self.for_writing(CALL, Some(&trash)).await?;
        let answer = within(sandbox.until(), guest.call_rename(&mut sandbox.store, &session, title)).await;
        sandbox.judge_result(CALL, answer)
    }

    async fn plan_delete(&self, session: SessionRef) -> Result<Vec<Artifact>, Fault> {
        const CALL: &str = "session-write.plan-delete";
        let (mut sandbox, guest) = self.writing(self.open_stores(CALL)?, CALL).await?;
        let answer = within(sandbox.until(), guest.call_plan_delete(&mut sandbox.store, &session)).await;
        Ok(check::artifacts(sandbox.judge_result(CALL, answer)?))
    }

    async fn delete(&self, session: SessionRef, trash: Arc<TrashEntry>) -> Result<DeleteOutcome, Fault> {
        const CALL: &str = "session-write.delete";
        let (mut sandbox, guest) = self.for_writing(CALL, Some(&trash)).await?;
        let answer = within(sandbox.until(), guest.call_delete(&mut sandbox.store, &session)).await;
        Ok(check::deleted(sandbox.judge_result(CALL, answer)?))
    }

    async fn undelete(&self, undo: Vec<u8>) -> Result<(), Fault> {
        const CALL: &str = "session-write.undelete";
        let (mut sandbox, guest) = self.for_writing(CALL, None).await?;
        let answer = within(sandbox.until(), guest.call_undelete(&mut sandbox.store, &undo)).await;
        sandbox.judge_result(CALL, answer)
    }

    async fn rewind(
        &self,
        session: SessionRef,
        plan: RewindPlan,
        header: Session,
        trash: Arc<TrashEntry>,
    ) -> Result<(), Fault> {
        const CALL: &str = "session-write.rewind";
        let (mut sandbox, guest) = self.for_writing(CALL, Some(&trash)).await?;
        let answer = within(sandbox.until(), guest.call_rewind(&mut sandbox.store, &session, &plan, &header)).await;
        sandbox.judge_result(CALL, answer)
    }

    async fn checkpoints(&self, session: SessionRef) -> Result<Vec<CheckpointRef>, Fault> {
        const CALL: &str = "session-write.checkpoints";
        let (mut sandbox, guest) = self.writing(self.open_stores(CALL)?, CALL).await?;
        let answer = within(sandbox.until(), guest.call_checkpoints(&mut sandbox.store, &session)).await;
        sandbox.judge_result(CALL, answer)
    }

    async fn checkpoint_files(&self, session: SessionRef, checkpoint: &str) -> Result<Vec<FileVersion>, Fault> {
        const CALL: &str = "session-write.checkpoint-files";
        let (mut sandbox, guest) = self.writing(self.open_stores(CALL)?, CALL).await?;
        let answer =
            within(sandbox.until(), guest.call_checkpoint_files(&mut sandbox.store, &session, checkpoint)).await;
        sandbox.judge_result(CALL, answer)
    }

    async fn common_tools(&self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        match self.tools(COMMON).await? {
            Some(mut tools) => tools.common_tools(calls).await,
            None => Ok(vec![None; calls.len()]),
        }
    }

    async fn own_tools(&self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        match self.tools(OWN).await? {
            Some(mut tools) => tools.own_tools(calls).await,
            None => Ok(vec![None; calls.len()]),
        }
    }

    async fn vocabulary(&self) -> Result<Option<Box<dyn Vocabulary>>, Fault> {
        Ok(self.tools(COMMON).await?.map(|tools| Box::new(tools) as Box<dyn Vocabulary>))
    }
}

/// An instance that translates calls of tools: it keeps nothing and reaches nothing, so that it serves a whole
/// session.
struct OpenVocabulary {
    sandbox: Sandbox,
    guest: tool_vocabulary::Guest,
    driver: Arc<str>,
}

#[async_trait]
impl Vocabulary for OpenVocabulary {
    async fn common_tools(&mut self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        let Self { sandbox, guest, driver } = self;
        sandbox.arm();
        let answer = within(sandbox.until(), guest.call_to_common(&mut sandbox.store, &calls)).await;
        let translated = check::translated(sandbox.judge(COMMON, answer)?, calls.len());
        translated.map_err(|breach| breach.into_fault(driver, COMMON))
    }

    async fn own_tools(&mut self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault> {
        let Self { sandbox, guest, driver } = self;
        sandbox.arm();
        let answer = within(sandbox.until(), guest.call_from_common(&mut sandbox.store, &calls)).await;
        let translated = check::translated(sandbox.judge(OWN, answer)?, calls.len());
        translated.map_err(|breach| breach.into_fault(driver, OWN))
    }
}

/// A draft of a guest, with all that it needs to live.
struct OpenDraft {
    sandbox: Sandbox,
    guest: Guest,
    resource: ResourceAny,
    driver: Arc<str>,
}

#[async_trait]
impl Draft for OpenDraft {
    async fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), Fault> {
        let Self { sandbox, guest, resource, .. } = self;
        sandbox.arm();
        let until = sandbox.until();
        let answer = within(until, guest.draft().call_append(&mut sandbox.store, *resource, &nodes)).await;
        sandbox.judge_result(APPEND, answer)
    }

    async fn commit(mut self: Box<Self>) -> Result<SaveReport, Fault> {
        let Self { sandbox, guest, resource, driver } = &mut *self;
        sandbox.arm();
        let answer = within(sandbox.until(), guest.draft().call_commit(&mut sandbox.store, *resource)).await;
        let report = sandbox.judge_result(COMMIT, answer)?;
        check::saved(report).map_err(|breach| breach.into_fault(driver, COMMIT))
    }
}
