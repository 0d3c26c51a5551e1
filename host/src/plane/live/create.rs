//! A session that was not there before goes live.

use super::map::GoingLive;
use super::owner::failed;
use crate::acp::Capabilities;
use crate::acp::runtimes::Choice;
use crate::loader::About;
use crate::plane::overlay::Pending;
use crate::plane::row::iso;
use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Title of a session that has none yet.
const NEW: &str = "New session";

/// What to create.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// Where it works, absolute.
    pub cwd: String,
    /// The agent; absent: the first whose program is installed.
    pub agent: Option<String>,
    /// Title until it has one of its own.
    pub title: Option<String>,
    /// Model that its agent is to use.
    pub model: Option<String>,
    /// Models to use when that one refuses, for agents that know such a thing.
    pub fallbacks: Vec<String>,
}

/// A session that was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// The session; its store may know it only after the first prompt.
    pub id: String,
    /// Its agent.
    pub agent_id: String,
    /// What the agent's program can do.
    pub capabilities: Capabilities,
}

impl Plane {
    /// Creates a session, live at once.
    pub async fn create(self: &Arc<Self>, request: CreateRequest) -> Result<Created, PlaneError> {
        self.live.is_open()?;
        let plane = Arc::clone(self);
        // Goes on when its caller gives up: an agent that was started is then live, not lost.
        let task = tokio::spawn(async move { plane.create_live(request).await });
        task.await.unwrap_or_else(|e| {
            let message = "the session could not be created; sepia itself failed at it";
            Err(PlaneError::new(ErrorKind::Internal, message).because(e.to_string()))
        })
    }

    async fn create_live(self: &Arc<Self>, request: CreateRequest) -> Result<Created, PlaneError> {
        let cwd = request.cwd.trim().to_owned();
        if !Path::new(&cwd).is_absolute() {
            let shown = clean_line(&cwd, 200);
            let message = format!("the working directory `{shown}` is not absolute; name it from `/` on");
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        if !Path::new(&cwd).is_dir() {
            let shown = clean_line(&cwd, 200);
            let message = format!("the working directory `{shown}` is not there; make it first");
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        let choice = Choice { model: request.model.clone(), fallbacks: request.fallbacks.clone() };
        let about = self.about_to_create(request.agent.as_deref()).await?;
        let agent_id = about.manifest.id.clone();
        let launch = self.launch(about, cwd.clone(), &choice).await?;
        let (agent, messages, id) = launch.create().await.map_err(|error| failed(&error))?;
        self.live.is_open()?;
        if self.live.slots().contains_key(&id) {
            let shown = clean_line(&id, 80);
            let message = format!("the agent gave its new session the id `{shown}`, which is live already");
            return Err(PlaneError::new(ErrorKind::Conflict, message));
        }
        let held = self.hold(&agent_id, &id)?;
        let pending = Pending {
            cwd,
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era are exact")]
            created_at: iso(self.live.clock.now_ms() as f64 / 1_000.0),
            title: request.title.clone(),
            model: request.model,
        };
        if let Err(e) = self.overlay().set_pending(&agent_id, &id, pending).await {
            // It is listed while it is live, and by its store from its first prompt on.
            tracing::warn!("the new session {id} could not be noted: {e}");
        }
        let session = self
            .live
            .enter(GoingLive {
                id: id.clone(),
                agent_id: agent_id.clone(),
                title: request.title.unwrap_or_else(|| NEW.to_owned()),
                created: true,
                held,
                agent,
                messages,
                launch,
            })
            .await?;
        self.start_sweeping();
        self.note_span(&agent_id, &id).await;
        Ok(Created { id, agent_id, capabilities: session.capabilities.clone() })
    }

    /// The driver whose agent is to make the session.
    async fn about_to_create(&self, agent: Option<&str>) -> Result<&About, PlaneError> {
        let registry = self.registry().await;
        if let Some(agent) = agent {
            let known: Vec<&str> =
                registry.drivers().iter().map(|driver| driver.about().manifest.id.as_str()).collect();
            return registry
                .driver(agent)
                .map(|driver| driver.about())
                .ok_or_else(|| PlaneError::unknown_agent(agent, &known));
        }
        let installed = registry
            .drivers()
            .iter()
            .map(|driver| driver.about())
            .find(|about| super::AgentRuntime::of(about).is_some_and(|runtime| runtime.installed));
        installed.ok_or_else(|| {
            let message = "no agent's program is installed here; `agents.list` names what each of them needs";
            PlaneError::new(ErrorKind::UnknownAgent, message)
        })
    }
}
