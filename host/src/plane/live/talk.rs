//! What is said to live sessions.

use super::event::AskedPermission;
use super::owner::Prompt;
use super::session::{PendingTurn, TurnEnd};
use crate::acp::PromptPart;
use crate::plane::{Plane, PlaneError};

/// A prompt for a live session.
#[derive(Debug, Clone, Default)]
pub struct PromptRequest {
    /// The session.
    pub id: String,
    /// Its agent.
    pub agent: Option<String>,
    /// What is said.
    pub parts: Vec<PromptPart>,
    /// While a turn runs: wait for its end instead of being refused.
    pub queue: bool,
    /// Id of the command that this is, kept with the facts that it causes.
    pub command: Option<String>,
}

impl Plane {
    /// Hands a prompt to a live session, which works on it whether its end is waited for or not.
    /// What is asked of the session after this comes after it.
    pub async fn begin_prompt(&self, request: PromptRequest) -> Result<PendingTurn, PlaneError> {
        let session = self.live.attached_soon(&request.id, request.agent.as_deref()).await?;
        session.prompt(Prompt { parts: request.parts, queue: request.queue, command: request.command }).await
    }

    /// Lets a live session work on a prompt; ready when its turn ends.
    pub async fn prompt(&self, request: PromptRequest) -> Result<TurnEnd, PlaneError> {
        self.begin_prompt(request).await?.end().await
    }

    /// Asks for the end of the turn that runs in a live session. Nothing when none does.
    pub async fn cancel(&self, id: &str, agent: Option<&str>) -> Result<(), PlaneError> {
        self.live.attached(id, agent)?.cancel().await
    }

    /// Permissions that a live session's agent waits for.
    pub fn asked_permissions(&self, id: &str, agent: Option<&str>) -> Vec<AskedPermission> {
        self.live.get(id, agent).map(|session| session.asked()).unwrap_or_default()
    }

    /// Answers a permission request with one of its options, or with none.
    pub async fn answer_permission(
        &self,
        id: &str,
        agent: Option<&str>,
        request: &str,
        option: Option<&str>,
    ) -> Result<(), PlaneError> {
        self.live.attached(id, agent)?.answer(request, option).await
    }
}
