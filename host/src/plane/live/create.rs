//! A session that was not there before goes live.

use super::map::GoingLive;
use super::owner::failed;
use crate::acp::Capabilities;
use crate::acp::runtimes::Choice;
use crate::loader::About;
use crate::plane::overlay::Pending;
use crate::plane::row::iso;
use crate::plane::writing::checked_title;
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
    /// What a person should know; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub warnings: Vec<String>,
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
        let request = CreateRequest { title: request.title.as_deref().map(checked_title).transpose()?, ..request };
        self.live.has_room()?;
        let choice = Choice { model: request.model.clone(), fallbacks: request.fallbacks.clone() };
        let about = self.about_to_create(request.agent.as_deref()).await?;
        let agent_id = about.manifest.id.clone();
        let launch = self.launch(about, cwd.clone(), &choice).await?;
        let mut started = launch.start().await.map_err(|error| failed(&error))?;
        let (id, warnings) = match started.create(&launch).await {
            Ok(created) => created,
            Err(error) => return Err(failed(&started.failed(error).await)),
        };
        let held = match self.hold(&agent_id, &id) {
            Ok(held) => held,
            Err(error) => {
                started.agent.end().await;
                return Err(error);
            }
        };
        let pending = Pending {
            cwd,
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era are exact")]
            created_at: iso(self.live.clock.now_ms() as f64 / 1_000.0),
            title: request.title.clone(),
            model: request.model,
        };
        let title = request.title.unwrap_or_else(|| NEW.to_owned());
        let going =
            GoingLive { id: id.clone(), agent_id: agent_id.clone(), title, created: true, held, started, launch };
        let session = self.live.enter(going).await?;
        if let Err(e) = self.overlay().set_pending(&agent_id, &id, pending).await {
            // It is listed while it is live, and by its store from its first prompt on.
            tracing::warn!("the new session {id} could not be noted: {e}");
        }
        self.start_sweeping();
        self.note_span(&agent_id, &id).await;
        Ok(Created { id, agent_id, capabilities: session.capabilities.clone(), warnings })
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
        let installed =
            registry.drivers().iter().map(|driver| driver.about()).find(|about| {
                super::AgentRuntime::of(about, &self.environment).is_some_and(|runtime| runtime.installed)
            });
        installed.ok_or_else(|| {
            let message = "no agent's program is installed here; `agents.list` names what each of them needs";
            PlaneError::new(ErrorKind::UnknownAgent, message)
        })
    }
}
