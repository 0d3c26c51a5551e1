//! A stored session goes live.

use super::event::AskedPermission;
use super::map::{GoingLive, Slot, Starting};
use super::owner::failed;
use super::session::LiveSession;
use super::takeover::locked;
use crate::acp::Capabilities;
use crate::acp::runtimes::Choice;
use crate::home::machine_name;
use crate::plane::row::Span;
use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How long a session that was taken over is waited for before it is loaded once more.
const ONCE_MORE: Duration = Duration::from_millis(300);

/// Which session is to go live, and how.
#[derive(Debug, Clone, Default)]
pub struct AttachRequest {
    /// The session.
    pub id: String,
    /// Its agent, where two have the id.
    pub agent: Option<String>,
    /// Ask whoever holds it to let go.
    pub takeover: bool,
    /// Model that its agent is to use; absent: the one that is preferred for the session, if
    /// any.
    pub model: Option<String>,
    /// Models to use when that one refuses, for agents that know such a thing.
    pub fallbacks: Vec<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Attached {
    /// It is live here.
    pub attached: bool,
    /// Another process holds it: it can be read.
    pub read_only: bool,
    /// Its agent.
    pub agent_id: String,
    /// What the agent's program can do; `null` where none was started.
    pub capabilities: Option<Capabilities>,
    /// The process that holds it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_holder_pid: Option<u32>,
    /// Permissions that its agent waits for; absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<AskedPermission>,
}

impl Attached {
    fn live(session: &LiveSession) -> Self {
        Self {
            attached: true,
            read_only: false,
            agent_id: session.agent_id.clone(),
            capabilities: Some(session.capabilities.clone()),
            lock_holder_pid: None,
            permissions: session.asked(),
        }
    }

    fn read_only(agent_id: &str, lock_holder_pid: Option<u32>) -> Self {
        Self {
            attached: false,
            read_only: true,
            agent_id: agent_id.to_owned(),
            capabilities: None,
            lock_holder_pid,
            permissions: Vec::new(),
        }
    }
}

/// What there is to wait for.
enum Begun {
    Already(Result<Attached, PlaneError>),
    Started(Starting),
    Leaving(Arc<LiveSession>),
}

impl Plane {
    /// Brings a stored session live. One that is live already stays as it is; those who ask at
    /// once share what the first one started.
    pub async fn attach(self: &Arc<Self>, request: AttachRequest) -> Result<Attached, PlaneError> {
        loop {
            self.live.is_open()?;
            match self.begin_attaching(&request) {
                Begun::Already(attached) => return attached,
                Begun::Started(started) => return started.await,
                Begun::Leaving(session) => session.gone().await,
            }
        }
    }

    fn begin_attaching(self: &Arc<Self>, request: &AttachRequest) -> Begun {
        let mut slots = self.live.slots();
        match slots.get(&request.id) {
            Some(Slot::Live(session)) if session.state().leaving => Begun::Leaving(Arc::clone(session)),
            Some(Slot::Live(session)) => Begun::Already(already(session, request)),
            Some(Slot::Starting(started)) => Begun::Started(started.clone()),
            None => {
                let (plane, own) = (Arc::clone(self), request.clone());
                // Goes on when its caller gives up: others may wait for it by then.
                let task = tokio::spawn(async move { plane.bring_live(own).await });
                let started = async move {
                    task.await.unwrap_or_else(|e| {
                        let message = "the session could not be attached; sepia itself failed at it";
                        Err(PlaneError::new(ErrorKind::Internal, message).because(e.to_string()))
                    })
                };
                let started = started.boxed().shared();
                slots.insert(request.id.clone(), Slot::Starting(started.clone()));
                Begun::Started(started)
            }
        }
    }

    async fn bring_live(self: Arc<Self>, request: AttachRequest) -> Result<Attached, PlaneError> {
        let outcome = self.load_live(&request).await;
        if !matches!(&outcome, Ok(attached) if attached.attached) {
            let mut slots = self.live.slots();
            if matches!(slots.get(&request.id), Some(Slot::Starting(_))) {
                slots.remove(&request.id);
            }
        }
        outcome
    }

    async fn load_live(self: &Arc<Self>, request: &AttachRequest) -> Result<Attached, PlaneError> {
        let id = request.id.as_str();
        let (about, session) = self.summary_and_reader(id, request.agent.as_deref()).await?;
        let agent = about.manifest.id.clone();
        let cwd = session.working_directory.clone();
        if !Path::new(&cwd).is_dir() {
            let shown = clean_line(&cwd, 200);
            let message = format!("the session works in `{shown}`, which is not there; make that directory first");
            return Err(PlaneError::new(ErrorKind::Invalid, message));
        }
        let (view, _) = self.overlay().view().await;
        let preferred = view.session(&agent, id).and_then(|meta| meta.model.clone());
        let choice = Choice { model: request.model.clone().or(preferred), fallbacks: request.fallbacks.clone() };
        let launch = self.launch(about, cwd, &choice).await?;
        let Some(held) = self.free_for_us(&agent, request).await? else {
            let holder = self.holder(&agent, id).await?;
            return Ok(Attached::read_only(&agent, holder.and_then(|holder| holder.holder_pid)));
        };
        let loaded = match launch.load(id).await {
            Err(_) if request.takeover => {
                sleep(ONCE_MORE).await;
                launch.load(id).await
            }
            loaded => loaded,
        };
        let (running, messages) = match loaded {
            Ok(running) => running,
            Err(error) => {
                return match self.holder(&agent, id).await? {
                    Some(holder) if request.takeover => Err(locked(id, &holder).because(error.message)),
                    Some(holder) => Ok(Attached::read_only(&agent, holder.holder_pid)),
                    None => Err(failed(&error)),
                };
            }
        };
        self.live.is_open()?;
        self.close_broken_turns().await;
        let session = self
            .live
            .enter(GoingLive {
                id: id.to_owned(),
                agent_id: agent.clone(),
                title: session.title,
                created: false,
                held,
                agent: running,
                messages,
                launch,
            })
            .await?;
        self.start_sweeping();
        self.note_span(&agent, id).await;
        Ok(Attached::live(&session))
    }

    /// The session, when no other process has it, or has let go of it; none when it may only be
    /// read.
    async fn free_for_us(
        &self,
        agent: &str,
        request: &AttachRequest,
    ) -> Result<Option<crate::home::LockFile>, PlaneError> {
        let held = match self.hold(agent, &request.id) {
            Ok(held) => held,
            Err(error) if error.kind == ErrorKind::Busy && !request.takeover => return Ok(None),
            Err(error) if error.kind == ErrorKind::Busy => {
                let shown = clean_line(&request.id, 80);
                let message = format!("session `{shown}` is live in another sepia; detach it there first");
                return Err(PlaneError::new(ErrorKind::Locked, message));
            }
            Err(error) => return Err(error),
        };
        match self.holder(agent, &request.id).await? {
            None => Ok(Some(held)),
            Some(_) if !request.takeover => Ok(None),
            Some(holder) => {
                self.take_over(agent, &request.id, holder).await?;
                Ok(Some(held))
            }
        }
    }

    /// Notes in the overlay that the session was live here. That it was does not depend on it.
    pub(super) async fn note_span(&self, agent: &str, id: &str) {
        let name = machine_name(&|name| std::env::var(name).ok());
        let span = Span { at: self.live.clock.now_ms(), agent: agent.to_owned(), node: self.node(&name).id };
        if let Err(e) = self.overlay().add_span(agent, id, span).await {
            tracing::warn!("that session {id} was live here could not be noted: {e}");
        }
    }
}

fn already(session: &LiveSession, request: &AttachRequest) -> Result<Attached, PlaneError> {
    if request.agent.as_ref().is_some_and(|agent| *agent != session.agent_id) {
        let shown = clean_line(&session.id, 80);
        let message = format!("session `{shown}` is live under agent `{}`; detach it first", session.agent_id);
        return Err(PlaneError::new(ErrorKind::Conflict, message));
    }
    Ok(Attached::live(session))
}
