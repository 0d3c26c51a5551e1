//! A stored session goes live.

use super::event::AskedPermission;
use super::launch::{Launch, Started};
use super::map::{GoingLive, Live, Slot, Starting};
use super::owner::failed;
use super::session::LiveSession;
use super::takeover::locked;
use crate::acp::runtimes::Choice;
use crate::acp::{AgentError, Capabilities};
use crate::home::{LockFile, machine_name};
use crate::plane::row::Span;
use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a session that was taken over is waited for before it is loaded once more.
const ONCE_MORE: Duration = Duration::from_millis(300);

/// How long a lock that is held is looked at again: a write takes less, a live session has it longer.
const SHORT_WRITE: Duration = Duration::from_millis(400);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

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
    /// What a person should know; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub warnings: Vec<String>,
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
            warnings: Vec::new(),
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
            warnings: Vec::new(),
        }
    }
}

/// A session that is being attached: its place in the map is given back unless it went live.
struct BeingAttached {
    live: Arc<Live>,
    id: String,
}

impl Drop for BeingAttached {
    fn drop(&mut self) {
        let mut slots = self.live.slots();
        if matches!(slots.get(&self.id), Some(Slot::Starting(_))) {
            slots.remove(&self.id);
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
        self.begin_attach(request).await
    }

    /// The same, begun when this returns: who asks for the session after that finds it on its way.
    pub fn begin_attach(
        self: &Arc<Self>,
        request: AttachRequest,
    ) -> impl Future<Output = Result<Attached, PlaneError>> + Send + use<> {
        let mut begun = self.begin_attaching(&request);
        let plane = Arc::clone(self);
        async move {
            loop {
                match begun {
                    Begun::Already(attached) => return attached,
                    Begun::Started(started) => {
                        let attached = started.await?;
                        return match &request.agent {
                            // Whoever was first meant the session of another agent.
                            Some(agent) if *agent != attached.agent_id => {
                                Err(other_agent(&request.id, &attached.agent_id))
                            }
                            _ => Ok(attached),
                        };
                    }
                    Begun::Leaving(session) => session.gone().await,
                }
                begun = plane.begin_attaching(&request);
            }
        }
    }

    fn begin_attaching(self: &Arc<Self>, request: &AttachRequest) -> Begun {
        if let Err(error) = self.live.is_open() {
            return Begun::Already(Err(error));
        }
        let mut slots = self.live.slots();
        let has_room = slots.contains_key(&request.id) || slots.len() < self.live.most;
        match slots.get(&request.id) {
            None if !has_room => Begun::Already(Err(self.live.full())),
            Some(Slot::Live(session)) if session.is_leaving() => Begun::Leaving(Arc::clone(session)),
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
        let _begun = BeingAttached { live: Arc::clone(&self.live), id: request.id.clone() };
        self.load_live(&request).await
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
        let mut started = launch.start().await.map_err(|error| failed(&error))?;
        let warnings = match self.loaded(&mut started, &launch, &agent, request).await {
            Ok(Ok(warnings)) => warnings,
            Ok(Err(error)) => {
                let error = started.failed(error).await;
                return match self.holder(&agent, id).await? {
                    Some(holder) if request.takeover => Err(locked(id, &holder).because(error.message)),
                    Some(holder) => Ok(Attached::read_only(&agent, holder.holder_pid)),
                    None => Err(failed(&error)),
                };
            }
            Err(error) => {
                started.agent.end().await;
                return Err(error);
            }
        };
        self.close_broken_turns().await;
        let (id, title) = (id.to_owned(), session.title);
        let going = GoingLive { id: id.clone(), agent_id: agent.clone(), title, created: false, held, started, launch };
        let session = self.live.enter(going).await?;
        self.start_sweeping();
        self.note_span(&agent, &id).await;
        Ok(Attached { warnings, ..Attached::live(&session) })
    }

    /// Takes the session from whoever holds it, when that is asked for and the agent that is to go
    /// on with it is there; then has it loaded. The agent's own failure is inside.
    async fn loaded(
        &self,
        started: &mut Started,
        launch: &Launch,
        agent: &str,
        request: &AttachRequest,
    ) -> Result<Result<Vec<String>, AgentError>, PlaneError> {
        let id = request.id.as_str();
        if request.takeover
            && let Some(holder) = self.holder(agent, id).await?
        {
            self.take_over(agent, id, holder).await?;
        }
        let loaded = started.load(launch, id).await;
        if loaded.as_ref().is_err_and(|error| request.takeover && !error.beyond) {
            sleep(ONCE_MORE).await;
            return Ok(started.load(launch, id).await);
        }
        Ok(loaded)
    }

    /// The session's lock, when no other process of ours has it, and no agent does that is not to
    /// be asked to let go; none when it may only be read.
    async fn free_for_us(&self, agent: &str, request: &AttachRequest) -> Result<Option<LockFile>, PlaneError> {
        let held = match self.hold_soon(agent, &request.id).await {
            Ok(held) => held,
            Err(error) if error.kind == ErrorKind::Busy && !request.takeover => return Ok(None),
            Err(error) if error.kind == ErrorKind::Busy => {
                let shown = clean_line(&request.id, 80);
                let message = format!("session `{shown}` is live in another sepia; detach it there first");
                return Err(PlaneError::new(ErrorKind::Locked, message));
            }
            Err(error) => return Err(error),
        };
        let is_held = self.holder(agent, &request.id).await?.is_some();
        Ok((request.takeover || !is_held).then_some(held))
    }

    /// The same lock; a short write of another process, or of ours, is waited for.
    async fn hold_soon(&self, agent: &str, id: &str) -> Result<LockFile, PlaneError> {
        let deadline = Instant::now() + SHORT_WRITE;
        loop {
            match self.hold(agent, id) {
                Err(error) if error.kind == ErrorKind::Busy && Instant::now() < deadline => sleep(LOOK_AGAIN).await,
                held => return held,
            }
        }
    }

    /// Notes in the overlay that the session went live here. That it did does not depend on it.
    pub(in crate::plane) async fn note_span(&self, agent: &str, id: &str) {
        if let Err(e) = self.overlay().add_span(agent, id, self.span_from_now(agent)).await {
            tracing::warn!("that session {id} went live here could not be noted: {e}");
        }
    }

    /// Notes in the overlay, soon, that the session was brought in here.
    pub(in crate::plane) fn note_span_later(&self, agent: &str, id: &str) {
        self.overlay().add_span_later(agent, id, self.span_from_now(agent));
    }

    fn span_from_now(&self, agent: &str) -> Span {
        let name = machine_name(&|name| self.environment.text(name));
        Span { at: self.live.clock.now_ms(), agent: agent.to_owned(), node: self.node(&name).id }
    }
}

fn other_agent(id: &str, agent: &str) -> PlaneError {
    let message = format!("session `{}` is live under agent `{agent}`; detach it first", clean_line(id, 80));
    PlaneError::new(ErrorKind::Conflict, message)
}

fn already(session: &LiveSession, request: &AttachRequest) -> Result<Attached, PlaneError> {
    if request.agent.as_ref().is_some_and(|agent| *agent != session.agent_id) {
        return Err(other_agent(&session.id, &session.agent_id));
    }
    // Whoever asks for it is about to use it.
    session.state().idle_since = Instant::now();
    Ok(Attached::live(session))
}
