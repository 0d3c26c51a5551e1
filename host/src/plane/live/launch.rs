//! Starting an agent for a session: the program, its first questions, and its end when it does
//! not get that far.

use crate::acp::runtimes::Runtime;
use crate::acp::strays::Strays;
use crate::acp::{Agent, AgentError, AgentLimits, Messages, Running};
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
    pub(super) running: Running,
    /// The plane ends: nothing is started any more.
    pub(super) closing: watch::Receiver<bool>,
}

/// An agent that was started and has said what it can do.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) agent: Agent,
    pub(super) messages: Messages,
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
    /// Starts the agent, which says what it can do.
    pub(super) async fn start(&self) -> Result<Started, AgentError> {
        self.while_open(self.strays.sweep()).await?;
        let directory = PathBuf::from(&self.cwd);
        let (agent, messages) =
            Agent::start(&self.runtime, &directory, &self.limits, &self.strays.strays, &self.running)?;
        let mut started = Started { agent, messages };
        let Started { agent, messages } = &mut started;
        match self.while_open(agent.initialize(messages)).await.flatten() {
            Ok(()) => Ok(started),
            Err(error) => Err(started.failed(error).await),
        }
    }

    /// Starts the agent with a stored session. `before` is gone first: two agents must not have
    /// one session.
    pub(super) async fn revive(&self, id: &str, before: Option<Agent>) -> Result<Started, AgentError> {
        if let Some(before) = before {
            before.gone().await;
        }
        let mut started = self.start().await?;
        match started.load(self, id).await {
            Ok(warnings) => {
                for warning in warnings {
                    tracing::warn!("{warning}");
                }
                Ok(started)
            }
            Err(error) => Err(started.failed(error).await),
        }
    }

    async fn while_open<T>(&self, work: impl Future<Output = T>) -> Result<T, AgentError> {
        let mut closing = self.closing.clone();
        tokio::select! {
            done = work => Ok(done),
            _ = closing.wait_for(|closing| *closing) => Err(AgentError::new("sepia is shutting down")),
        }
    }
}

impl Started {
    /// Begins a session: its id, and what a person should know.
    pub(super) async fn create(&mut self, launch: &Launch) -> Result<(String, Vec<String>), AgentError> {
        let Self { agent, messages } = self;
        let created = messages.until(agent.new_session(&launch.cwd), |said| agent.pass_over(said));
        let (id, _) = launch.while_open(created).await.flatten()?;
        let warnings = self.choose_model(launch, &id).await?;
        Ok((id, warnings))
    }

    /// Goes on with a stored session; what a person should know.
    pub(super) async fn load(&mut self, launch: &Launch, id: &str) -> Result<Vec<String>, AgentError> {
        let Self { agent, messages } = self;
        if !agent.capabilities().load_session {
            let message = format!("{} does not go on with stored sessions", launch.runtime.label);
            return Err(AgentError { beyond: true, ..AgentError::new(message) });
        }
        // What it tells until it answers is what was: the store has it.
        let loaded = messages.until(agent.load_session(id, &launch.cwd), |said| agent.pass_over(said));
        launch.while_open(loaded).await.flatten()?;
        self.choose_model(launch, id).await
    }

    /// A model that the session does not have is no reason not to go on with it.
    async fn choose_model(&mut self, launch: &Launch, id: &str) -> Result<Vec<String>, AgentError> {
        let Some(model) = &launch.runtime.model else { return Ok(Vec::new()) };
        let Self { agent, messages } = self;
        let chosen = messages.until(agent.choose_model(id, model), |said| agent.pass_over(said));
        match launch.while_open(chosen).await? {
            Ok(()) => Ok(Vec::new()),
            Err(error) if error.code.is_some() => {
                let model = crate::text::clean_line(model, 100);
                Ok(vec![format!("the model `{model}` was not taken, the session goes on with its own: {error}")])
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the agent; the error that is why.
    pub(super) async fn failed(self, error: AgentError) -> AgentError {
        drop(self.messages);
        self.agent.end().await;
        error
    }
}
