//! A session on its way into an agent's store: looked through, paired, translated, handed over, and read
//! back there.

use super::delivery::{Delivered, Way};
use super::destination::Destination;
use super::losses::{LossCounts, ToldLoss};
use super::outline::Outline;
use super::pairing::Pairing;
use super::source::Source;
use super::straight::{self, Straight};
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
        let (driver, writer) = self.writer_of(&to.agent).await?;
        let about = driver.about();
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

        let entry = self.new_trash_entry();
        let way = Way {
            from: from.and_then(|driver| driver.session_write()),
            from_backend: &from_backend,
            to: writer,
            driver,
            to_backend: backend,
            trash: &entry,
        };
        let options = |off_branch| SaveOptions { replace: to.replace, dry_run: to.dry_run, off_branch };
        let mut outline = Outline::default();
        let is_all = source.look_at_start(|nodes| outline.add(nodes)).await?;
        let mut delivered = None;
        if !is_all && outline.is_line(tip) {
            header.main_chain_id = straight::NO_TIP;
            let pairing = Pairing::straight(Straight::new(tip));
            delivered = way.deliver(header.clone(), options(Vec::new()), pairing, source.hand_over().await?).await?;
            if delivered.is_none() {
                // It forks further on: all of it is looked through first, then.
                outline = Outline::default();
            }
        }
        let delivered = if let Some(delivered) = delivered {
            delivered
        } else {
            if !is_all {
                source.look_through(|nodes| outline.add(nodes)).await?;
            }
            let mut plan = outline.plan(tip);
            if plan.steps.is_empty() {
                let message = "the session has no messages, and no agent resumes one without";
                return Err(PlaneError::new(ErrorKind::Invalid, message));
            }
            drop(outline);
            header.main_chain_id = plan.tip;
            let options = options(std::mem::take(&mut plan.off_branch));
            let nodes = source.hand_over().await?;
            let delivered = way.deliver(header, options, Pairing::planned(plan), nodes).await?;
            delivered.ok_or_else(|| PlaneError::new(ErrorKind::Internal, "a session that was looked through forks"))?
        };
        let Delivered { report, losses, pairing } = delivered;
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

    /// An agent's driver and its writing side.
    pub(in crate::plane) async fn writer_of(
        &self,
        agent: &str,
    ) -> Result<(&Arc<dyn Driver>, &dyn SessionWrite), PlaneError> {
        let registry = self.registry().await;
        if let Some(driver) = registry.driver(agent)
            && let Some(writer) = driver.session_write()
        {
            return Ok((driver, writer));
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
