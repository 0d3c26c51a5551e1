//! The methods of live sessions.

use super::error;
use super::events::StoredEvent;
use super::methods::Call;
use super::params::{
    AttachParams, CreateParams, EventsParams, NoParams, PermissionParams, PromptParams, SessionParams, SubscribeParams,
};
use super::results::{Prompted, StoredEvents, Subscribed, SubscribedNode};
use crate::jsonrpc::{ErrorObject, Outgoing};
use crate::plane::{ErrorKind, PlaneError, PromptRequest};
use tokio::sync::watch;

type Answer = Result<Outgoing, ErrorObject>;

/// Facts of one answer.
const FACTS: u32 = 1_000;
const MOST_FACTS: u32 = 10_000;

/// An answer, and what may begin once it was handed over.
pub(super) struct Answered {
    pub(super) answer: Outgoing,
    pub(super) begin: Option<watch::Sender<bool>>,
}

impl From<Outgoing> for Answered {
    fn from(answer: Outgoing) -> Self {
        Self { answer, begin: None }
    }
}

impl Call<'_> {
    pub(super) async fn sessions_attach(&self) -> Answer {
        let params: AttachParams = self.params()?;
        let attached = self.plane.begin_attach(params.into());
        self.reached();
        self.answered(attached.await)
    }

    pub(super) async fn sessions_detach(&self) -> Answer {
        let params: SessionParams = self.params()?;
        let detached = self.plane.begin_detach(&params.id, params.agent.as_deref());
        self.reached();
        detached.await;
        self.answered(Ok(()))
    }

    pub(super) async fn sessions_create(&self) -> Answer {
        let params: CreateParams = self.params()?;
        self.answered(self.plane.create(params.into()).await)
    }

    pub(super) async fn sessions_prompt(&self) -> Answer {
        let params: PromptParams = self.params()?;
        let request = PromptRequest::from(params);
        let id = request.id.clone();
        let turn = self.plane.begin_prompt(request).await.map_err(|e| error::of_plane(&e))?;
        self.reached();
        let ended = turn.end().await.map(Prompted::from);
        // Behind what happened in it.
        self.feeds.caught_up(&id).await;
        self.answered(ended)
    }

    pub(super) async fn sessions_cancel(&self) -> Answer {
        let params: SessionParams = self.params()?;
        self.answered(self.plane.cancel(&params.id, params.agent.as_deref()).await)
    }

    pub(super) async fn sessions_permission(&self) -> Answer {
        let PermissionParams { id, request, option, agent } = self.params()?;
        let answered = self.plane.answer_permission(&id, agent.as_deref(), &request, option.as_deref()).await;
        self.answered(answered)
    }

    pub(super) async fn sessions_subscribe(&self) -> Result<Answered, ErrorObject> {
        let SubscribeParams { id, agent, after } = self.params()?;
        let follower = self.plane.follow(&id, agent.as_deref(), after).await.map_err(|e| error::of_plane(&e))?;
        let (begin, begun) = watch::channel(false);
        self.feeds.session(id.clone(), follower, begun);
        let answer = self.result(&Subscribed { subscribed: true, session_id: id });
        Ok(Answered { answer, begin: Some(begin) })
    }

    pub(super) fn events_subscribe(&self) -> Result<Answered, ErrorObject> {
        let NoParams {} = self.params()?;
        let follower = self.plane.follow_all();
        let (begin, begun) = watch::channel(false);
        let answer = self.result(&SubscribedNode { subscribed: true, live: follower.live() });
        self.feeds.node(follower, begun);
        Ok(Answered { answer, begin: Some(begin) })
    }

    pub(super) async fn sessions_events(&self) -> Answer {
        let EventsParams { id, agent, after, limit } = self.params()?;
        let limit = limit.unwrap_or(FACTS);
        if limit == 0 || limit > MOST_FACTS {
            let message = format!("`limit` is {limit}, and may be 1 to {MOST_FACTS}");
            return Err(error::of_plane(&PlaneError::new(ErrorKind::Invalid, message)));
        }
        let page = self.plane.facts(&id, agent.as_deref(), after.unwrap_or_default(), limit as usize).await;
        let page = page.map_err(|e| error::of_plane(&e))?;
        let events = page.facts.iter().map(StoredEvent::from).collect();
        Ok(self.result(&StoredEvents { events, last: page.last, first: page.first }))
    }
}
