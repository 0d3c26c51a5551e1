//! The subscriptions of one client: each is a task that hands on what it follows.
//!
//! A client that reads slowly slows these tasks and nobody else: what they follow does not wait
//! for them.

use super::events::{Events, Gap, NodeEventParams, SessionEventParams, StoredEvent, node_batch, plain_batch};
use crate::jsonrpc::{FrameSender, Outgoing, line};
use crate::plane::{
    Delivery, Followed, NodeEvent, NodeFollower, PERMISSION_REQUEST, Progress, SessionEvent, SessionFollower,
};
use serde::Serialize;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long an answer waits for a client to read what happened before it.
const CATCHING_UP: Duration = Duration::from_secs(1);
/// Bytes that are handed on together; one line may be larger.
const TOGETHER: usize = 64 << 10;

/// The subscriptions of a client.
#[derive(Clone)]
pub(super) struct Feeds(Arc<Inner>);

struct Inner {
    sender: FrameSender,
    tasks: Mutex<JoinSet<()>>,
    /// How far each task of a session is.
    progress: Mutex<Vec<Following>>,
    /// Ends the tasks once they have handed on what there is.
    ended: watch::Sender<bool>,
}

/// A task that hands on what happens in a session.
struct Following {
    session: String,
    progress: Progress,
    /// Items that it has handed on.
    handed: watch::Receiver<u64>,
}

impl Feeds {
    /// None yet.
    pub(super) fn new(sender: FrameSender) -> Self {
        Self(Arc::new(Inner {
            sender,
            tasks: Mutex::default(),
            progress: Mutex::default(),
            ended: watch::channel(false).0,
        }))
    }

    /// Hands on what happens in a session, once `begun` was answered.
    pub(super) fn session(&self, id: String, mut follower: SessionFollower, begun: watch::Receiver<bool>) {
        let sender = self.0.sender.clone();
        let (progress, (tell_handed, handed)) = (follower.progress(), watch::channel(0));
        {
            let mut all = self.0.progress.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|following| following.handed.has_changed().is_ok());
            all.push(Following { session: id.clone(), progress: progress.clone(), handed });
        }
        self.start(async move {
            if !is_answered(begun).await {
                return;
            }
            let asked: Vec<SessionEvent> = follower
                .take_asked()
                .into_iter()
                .map(|asked| SessionEvent::Custom { name: PERMISSION_REQUEST.to_owned(), value: json!(asked) })
                .collect();
            if !asked.is_empty() {
                // Whoever comes later is asked too.
                let events = serde_json::to_string(&asked).unwrap_or_else(|_| "[]".to_owned());
                let params = SessionEventParams {
                    session_id: &id,
                    events: Events(Some(&events)),
                    lagged: None,
                    facts: Vec::new(),
                    gap: None,
                };
                if sender.send(Outgoing::Memory(notification("session.event", &params))).await.is_err() {
                    return;
                }
            }
            while let Some(followed) = follower.next().await {
                let first = session_line(&id, &followed);
                let lines = together(first, || Some(session_line(&id, &follower.ready()?)));
                let taken = progress.taken();
                if sender.send(Outgoing::Lines(lines)).await.is_err() {
                    return;
                }
                tell_handed.send_replace(taken);
            }
        });
    }

    /// Hands on what happens on the node, once `begun` was answered.
    pub(super) fn node(&self, mut follower: NodeFollower, begun: watch::Receiver<bool>) {
        let sender = self.0.sender.clone();
        self.start(async move {
            if !is_answered(begun).await {
                return;
            }
            while let Some(delivery) = follower.next().await {
                let lines = together(node_line(&delivery), || Some(node_line(&follower.ready()?)));
                if sender.send(Outgoing::Lines(lines)).await.is_err() {
                    return;
                }
            }
        });
    }

    fn start(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut ended = self.0.ended.subscribe();
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            tokio::select! {
                () = task => {}
                _ = ended.wait_for(|ended| *ended) => {}
            }
        });
    }

    /// Ready when all that has happened in a session is handed on to this client, or it takes too
    /// long to read it.
    pub(super) async fn caught_up(&self, session: &str) {
        let behind: Vec<(u64, watch::Receiver<u64>)> = {
            let all = self.0.progress.lock().unwrap_or_else(PoisonError::into_inner);
            let of_session = all.iter().filter(|following| following.session == session);
            of_session.map(|following| (following.progress.came(), following.handed.clone())).collect()
        };
        let all_handed = async {
            for (came, mut handed) in behind {
                // A task that is over hands on nothing more.
                let _over = handed.wait_for(|handed| *handed >= came).await;
            }
        };
        let _late = tokio::time::timeout(CATCHING_UP, all_handed).await;
    }

    /// Ready when what was followed is over and handed on. For when the plane has ended.
    pub(super) async fn finished(&self) {
        let mut tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        while tasks.join_next().await.is_some() {}
    }

    /// Ends all of them at once.
    pub(super) fn stop(&self) {
        self.0.ended.send_replace(true);
    }
}

/// A line, and those that are there already.
fn together(first: Vec<u8>, mut more: impl FnMut() -> Option<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut bytes = first.len();
    let mut lines = vec![first];
    while bytes < TOGETHER
        && let Some(line) = more()
    {
        bytes += line.len();
        lines.push(line);
    }
    lines
}

/// Whether the subscription was answered: nothing of it comes before its answer.
async fn is_answered(mut begun: watch::Receiver<bool>) -> bool {
    begun.wait_for(|begun| *begun).await.is_ok()
}

fn session_line(id: &str, followed: &Followed) -> Vec<u8> {
    let mut params =
        SessionEventParams { session_id: id, events: Events(None), lagged: None, facts: Vec::new(), gap: None };
    match followed {
        Followed::Batch { batch: Some(batch), facts } if facts.is_empty() => return plain_batch(batch),
        Followed::Batch { batch, facts } => {
            params.events = Events(batch.as_ref().map(|batch| batch.json()));
            params.facts = facts.iter().map(StoredEvent::from).collect();
        }
        Followed::Lost(count) => params.lagged = Some(*count),
        Followed::Gap { from, to } => params.gap = Some(Gap { from: *from, to: *to }),
    }
    notification("session.event", &params)
}

fn node_line(delivery: &Delivery<NodeEvent>) -> Vec<u8> {
    let event = match delivery {
        Delivery::Item(NodeEvent::Session(batch)) => return node_batch(batch),
        Delivery::Item(event) => event,
        Delivery::Lost(count) => {
            return notification("node.event", &NodeEventParams::Lagged { session_id: None, count: *count });
        }
    };
    let params = match event {
        NodeEvent::Attached { session_id, agent_id } => NodeEventParams::Attached { session_id, agent_id },
        NodeEvent::Created { session_id, agent_id, cwd } => NodeEventParams::Created { session_id, agent_id, cwd },
        NodeEvent::Detached { session_id, agent_id, reason } => {
            NodeEventParams::Detached { session_id, agent_id, reason: *reason }
        }
        NodeEvent::Deleted { session_id, agent_id } => NodeEventParams::Deleted { session_id, agent_id },
        NodeEvent::Session(batch) => {
            NodeEventParams::SessionEvents { session_id: &batch.session_id, events: Events(Some(batch.json())) }
        }
    };
    notification("node.event", &params)
}

fn notification<P: Serialize>(method: &str, params: &P) -> Vec<u8> {
    let mut frame = Vec::new();
    if let Err(e) = line::notification(&mut frame, method, params) {
        tracing::error!("a notification could not be written out: {e}");
        frame = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{}}}}"#).into_bytes();
    }
    frame
}
