//! Following a live session, or all of them.

use super::announcer::TurnName;
use super::batch::Batch;
use super::event::{AskedPermission, NodeEvent};
use super::feed::{Delivery, Follower, Progress};
use super::recorded::Recorded;
use crate::plane::facts::{Fact, FactLog, SessionKey};
use crate::plane::{ErrorKind, Plane, PlaneError};
use crate::text::clean_line;
use std::sync::Arc;

/// Facts that are read at once.
const PAGE: usize = 1_000;

/// What one who follows a session gets.
#[derive(Debug)]
pub enum Followed {
    /// Things happened. With a place in the log: facts, each once and in order.
    Batch {
        /// Events, absent where only the log tells of what happened.
        batch: Option<Arc<Batch>>,
        /// What is stored of it; empty for one who follows without a place.
        facts: Vec<Fact>,
    },
    /// So many batches are gone, for who follows was too slow. Facts in them still come.
    Lost(u64),
    /// The log no longer has these facts.
    Gap {
        /// Sequence of the first.
        from: u64,
        /// Sequence of the last.
        to: u64,
    },
}

/// One who follows a session, until it is live no more.
#[derive(Debug)]
pub struct SessionFollower {
    follower: Follower<Arc<Batch>>,
    /// What is delivered by the log, for one who follows from a place in it.
    place: Option<Place>,
    /// Permissions that were asked for before.
    asked: Vec<AskedPermission>,
    /// A batch that waits for what was stored before it.
    held: Option<Arc<Batch>>,
}

#[derive(Debug)]
struct Place {
    log: Arc<FactLog>,
    key: SessionKey,
    /// Sequence of the last fact that was delivered.
    delivered: u64,
    /// Behind: the log has facts that were not delivered.
    behind: bool,
    /// What is missing could not be had from it.
    unreadable: bool,
}

/// One who follows all sessions of the node.
#[derive(Debug)]
pub struct NodeFollower {
    follower: Follower<NodeEvent>,
    live: Vec<String>,
}

impl Plane {
    /// Follows a live session: from now on, or from the fact after `after` on.
    pub async fn follow(
        &self,
        id: &str,
        agent: Option<&str>,
        after: Option<u64>,
    ) -> Result<SessionFollower, PlaneError> {
        let session = self.live.attached_soon(id, agent).await?;
        // First, so that nothing falls between what was and what comes.
        let (follower, asked) = session.feed.follow_looking(|| session.permissions.told());
        let place = match after {
            None => None,
            Some(after) => {
                let key = SessionKey::new(session.agent_id.as_str(), id);
                let log = Arc::clone(&self.live.log);
                let page = log.read(&key, after, 1).await.map_err(|e| log_failed(&e))?;
                if after > page.last {
                    return Err(beyond(id, after, page.last));
                }
                Some(Place { log, key, delivered: after, behind: after < page.last, unreadable: false })
            }
        };
        Ok(SessionFollower { follower, place, asked, held: None })
    }

    /// Follows all live sessions from now on.
    pub fn follow_all(&self) -> NodeFollower {
        let follower = self.live.node_feed.follow();
        let mut live: Vec<String> = self.live.all().iter().map(|session| session.id.clone()).collect();
        live.sort();
        NodeFollower { follower, live }
    }

    /// What is stored of a session: the facts after `after`, at most so many. The session need
    /// not be live.
    pub async fn facts(
        &self,
        id: &str,
        agent: Option<&str>,
        after: u64,
        limit: usize,
    ) -> Result<crate::plane::facts::Page, PlaneError> {
        self.close_broken_turns().await;
        let agent = match self.live.get(id, agent) {
            Some(session) => session.agent_id.clone(),
            None => self.owner_of(id, agent).await?,
        };
        let key = SessionKey::new(agent, id);
        let page = self.live.log.read(&key, after, limit).await.map_err(|e| log_failed(&e))?;
        if after > page.last {
            return Err(beyond(id, after, page.last));
        }
        Ok(page)
    }

    /// What is stored of all sessions: the facts after a position of the log, which only grows, at
    /// most so many; each with its agent and session.
    pub async fn facts_of_node(&self, after: u64, limit: usize) -> Result<Vec<((String, String), Fact)>, PlaneError> {
        let facts = self.live.log.read_store(after, limit).await.map_err(|e| log_failed(&e))?;
        Ok(facts.into_iter().map(|(key, fact)| ((key.agent, key.id), fact)).collect())
    }

    /// Position of the newest fact that is stored of any session.
    pub async fn newest_position(&self) -> Result<u64, PlaneError> {
        self.live.log.newest().await.map_err(|e| log_failed(&e))
    }

    /// Ends the turns of processes of ours that ended before them.
    pub(super) async fn close_broken_turns(&self) {
        let at = self.live.clock.now_ms();
        let ids = Arc::clone(&self.live.ids);
        let closed = self.live.log.close_abandoned(|_, turn| {
            let turn = TurnName { id: turn.to_owned(), command: None };
            Recorded::run_broken().into_fact(ids.next("event", at), at, Some(&turn))
        });
        if let Err(e) = closed.await {
            tracing::warn!("turns that an earlier sepia left open could not be closed: {e}");
        }
    }
}

impl SessionFollower {
    /// The next thing; none when the session is live no more and all was told. Nothing is lost when
    /// the future is dropped.
    pub async fn next(&mut self) -> Option<Followed> {
        loop {
            if self.place.as_ref().is_some_and(|place| place.behind)
                && let Some(caught_up) = self.catch_up().await
            {
                return Some(caught_up);
            }
            let batch = match self.held.take() {
                Some(batch) => batch,
                None => match self.follower.next().await? {
                    Delivery::Item(batch) => batch,
                    Delivery::Lost(count) => {
                        if let Some(place) = &mut self.place {
                            place.behind = true;
                        }
                        return Some(Followed::Lost(count));
                    }
                },
            };
            let Some(place) = &mut self.place else {
                if batch.events.is_empty() {
                    continue;
                }
                return Some(Followed::Batch { batch: Some(batch), facts: Vec::new() });
            };
            // It happened before what was delivered from the log.
            if batch.place < place.delivered || (batch.place == place.delivered && !batch.facts.is_empty()) {
                continue;
            }
            let facts: Vec<Fact> = batch.facts.iter().filter(|fact| fact.sequence > place.delivered).cloned().collect();
            let before = facts.first().map_or(batch.place, |first| first.sequence - 1);
            if before > place.delivered && !place.unreadable {
                // Something was stored that nobody told here: by another process, say.
                place.behind = true;
                self.held = Some(batch);
                continue;
            }
            if before > place.delivered {
                let gap = Followed::Gap { from: place.delivered + 1, to: before };
                place.delivered = before;
                self.held = Some(batch);
                return Some(gap);
            }
            if let Some(last) = facts.last() {
                place.delivered = last.sequence;
            }
            place.unreadable = false;
            return Some(Followed::Batch { batch: Some(batch), facts });
        }
    }

    /// How far it is behind.
    pub fn progress(&self) -> Progress {
        self.follower.progress()
    }

    /// The next thing, when it is there already.
    pub fn ready(&mut self) -> Option<Followed> {
        if self.place.is_some() {
            // What comes from the log has to be waited for.
            return None;
        }
        loop {
            match self.follower.ready()? {
                Delivery::Item(batch) if batch.events.is_empty() => {}
                Delivery::Item(batch) => return Some(Followed::Batch { batch: Some(batch), facts: Vec::new() }),
                Delivery::Lost(count) => return Some(Followed::Lost(count)),
            }
        }
    }

    /// Permissions that the agent waited for when the following began; told once.
    pub fn take_asked(&mut self) -> Vec<AskedPermission> {
        std::mem::take(&mut self.asked)
    }

    /// A page of the log; none when there is nothing more in it than was delivered.
    async fn catch_up(&mut self) -> Option<Followed> {
        let place = self.place.as_mut()?;
        let page = match place.log.read(&place.key, place.delivered, PAGE).await {
            Ok(page) => page,
            Err(e) => {
                tracing::warn!("what happened in session {} can't be read from the log: {e}", place.key.id);
                place.behind = false;
                place.unreadable = true;
                return None;
            }
        };
        if page.misses(place.delivered) {
            let to = if page.first == 0 { page.last } else { page.first - 1 };
            let from = place.delivered + 1;
            place.delivered = to;
            place.behind = to < page.last;
            return Some(Followed::Gap { from, to });
        }
        let Some(last) = page.facts.last() else {
            place.behind = false;
            // What is missing is nowhere.
            place.unreadable = true;
            return None;
        };
        place.delivered = last.sequence;
        place.behind = last.sequence < page.last;
        Some(Followed::Batch { batch: None, facts: page.facts })
    }
}

impl NodeFollower {
    /// Sessions that were live when the following began.
    pub fn live(&self) -> &[String] {
        &self.live
    }

    /// The next thing; none when the plane ends.
    pub async fn next(&mut self) -> Option<Delivery<NodeEvent>> {
        self.follower.next().await
    }

    /// The next thing, when it is there already.
    pub fn ready(&mut self) -> Option<Delivery<NodeEvent>> {
        self.follower.ready()
    }
}

fn beyond(id: &str, after: u64, last: u64) -> PlaneError {
    let shown = clean_line(id, 80);
    let message =
        format!("session `{shown}` has {last} facts, and none after {after}; that place is another session's");
    PlaneError::new(ErrorKind::Invalid, message)
}

fn log_failed(error: &crate::plane::facts::LogError) -> PlaneError {
    PlaneError { kind: ErrorKind::Internal, message: error.message.clone(), cause: error.cause.clone() }
}
