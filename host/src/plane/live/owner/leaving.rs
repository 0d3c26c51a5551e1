//! The end of a live session.

use super::{Command, Run};
use crate::plane::live::announcer::News;
use crate::plane::live::event::{DetachReason, NodeEvent};
use crate::plane::live::session::not_attached;
use crate::plane::{ErrorKind, PlaneError};
use std::time::Duration;
use tokio::sync::oneshot;

impl Run {
    /// Whether nobody has used the session for so long, nor is about to.
    pub(super) fn is_unused(&self, ttl: Duration) -> bool {
        self.turn.is_none()
            && self.owner.commands.is_empty()
            && self.owner.session.idle_for().is_some_and(|idle| idle >= ttl)
    }

    pub(super) async fn leave(&mut self, reason: DetachReason) {
        self.owner.commands.close();
        if self.turn.is_some() {
            self.queue.clear();
            if let (Some((agent, _)), Some(turn)) = (&self.owner.agent, &self.turn)
                && !turn.cancelled
            {
                // Told, so that it can write down that it was interrupted.
                if agent.cancel(&self.owner.session.id).is_ok() {
                    agent.told().await;
                }
            }
            let message = "the session was let go before the turn ended";
            self.finish(Err(PlaneError::new(ErrorKind::Internal, message))).await;
        }
        if let Some((agent, messages)) = self.owner.agent.take() {
            drop(messages);
            agent.end().await;
        }
        if let Some(agent) = self.ending.take() {
            agent.gone().await;
        }
        while let Ok(command) = self.owner.commands.try_recv() {
            refuse(command, &self.owner.session.id);
        }
        let event = NodeEvent::Detached {
            session_id: self.owner.session.id.clone(),
            agent_id: self.owner.session.agent_id.clone(),
            reason,
        };
        let (told, all_told) = oneshot::channel();
        if self.owner.news.send(News::Node(event)).await.is_ok()
            && self.owner.news.send(News::Flush(told)).await.is_ok()
        {
            let _closed = all_told.await;
        }
    }
}

fn refuse(command: Command, id: &str) {
    match command {
        Command::Prompt { reply, .. } => drop(reply.send(Err(not_attached(id)))),
        Command::Answer { reply, .. } => drop(reply.send(Err(not_attached(id)))),
        Command::Cancel { reply } => drop(reply.send(())),
        Command::LeaveWhenIdle { .. } => {}
    }
}
