//! The live sessions of this plane.

use super::announcer::{Announcer, News};
use super::asked::Asked;
use super::attach::Attached;
use super::event::{DetachReason, NodeEvent};
use super::feed::Feed;
use super::ids::Ids;
use super::launch::{Launch, Started, SweptStrays};
use super::owner::{Owner, Patience};
use super::session::{LiveSession, State, not_attached};
use super::translation::Translation;
use crate::acp::strays::Strays;
use crate::acp::{AgentLimits, Running};
use crate::home::{Home, LockFile};
use crate::limits::Limits;
use crate::plane::clock::Clock;
use crate::plane::facts::{Bounds, FactLog, Owner as LogOwner, SessionKey};
use crate::plane::{ErrorKind, PlaneError};
use futures::future::{BoxFuture, Shared};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Questions to the owner of a session that may wait.
const COMMANDS: usize = 64;

/// How long agents that are being ended are waited for at the end of the plane.
const LAST_AGENTS: std::time::Duration = std::time::Duration::from_secs(5);

/// The live sessions of this plane, and what they have in common.
pub(in crate::plane) struct Live {
    pub(super) sessions: Mutex<HashMap<String, Slot>>,
    pub(super) node_feed: Feed<NodeEvent>,
    pub(super) log: Arc<FactLog>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<Ids>,
    pub(super) strays: Arc<SweptStrays>,
    pub(super) running: Running,
    pub(super) patience: Patience,
    /// Sessions that may be live at once.
    pub(super) most: usize,
    pub(super) agent_limits: AgentLimits,
    pub(super) closing: watch::Sender<bool>,
    pub(super) sweeping: OnceLock<()>,
}

/// A session that is being attached.
pub(super) type Starting = Shared<BoxFuture<'static, Result<Attached, PlaneError>>>;

/// What is known of an id.
pub(super) enum Slot {
    /// It is being attached; whoever else wants it waits for the same.
    Starting(Starting),
    /// It is live, or being let go.
    Live(Arc<LiveSession>),
}

/// A session that goes live.
pub(super) struct GoingLive {
    pub(super) id: String,
    pub(super) agent_id: String,
    pub(super) title: String,
    pub(super) created: bool,
    pub(super) held: LockFile,
    pub(super) started: Started,
    pub(super) launch: Launch,
}

/// What a session has as long as it is live, given back at its end, however that comes: its
/// place in the map, and the lock that other processes of ours respect.
pub(super) struct Membership {
    live: Arc<Live>,
    session: Arc<LiveSession>,
}

impl Drop for Membership {
    fn drop(&mut self) {
        drop(self.session.held.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.live.slots().remove(&self.session.id);
        self.session.gone.send_replace(true);
    }
}

/// Us, for the log. Where the system does not tell when a process started, turns that we leave
/// open count as ours for ever.
fn log_owner() -> LogOwner {
    LogOwner::current().unwrap_or_else(|e| {
        tracing::warn!("when this process started can't be told: {e}");
        LogOwner { pid: std::process::id(), started: 0 }
    })
}

impl Live {
    /// None yet.
    pub(in crate::plane) fn new(home: &Home, limits: &Limits, clock: Arc<dyn Clock>) -> Self {
        let bounds = Bounds { age: limits.events_age, bytes: limits.events_bytes, busy_wait: limits.overlay_wait };
        Self {
            sessions: Mutex::default(),
            node_feed: Feed::default(),
            log: Arc::new(FactLog::new(home.events(), bounds, log_owner(), Arc::clone(&clock))),
            clock,
            ids: Arc::default(),
            strays: Arc::new(SweptStrays::new(Strays::at(home.agents()))),
            running: Running::new(),
            most: limits.live_sessions,
            patience: Patience { cancel: limits.cancel, permission: limits.permission },
            agent_limits: AgentLimits {
                frame: limits.agent_frame,
                stderr_lines: limits.stderr_lines,
                call: limits.agent_call,
            },
            closing: watch::channel(false).0,
            sweeping: OnceLock::new(),
        }
    }

    pub(super) fn slots(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails when as many are live, or on their way, as may be: each has a process.
    pub(super) fn has_room(&self) -> Result<(), PlaneError> {
        if self.slots().len() < self.most { Ok(()) } else { Err(self.full()) }
    }

    /// As many are live as may be.
    pub(super) fn full(&self) -> PlaneError {
        let most = self.most;
        let message =
            format!("{most} sessions are live; detach one that is not used, or raise SEPIA_MAX_LIVE_SESSIONS");
        PlaneError::new(ErrorKind::Busy, message)
    }

    /// The live session of an id; none when it is being let go, or is another agent's.
    pub(in crate::plane) fn get(&self, id: &str, agent: Option<&str>) -> Option<Arc<LiveSession>> {
        match self.slots().get(id) {
            Some(Slot::Live(session))
                if agent.is_none_or(|agent| agent == session.agent_id) && !session.is_leaving() =>
            {
                Some(Arc::clone(session))
            }
            _ => None,
        }
    }

    /// The same, or why not.
    pub(super) fn attached(&self, id: &str, agent: Option<&str>) -> Result<Arc<LiveSession>, PlaneError> {
        self.get(id, agent).ok_or_else(|| not_attached(id))
    }

    /// The same, once it is attached when that is under way.
    pub(super) async fn attached_soon(&self, id: &str, agent: Option<&str>) -> Result<Arc<LiveSession>, PlaneError> {
        let starting = match self.slots().get(id) {
            Some(Slot::Starting(starting)) => Some(starting.clone()),
            _ => None,
        };
        if let Some(starting) = starting {
            // What became of it shows in the map.
            let _attached = starting.await;
        }
        self.attached(id, agent)
    }

    /// All that are live.
    pub(in crate::plane) fn all(&self) -> Vec<Arc<LiveSession>> {
        let slots = self.slots();
        let live = slots.values().filter_map(|slot| match slot {
            Slot::Live(session) if !session.is_leaving() => Some(Arc::clone(session)),
            _ => None,
        });
        live.collect()
    }

    /// Fails when the plane ends.
    pub(super) fn is_open(&self) -> Result<(), PlaneError> {
        if *self.closing.borrow() {
            return Err(PlaneError::new(ErrorKind::Internal, "sepia is shutting down; ask again when it runs"));
        }
        Ok(())
    }

    /// Puts a session into the map, with its owner, and tells of it.
    /// An agent that may not go live is ended.
    pub(super) async fn enter(self: &Arc<Self>, going: GoingLive) -> Result<Arc<LiveSession>, PlaneError> {
        let GoingLive { id, agent_id, title, created, held, started, launch } = going;
        let Started { agent, messages } = started;
        let (commands, received) = mpsc::channel(COMMANDS);
        let (feed, asked) = (Feed::default(), Asked::default());
        let key = SessionKey::new(agent_id.as_str(), id.as_str());
        let announcer = Announcer {
            key,
            log: Arc::clone(&self.log),
            ids: Arc::clone(&self.ids),
            clock: Arc::clone(&self.clock),
            feed: feed.clone(),
            asked: asked.clone(),
            node_feed: self.node_feed.clone(),
            told_to: 0,
        };
        let news = announcer.start();
        let session = Arc::new(LiveSession {
            id: id.clone(),
            agent_id: agent_id.clone(),
            cwd: launch.cwd.clone(),
            title,
            created,
            live_since: self.clock.now_ms(),
            capabilities: agent.capabilities().clone(),
            feed,
            commands,
            state: Mutex::new(State { busy: false, idle_since: Instant::now() }),
            permissions: asked,
            held: Mutex::new(Some(Arc::new(held))),
            leaving: watch::channel(None).0,
            gone: watch::channel(false).0,
        });
        let base = uuid::Uuid::new_v4().to_string();
        let node_feed = self.node_feed.clone();
        let owner = Owner {
            session: Arc::clone(&session),
            agent: Some((agent.clone(), messages)),
            translation: Translation::new(&id, &base),
            news: news.clone(),
            commands: received,
            patience: self.patience,
            ids: Arc::clone(&self.ids),
            clock: Arc::clone(&self.clock),
            node_followers: Box::new(move || node_feed.followers()),
            retelling: !created,
            launch,
        };
        let cwd = owner.launch.cwd.clone();
        let event = if created {
            NodeEvent::Created { session_id: id.clone(), agent_id, cwd }
        } else {
            NodeEvent::Attached { session_id: id.clone(), agent_id }
        };
        let refused = {
            let mut slots = self.slots();
            // Looked at under the lock that the end takes too: whoever is in before it is let go by it.
            let refused = self.is_open().err().or_else(|| {
                let taken = matches!(slots.get(&id), Some(Slot::Live(_))) || (created && slots.contains_key(&id));
                let shown = crate::text::clean_line(&id, 80);
                taken.then(|| PlaneError::new(ErrorKind::Conflict, format!("session `{shown}` is live here already")))
            });
            if refused.is_none() {
                slots.insert(id, Slot::Live(Arc::clone(&session)));
            }
            refused
        };
        if let Some(refused) = refused {
            drop(owner);
            agent.end().await;
            return Err(refused);
        }
        let membership = Membership { live: Arc::clone(self), session: Arc::clone(&session) };
        // Behind its place in the map, so that who follows from now on sees one of both at least.
        let told = news.send(News::Node(event)).await;
        tokio::spawn(owner.run(membership));
        if told.is_err() {
            self.let_go(&session, DetachReason::Explicit).await;
            return Err(PlaneError::new(ErrorKind::Internal, "nobody can tell what happens in the session"));
        }
        Ok(session)
    }

    /// Lets a session go, and is ready when its agent is gone. It is let go also when the caller
    /// gives up waiting.
    pub(in crate::plane) async fn let_go(&self, session: &Arc<LiveSession>, reason: DetachReason) {
        session.leave(reason);
        session.gone().await;
    }

    /// Ends what is live and the log of it.
    pub(in crate::plane) async fn shutdown(&self) {
        self.let_all_go().await;
        self.node_feed.close();
        if let Err(e) = self.log.close().await {
            tracing::warn!("the log of live sessions could not be closed: {e}");
        }
    }

    /// Lets all go, and takes no more.
    pub(in crate::plane) async fn let_all_go(&self) {
        self.closing.send_replace(true);
        loop {
            let (mut live, mut starting) = (Vec::new(), Vec::new());
            for slot in self.slots().values() {
                match slot {
                    Slot::Live(session) => live.push(Arc::clone(session)),
                    Slot::Starting(start) => starting.push(start.clone()),
                }
            }
            if live.is_empty() && starting.is_empty() {
                break;
            }
            // Those that are starting fail, since the plane is closing.
            futures::future::join_all(starting).await;
            let leaving = live.iter().map(|session| self.let_go(session, DetachReason::Shutdown));
            futures::future::join_all(leaving).await;
        }
        // Also those that were dropped on the way, and those that were being stopped.
        if tokio::time::timeout(LAST_AGENTS, self.running.none()).await.is_err() {
            tracing::warn!("an agent is still being ended; the next sepia that starts one looks after it");
        }
    }
}
