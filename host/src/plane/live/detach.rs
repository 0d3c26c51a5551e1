//! Sessions are let go.

use super::event::{DetachReason, NodeEvent};
use super::recorded::Recorded;
use crate::plane::facts::SessionKey;
use crate::plane::{Plane, PlaneError};
use std::sync::Arc;

impl Plane {
    /// Lets a session go; nothing when it is not live. A turn that runs ends.
    pub async fn detach(&self, id: &str, agent: Option<&str>) -> Result<(), PlaneError> {
        if let Some(session) = self.live.get(id, agent) {
            self.live.let_go(&session, DetachReason::Explicit).await;
        }
        Ok(())
    }

    /// Begins to let a session go; what is ready when its agent is gone. Whoever attaches it after
    /// this waits for that.
    pub fn begin_detach(self: &Arc<Self>, id: &str, agent: Option<&str>) -> impl Future<Output = ()> + Send + use<> {
        let leaving = self.live.get(id, agent).inspect(|session| session.leave(DetachReason::Explicit));
        async move {
            if let Some(session) = leaving {
                session.gone().await;
            }
        }
    }

    /// Lets a session go, if it is live, because something is to be done with it.
    pub(in crate::plane) async fn let_go_for(&self, id: &str, agent: &str, reason: DetachReason) {
        if let Some(session) = self.live.get(id, Some(agent)) {
            self.live.let_go(&session, reason).await;
        }
    }

    /// Whether a session is live here.
    pub(in crate::plane) fn is_live(&self, id: &str, agent: &str) -> bool {
        self.live.get(id, Some(agent)).is_some()
    }

    /// The agent of a session that was made here and that no store has.
    pub(in crate::plane) async fn pending_agent(&self, id: &str, agent: Option<&str>) -> Option<String> {
        if let Some(session) = self.live.get(id, agent) {
            return session.created.then(|| session.agent_id.clone());
        }
        let (view, _) = self.overlay().view().await;
        view.pending_agents(id).find(|of| agent.is_none_or(|agent| agent == *of)).map(str::to_owned)
    }

    /// Takes what happened in a session out of the log: the session is gone.
    pub(in crate::plane) async fn forget_facts(&self, agent: &str, id: &str) {
        let key = SessionKey::new(agent, id);
        if let Err(e) = self.live.log.forget(&key).await {
            tracing::warn!("what happened in session {id} is still in the log: {e}");
        }
    }

    /// Notes that a session was cut back: what is told of it from now on does not go on from what
    /// was told before.
    pub(in crate::plane) async fn note_rewound(&self, agent: &str, id: &str, kept: usize, removed: usize) {
        let key = SessionKey::new(agent, id);
        let at = self.live.clock.now_ms();
        let fact = Recorded::rewound(kept, removed).into_fact(self.live.ids.next("event", at), at, None);
        let noted = async {
            self.live.log.raise_generation(&key).await?;
            self.live.log.append(&key, vec![fact]).await
        };
        if let Err(e) = noted.await {
            tracing::warn!("that session {id} was cut back could not be noted: {e}");
        }
    }

    /// Tells that a session was deleted from its store.
    pub(in crate::plane) async fn told_deleted(&self, id: &str, agent: &str) {
        let event = NodeEvent::Deleted { session_id: id.to_owned(), agent_id: agent.to_owned() };
        self.live.node_feed.publish(event, 0).await;
    }
}
