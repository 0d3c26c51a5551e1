//! Deleting a session: all that belongs to it goes into the trash, and nothing else.

use crate::loader::SessionWrite;
use crate::plane::trash::{EntryFile, EntryFolder, Why};
use crate::plane::{DetachReason, ErrorKind, Plane, PlaneError};
use schemars::JsonSchema;
use sepia_ir::{Artifact, SessionRef};
use serde::Serialize;

/// How to delete.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeleteOptions {
    /// Tell what would go, and take nothing.
    pub dry_run: bool,
    /// Also a session that a running agent holds.
    pub force: bool,
    /// For good: nothing of it stays in the trash.
    pub permanently: bool,
}

/// One file, folder or row of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Part {
    /// Store of the driver.
    pub store: String,
    /// Path in it, or `table:key` of a row.
    pub place: String,
    /// Bytes.
    pub bytes: u64,
}

/// What a deletion came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deleted {
    /// Agent of the session.
    pub agent_id: String,
    /// The session.
    pub id: String,
    /// What went, or, in a dry run, would go.
    pub removed: Vec<Part>,
    /// What is still there, with the reason.
    pub failed: Vec<NotDeleted>,
    /// Name of the entry of the trash; absent when it is gone for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trash: Option<String>,
    /// Nothing was taken.
    pub dry_run: bool,
}

/// A part that is still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotDeleted {
    /// The part.
    #[serde(flatten)]
    pub part: Part,
    /// Why.
    pub reason: String,
}

impl From<Artifact> for Part {
    fn from(artifact: Artifact) -> Self {
        Self { store: artifact.store, place: artifact.place, bytes: artifact.bytes }
    }
}

impl Plane {
    /// Deletes a session. Unknown ids are `not_found`, also the second time.
    pub async fn delete(&self, id: &str, agent: Option<&str>, options: DeleteOptions) -> Result<Deleted, PlaneError> {
        let (agent, title) = match self.agent_and_title(id, agent).await {
            Err(error) if error.kind == ErrorKind::NotFound && !options.dry_run => {
                let Some(of) = self.pending_agent(id, agent).await else { return Err(error) };
                self.let_go_for(id, &of, DetachReason::Deleted).await;
                // Its agent may have stored it when it ended.
                match self.agent_and_title(id, Some(&of)).await {
                    Err(error) if error.kind == ErrorKind::NotFound => return self.delete_unstored(id, of).await,
                    found => found?,
                }
            }
            found => found?,
        };
        let (_, writer) = self.writer_of(&agent).await?;
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        if options.dry_run {
            let removed = writer.plan_delete(session).await?.into_iter().map(Part::from).collect();
            let (agent_id, id) = (agent, id.to_owned());
            return Ok(Deleted { agent_id, id, removed, failed: Vec::new(), trash: None, dry_run: true });
        }
        if !writer.keeps_what_it_deletes() && !options.permanently {
            let message = format!(
                "the driver of agent `{agent}` can delete sessions only for good, with nothing in the trash; ask for that with `permanently`"
            );
            return Err(PlaneError::new(ErrorKind::Unsupported, message));
        }
        let _held = self.seize(&agent, id, options.force, DetachReason::Deleted).await?;
        let deleted = self.move_to_trash(writer, session, &agent, &title, options).await?;
        if !writer.keeps_what_it_deletes() {
            self.refuse_when_stored(id, &agent).await?;
        }
        if deleted.failed.is_empty() {
            // What people say of a session goes with it.
            self.overlay().forget(&agent, id).await?;
            self.forget_facts(&agent, id).await;
            self.told_deleted(id, &agent).await;
        }
        Ok(deleted)
    }

    /// Deletes a session that was made here and that its store never had: there is nothing of it but what we know.
    async fn delete_unstored(&self, id: &str, agent_id: String) -> Result<Deleted, PlaneError> {
        self.overlay().forget(&agent_id, id).await?;
        self.forget_facts(&agent_id, id).await;
        self.told_deleted(id, &agent_id).await;
        let (removed, failed) = (Vec::new(), Vec::new());
        Ok(Deleted { agent_id, id: id.to_owned(), removed, failed, trash: None, dry_run: false })
    }

    /// Fails when a session that was deleted is still there: of what names no parts, only that can be told.
    async fn refuse_when_stored(&self, id: &str, agent: &str) -> Result<(), PlaneError> {
        match self.agent_and_title(id, Some(agent)).await {
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(_) => {
                let message = format!(
                    "the driver of agent `{agent}` says that session `{}` is deleted, and it is still there",
                    crate::text::clean_line(id, 80)
                );
                Err(PlaneError::new(ErrorKind::Internal, message))
            }
        }
    }

    async fn move_to_trash(
        &self,
        writer: &dyn SessionWrite,
        session: SessionRef,
        agent: &str,
        title: &str,
        options: DeleteOptions,
    ) -> Result<Deleted, PlaneError> {
        let id = session.id.clone();
        let entry = self.new_trash_entry();
        let folder = EntryFolder::at(entry.folder().to_owned());
        let file = EntryFile::new(agent, &id, title, Why::Deleted);
        let full = |e: std::io::Error| {
            let message = "the session was not deleted, for the trash can't be written";
            PlaneError::new(ErrorKind::Internal, message).because(e.to_string())
        };
        // It says what it is before anything is in it: whatever happens, what is in it can be told.
        folder.write(&file).map_err(|e| {
            // An entry that can't say what it is holds nothing.
            let _ = std::fs::remove_dir_all(folder.path());
            full(e)
        })?;
        let outcome = match writer.delete(session, entry.clone()).await {
            Ok(outcome) => outcome,
            Err(fault) => {
                if entry.items().is_empty() {
                    // Nothing was taken, so nothing is in it.
                    let _ = std::fs::remove_dir_all(folder.path());
                }
                return Err(fault.into());
            }
        };
        folder.write(&file.with_undo(&outcome.undo)).map_err(|e| {
            let message = "the session was deleted, and what would bring back its rows could not be kept";
            PlaneError::new(ErrorKind::Internal, message).because(e.to_string())
        })?;
        let mut trash = Some(folder.name());
        if options.permanently && outcome.failed.is_empty() {
            folder.remove().map_err(|e| {
                let message =
                    format!("the session is in the trash as {}, and could not be taken out of it", folder.name());
                PlaneError::new(ErrorKind::Internal, message).because(e.to_string())
            })?;
            trash = None;
        }
        Ok(Deleted {
            agent_id: agent.to_owned(),
            id,
            removed: outcome.removed.into_iter().map(Part::from).collect(),
            failed: outcome
                .failed
                .into_iter()
                .map(|(artifact, reason)| NotDeleted { part: artifact.into(), reason })
                .collect(),
            trash,
            dry_run: false,
        })
    }
}
