//! Starting an agent for a session: the program, its first questions, and its end when it does
//! not get that far.

use crate::acp::runtimes::Runtime;
use crate::acp::strays::Strays;
use crate::acp::{Agent, AgentError, AgentLimits, Messages};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// How an agent is started for a session.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) runtime: Runtime,
    /// Where the session works.
    pub(super) cwd: String,
    pub(super) limits: AgentLimits,
    pub(super) strays: Arc<SweptStrays>,
    /// The plane ends: nothing is started any more.
    pub(super) closing: watch::Receiver<bool>,
}

/// What earlier processes of ours left behind is ended before the first agent of this one starts.
#[derive(Debug)]
pub(super) struct SweptStrays {
    strays: Strays,
    swept: OnceLock<()>,
}

impl SweptStrays {
    pub(super) fn new(strays: Strays) -> Self {
        Self { strays, swept: OnceLock::new() }
    }

    async fn sweep(self: &Arc<Self>) {
        if self.swept.get().is_some() {
            return;
        }
        let own = Arc::clone(self);
        let swept = tokio::task::spawn_blocking(move || *own.swept.get_or_init(|| own.strays.end_those_left())).await;
        if let Err(e) = swept {
            tracing::warn!("what an earlier sepia left behind could not be looked for: {e}");
        }
    }
}

impl Launch {
    /// Starts the agent with a new session. Its id, and what may have gone wrong besides.
    pub(super) async fn create(&self) -> Result<(Agent, Messages, String), AgentError> {
        self.open(async |agent, messages| {
            let (id, _) = messages.until(agent.new_session(&self.cwd), |said| agent.pass_over(said)).await?;
            self.choose_model(agent, messages, &id).await?;
            Ok(id)
        })
        .await
    }

    /// Starts the agent with a stored session.
    pub(super) async fn load(&self, id: &str) -> Result<(Agent, Messages), AgentError> {
        let opened = self.open(async |agent, messages| {
            if !agent.capabilities().load_session {
                let message = format!("{} does not go on with stored sessions", self.runtime.label);
                return Err(AgentError { beyond: true, ..AgentError::new(message) });
            }
            // What it tells until it answers is what was: the store has it.
            messages.until(agent.load_session(id, &self.cwd), |said| agent.pass_over(said)).await?;
            self.choose_model(agent, messages, id).await
        });
        let (agent, messages, ()) = opened.await?;
        Ok((agent, messages))
    }

    async fn choose_model(&self, agent: &Agent, messages: &mut Messages, id: &str) -> Result<(), AgentError> {
        let Some(model) = &self.runtime.model else { return Ok(()) };
        messages.until(agent.choose_model(id, model), |said| agent.pass_over(said)).await
    }

    /// An agent that got as far as this, or none at all.
    async fn open<T>(
        &self,
        work: impl AsyncFnOnce(&Agent, &mut Messages) -> Result<T, AgentError>,
    ) -> Result<(Agent, Messages, T), AgentError> {
        self.strays.sweep().await;
        let directory = PathBuf::from(&self.cwd);
        let (mut agent, mut messages) = Agent::start(&self.runtime, &directory, &self.limits, &self.strays.strays)?;
        let mut closing = self.closing.clone();
        let opened = tokio::select! {
            opened = async {
                agent.initialize(&mut messages).await?;
                work(&agent, &mut messages).await
            } => opened,
            _ = closing.wait_for(|closing| *closing) => Err(AgentError::new("sepia is shutting down")),
        };
        match opened {
            Ok(got) => Ok((agent, messages, got)),
            Err(error) => {
                drop(messages);
                agent.end().await;
                Err(error)
            }
        }
    }
}
