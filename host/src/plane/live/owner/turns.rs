//! Turns: from a prompt to its one end.

use super::turn::{Progress, Turn, Work};
use super::{Prompt, QUEUE, Run};
use crate::acp::AgentError;
use crate::plane::live::announcer::{News, TurnName};
use crate::plane::live::event::TurnError;
use crate::plane::live::launch::Started;
use crate::plane::live::session::TurnEnd;
use crate::plane::{ErrorKind, PlaneError};
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::Instant;

impl Run {
    pub(super) async fn prompt(&mut self, prompt: Prompt, reply: oneshot::Sender<Result<TurnEnd, PlaneError>>) {
        if let Err(error) = self.takes(&prompt) {
            let _gone = reply.send(Err(error));
            return;
        }
        let busy = {
            let mut state = self.owner.session.state();
            std::mem::replace(&mut state.busy, true)
        };
        if !busy {
            self.begin(prompt, reply).await;
        } else if prompt.queue && self.turn.is_some() && self.queue.len() < QUEUE {
            self.queue.push_back((prompt, reply));
        } else {
            let _gone = reply.send(Err(self.owner.session.busy()));
        }
    }

    pub(super) fn takes(&self, prompt: &Prompt) -> Result<(), PlaneError> {
        let invalid = |message: String| Err(PlaneError::new(ErrorKind::Invalid, message));
        if prompt.parts.is_empty() {
            return invalid("a prompt has at least one part; give it some text".to_owned());
        }
        let can = self.owner.session.capabilities.prompt_capabilities;
        match prompt.parts.iter().find_map(|part| part.beyond(can)) {
            Some(what) => {
                let agent = &self.owner.session.agent_id;
                invalid(format!("agent `{agent}` takes no {what} in a prompt; leave them out, or send a link"))
            }
            None => Ok(()),
        }
    }

    pub(super) async fn begin(&mut self, prompt: Prompt, reply: oneshot::Sender<Result<TurnEnd, PlaneError>>) {
        let id = self.owner.ids.next("turn", self.owner.clock.now_ms());
        let name = Arc::new(TurnName { id, command: prompt.command });
        let step = self.owner.translation.begin(&prompt.parts);
        let id = &self.owner.session.id;
        let work = match &self.owner.agent {
            Some((agent, _)) => {
                self.owner.retelling = false;
                Work::prompting(agent, id, &prompt.parts)
            }
            None => Work::reviving(self.owner.launch.clone(), id.clone(), prompt.parts, self.ending.take()),
        };
        self.turn = Some(Turn { name, work, reply, cancelled: false, deadline: None });
        self.tell(step).await;
    }

    pub(super) async fn progress(&mut self, progress: Progress) {
        match progress {
            Progress::Revived(Ok(Started { agent, messages }), parts) => {
                if let Some(turn) = &mut self.turn {
                    turn.work = Work::prompting(&agent, &self.owner.session.id, &parts);
                }
                self.owner.agent = Some((agent, messages));
                self.owner.retelling = false;
            }
            Progress::Revived(Err(error), _) => self.finish(Err(failed(&error))).await,
            Progress::Ended(Ok(answer)) => {
                let stop_reason = answer["stopReason"].as_str().unwrap_or("end_turn").to_owned();
                let usage = answer.get("usage").filter(|usage| usage.is_object()).cloned();
                self.finish(Ok(TurnEnd { stop_reason, usage })).await;
            }
            Progress::Ended(Err(error)) => {
                let cancelled = self.turn.as_ref().is_some_and(|turn| turn.cancelled);
                let end = if cancelled && error.code.is_some() {
                    // Some agents answer a cancelled prompt with an error.
                    Ok(cancelled_end())
                } else {
                    Err(failed(&error))
                };
                self.finish(end).await;
            }
        }
    }

    /// The one end of a turn.
    pub(super) async fn finish(&mut self, end: Result<TurnEnd, PlaneError>) {
        let Some(turn) = self.turn.take() else { return };
        self.withdraw_permissions(&turn.name).await;
        let told = match &end {
            Ok(end) => Ok(end.stop_reason.clone()),
            Err(e) => Err(TurnError { code: e.kind.code(), message: e.message.clone(), cause: e.cause.clone() }),
        };
        let usage = end.as_ref().ok().and_then(|end| end.usage.clone());
        let step = self.owner.translation.end(told, usage.as_ref());
        let next = self.queue.pop_front();
        {
            let mut state = self.owner.session.state();
            // Before it is told: who hears of the end may prompt at once.
            state.busy = next.is_some();
            state.idle_since = Instant::now();
        }
        self.tell_of(step, Some(Arc::clone(&turn.name))).await;
        // Its answer comes after everything that happened in it.
        let (told, all_told) = oneshot::channel();
        let flushed = self.owner.news.send(News::Flush(told)).await;
        tokio::spawn(async move {
            if flushed.is_ok() {
                let _closed = all_told.await;
            }
            let _gone = turn.reply.send(end);
        });
        if let Some((prompt, reply)) = next {
            self.begin(prompt, reply).await;
        }
    }

    pub(super) async fn cancel(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if std::mem::replace(&mut turn.cancelled, true) {
            return;
        }
        turn.deadline = Some(Instant::now() + self.owner.patience.cancel);
        if matches!(turn.work, Work::Reviving { .. }) {
            // It has not been told yet.
            self.finish(Ok(cancelled_end())).await;
            return;
        }
        let name = Arc::clone(&turn.name);
        // Before the answers to what it asked: an agent that hears those first goes on with its turn, and may even
        // end it as if nobody had cancelled.
        if let Some((agent, _)) = &self.owner.agent
            && let Err(e) = agent.cancel(&self.owner.session.id)
        {
            tracing::warn!("{e}");
        }
        self.withdraw_permissions(&name).await;
    }

    /// Something took longer than it may.
    pub(super) async fn late(&mut self) {
        let now = Instant::now();
        let attended = self.attended();
        for (id, request, outcome, by) in self.permissions.overdue(now, self.owner.patience.permission, attended) {
            self.reply(&request, &outcome);
            let turn = self.turn_name();
            self.answered(&id, &outcome, by, turn).await;
        }
        if self.turn.as_ref().and_then(|turn| turn.deadline).is_some_and(|deadline| deadline <= now) {
            tracing::warn!(
                "session {} did not end its turn when it was cancelled; its agent is stopped",
                self.owner.session.id
            );
            if let Some((agent, _)) = self.owner.agent.take() {
                agent.kill();
                self.ending = Some(agent);
            }
            self.finish(Ok(cancelled_end())).await;
        }
    }
}

fn cancelled_end() -> TurnEnd {
    TurnEnd { stop_reason: "cancelled".to_owned(), usage: None }
}

/// An agent's failure as the plane's.
pub(in crate::plane::live) fn failed(error: &AgentError) -> PlaneError {
    let kind = if error.beyond { ErrorKind::Invalid } else { ErrorKind::Internal };
    PlaneError { kind, message: error.message.clone(), cause: error.cause.clone() }
}
