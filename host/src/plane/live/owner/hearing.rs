//! What the agent says, and that it is gone.

use super::Run;
use super::turns::failed;
use crate::acp::{Outcome, PermissionRequest, Said, Update};
use crate::jsonrpc::{Fragment, Id, Notification, Request};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

impl Run {
    pub(super) async fn said(&mut self, said: Said) {
        match said {
            Said::Answered => {}
            Said::Notification(note, share) if note.method == "session/update" => self.update(&note, share).await,
            Said::Notification(note, _) => {
                tracing::debug!("the notification {} was passed over", crate::text::clean_line(&note.method, 80));
            }
            Said::Request(request) if request.method == "session/request_permission" => self.asked(request).await,
            said @ (Said::Request(_) | Said::Malformed(..)) => {
                if let Some((agent, _)) = &self.owner.agent {
                    agent.pass_over(said);
                }
            }
        }
    }

    pub(super) async fn update(&mut self, note: &Notification, share: OwnedSemaphorePermit) {
        let Some(params) = self.own_params(note.params.as_ref()) else { return };
        let update = Update::of(params.get("update").cloned().unwrap_or_default());
        if self.turn.is_none() && self.owner.retelling && update.is_content() {
            tracing::debug!("a piece of the history came late and was passed over");
            return;
        }
        let mut step = self.owner.translation.update(update);
        step.weight = note.params.as_ref().map_or(0, |params| params.get().len());
        step.share = Some(share);
        self.tell(step).await;
    }

    /// The parameters of something that is said of this session.
    pub(super) fn own_params(&self, params: Option<&Fragment>) -> Option<Value> {
        let params: Value = params?.parse().ok()?;
        let of = params["sessionId"].as_str();
        if of.is_some_and(|of| of != self.owner.session.id) {
            tracing::debug!("what an agent said of another session was passed over");
            return None;
        }
        Some(params)
    }

    pub(super) async fn asked(&mut self, request: Request) {
        let params = self.own_params(request.params.as_ref()).unwrap_or_default();
        let asked = PermissionRequest::of(&params);
        let runs = self.turn.as_ref().is_some_and(|turn| !turn.cancelled);
        if !runs || asked.options.is_empty() || self.permissions.is_full() {
            // Nobody may allow what nobody asked for, and nobody can choose of nothing, or of so much.
            self.reply(&request.id, &Outcome::Cancelled);
            return;
        }
        let (shown, step) = self.owner.translation.ask(&asked);
        self.owner.session.permissions.add(shown.clone());
        self.permissions.open(shown.request_id, request.id, asked, self.owner.patience.permission, self.attended());
        self.tell(step).await;
    }

    /// Whether somebody is there who could answer.
    pub(super) fn attended(&self) -> bool {
        self.owner.session.feed.followers() + (self.owner.node_followers)() > 0
    }

    pub(super) fn reply(&self, request: &Id, outcome: &Outcome) {
        if let Some((agent, _)) = &self.owner.agent
            && let Err(e) = agent.answer_permission(request, outcome)
        {
            tracing::warn!("{e}");
        }
    }

    /// Its agent is gone: the turn ends with why, and the next prompt starts another.
    pub(super) async fn agent_gone(&mut self) {
        let Some((agent, messages)) = self.owner.agent.take() else { return };
        drop(messages);
        if self.turn.is_some() {
            // An answer may have been its last word.
            let last = match &mut self.turn {
                Some(turn) => turn.last_word().await,
                None => None,
            };
            match last {
                Some(progress) => self.progress(progress).await,
                None => self.finish(Err(failed(&agent.ended("the prompt")))).await,
            }
        } else {
            tracing::info!("{}", agent.ended("its session"));
        }
        self.ending = Some(agent);
    }
}
