//! A session on its way into an agent's store: looked through, paired, translated, handed over, and read
//! back there.

use super::destination::Destination;
use super::losses::{LossCounts, Losses, ToldLoss};
use super::outline::Outline;
use super::pairing::Pairing;
use super::reasoning;
use super::source::Source;
use super::translation::Translation;
use crate::loader::{Driver, SessionWrite};
use crate::plane::{ErrorKind, Plane, PlaneError};
use schemars::JsonSchema;
use sepia_ir::{SaveOptions, Session};
use serde::Serialize;
use std::sync::Arc;

/// What a save came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Saved {
    /// Id of the session, in the form of its agent. After a dry run, the id that it might have.
    pub id: String,
    /// Its agent.
    pub agent_id: String,
    /// What resumes it.
    pub resume: Resume,
    /// What its agent can't hold as it was, at most 500 of it.
    pub losses: Vec<ToldLoss>,
    /// How much that is.
    pub loss_counts: LossCounts,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// Nothing was written.
    pub dry_run: bool,
}

/// What resumes a session: run it there, as it is, without a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where to run it.
    pub working_directory: String,
}

impl Plane {
    /// Writes a session into an agent's store. `from` is the driver of the agent that it comes from.
    pub(super) async fn transfer(
        &self,
        header: Session,
        mut source: Source<'_>,
        from: Option<&Arc<dyn Driver>>,
        to: &Destination,
    ) -> Result<Saved, PlaneError> {
        let (about, writer) = self.writer_of(&to.agent).await?;
        let backend = about.manifest.backend_type.as_str();
        let from_backend = header.backend_type.clone();
        let tip = header.main_chain_id;
        let (mut header, mut warnings) = to.apply(header, backend)?;
        let _held = match &to.id {
            Some(id) => {
                self.refuse_live_here(&to.agent, id)?;
                Some(self.claim(&to.agent, id, to.force || !to.replace).await?)
            }
            None => None,
        };

        let mut outline = Outline::default();
        source.look_through(|nodes| outline.add(nodes)).await?;
        let mut plan = outline.plan(tip);
        if plan.steps.is_empty() {
            let message = "the session has no messages, and no agent resumes one without";
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        drop(outline);
        header.main_chain_id = plan.tip;
        let options =
            SaveOptions { replace: to.replace, dry_run: to.dry_run, off_branch: std::mem::take(&mut plan.off_branch) };

        let entry = self.new_trash_entry();
        let mut draft = writer.begin(header, options, Arc::clone(&entry)).await?;
        let mut losses = Losses::default();
        let mut pairing = Pairing::new(plan);
        let from = from.and_then(|driver| driver.session_write());
        let mut translation = Translation::new(from, writer, &from_backend, backend);
        let mut nodes = source.hand_over().await?;
        while let Some(batch) = nodes.next().await? {
            let mut batch = pairing.apply(batch, &mut losses);
            if from_backend != backend {
                reasoning::unsigned(&mut batch, &mut losses);
            }
            translation.apply(&mut batch, &mut losses).await?;
            draft.append(batch).await?;
        }
        if pairing.missing() > 0 {
            let message = "the session became shorter while it was read; its agent is at work on it, try again";
            return Err(PlaneError::new(ErrorKind::Conflict, message));
        }
        let report = draft.commit().await?;
        losses.extend(report.losses);
        if let Some(kept) = Self::note_overwritten(&entry, &to.agent, &report.id)? {
            warnings.push(kept);
        }
        let (losses, loss_counts) = losses.finish(|node| pairing.source_of(node));
        Ok(Saved {
            id: report.id,
            agent_id: to.agent.clone(),
            resume: Resume { command: report.resume_command, working_directory: report.working_directory },
            losses,
            loss_counts,
            warnings,
            dry_run: to.dry_run,
        })
    }

    /// The writing side of an agent's driver.
    pub(in crate::plane) async fn writer_of(
        &self,
        agent: &str,
    ) -> Result<(&crate::loader::About, &dyn SessionWrite), PlaneError> {
        let registry = self.registry().await;
        if let Some(driver) = registry.driver(agent)
            && let Some(writer) = driver.session_write()
        {
            return Ok((driver.about(), writer));
        }
        let writers: Vec<&str> = registry
            .drivers()
            .iter()
            .filter(|driver| driver.session_write().is_some())
            .map(|driver| driver.about().manifest.id.as_str())
            .collect();
        let known = if writers.is_empty() { "none".to_owned() } else { writers.join(", ") };
        let agent = crate::text::clean_line(agent, 80);
        let message = format!("no driver writes sessions of agent `{agent}`; those that do: {known}");
        Err(PlaneError::new(ErrorKind::UnknownAgent, message))
    }
}
