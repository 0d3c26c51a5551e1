//! The turn that runs: what it waits for.

use super::TurnName;
use crate::acp::{Agent, AgentError, PromptPart};
use crate::plane::PlaneError;
use crate::plane::live::launch::{Launch, Started};
use crate::plane::live::session::TurnEnd;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The turn that runs.
pub(super) struct Turn {
    pub(super) name: Arc<TurnName>,
    pub(super) work: Work,
    pub(super) reply: oneshot::Sender<Result<TurnEnd, PlaneError>>,
    pub(super) cancelled: bool,
    /// When it ends, whatever its agent does.
    pub(super) deadline: Option<Instant>,
}

/// What a turn waits for.
pub(super) enum Work {
    /// The agent is started again and loads the session.
    Reviving { start: BoxFuture<'static, Result<Started, AgentError>>, parts: Vec<PromptPart> },
    /// It works on the prompt.
    Prompting(BoxFuture<'static, Result<Value, AgentError>>),
}

/// What became of it.
pub(super) enum Progress {
    Revived(Result<Started, AgentError>, Vec<PromptPart>),
    Ended(Result<Value, AgentError>),
}

impl Work {
    /// The agent has the prompt when this returns.
    pub(super) fn prompting(agent: &Agent, id: &str, parts: &[PromptPart]) -> Self {
        Self::Prompting(agent.prompt(id, parts).boxed())
    }

    /// Another agent is started, once the one before is gone.
    pub(super) fn reviving(launch: Launch, id: String, parts: Vec<PromptPart>, before: Option<Agent>) -> Self {
        let start = async move { launch.revive(&id, before).await };
        Self::Reviving { start: start.boxed(), parts }
    }
}

impl Turn {
    /// What it waits for, once it is there. Nothing is lost when the future is dropped.
    pub(super) async fn progress(&mut self) -> Progress {
        match &mut self.work {
            Work::Reviving { start, parts } => {
                let started = start.await;
                Progress::Revived(started, std::mem::take(parts))
            }
            Work::Prompting(answer) => Progress::Ended(answer.await),
        }
    }

    /// Its agent is gone: the answer, when it came before.
    pub(super) async fn last_word(&mut self) -> Option<Progress> {
        match &mut self.work {
            Work::Prompting(answer) => Some(Progress::Ended(answer.await)),
            Work::Reviving { .. } => None,
        }
    }
}
