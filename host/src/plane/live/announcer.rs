//! What happens in one live session, to its log and then to all who follow: nothing is told
//! before it is stored, and everything in the order in which it happened.

use super::asked::Asked;
use super::batch::Batch;
use super::event::{NodeEvent, SessionEvent};
use super::feed::Feed;
use super::ids::Ids;
use super::recorded::Recorded;
use super::translation::Step;
use crate::plane::clock::Clock;
use crate::plane::facts::{Fact, FactLog, NewFact, SessionKey, TurnEdge};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// News that wait for the log and for those who follow.
const AHEAD: usize = 256;
/// Ends of turns that are kept when they can't be stored.
const MOST_OWED: usize = 64;
/// News that are told together.
const AT_ONCE: usize = 256;

/// What there is to tell.
#[derive(Debug)]
pub(super) enum News {
    /// Something happened in a turn, or between two.
    Step { step: Step, turn: Option<Arc<TurnName>> },
    /// Something happened to the session as a whole.
    Node(NodeEvent),
    /// Say when all before it was told.
    Flush(oneshot::Sender<()>),
}

/// Which turn, and what asked for it.
#[derive(Debug)]
pub(super) struct TurnName {
    pub(super) id: String,
    /// Id of the command that caused it, where the caller gave one.
    pub(super) command: Option<String>,
}

/// Everything that the news of a session go through.
pub(super) struct Announcer {
    pub(super) key: SessionKey,
    pub(super) log: Arc<FactLog>,
    pub(super) ids: Arc<Ids>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) feed: Feed<Arc<Batch>>,
    pub(super) asked: Asked,
    pub(super) node_feed: Feed<NodeEvent>,
    /// Sequence of the fact that was told last, in this process or an earlier one.
    pub(super) told_to: u64,
}

impl Announcer {
    /// Starts telling. It ends when nobody can send any more, and closes the feed.
    pub(super) fn start(self) -> mpsc::Sender<News> {
        let (sender, news) = mpsc::channel(AHEAD);
        tokio::spawn(self.run(news));
        sender
    }

    async fn run(mut self, mut news: mpsc::Receiver<News>) {
        let mut together = Vec::new();
        let mut log_fails = false;
        // Ends of turns that could not be stored when they came.
        let mut owed: Vec<NewFact> = Vec::new();
        match self.log.read(&self.key, u64::MAX, 1).await {
            Ok(page) => self.told_to = page.last,
            Err(error) => tracing::warn!("the log of session {} can't be read: {error}", self.key.id),
        }
        while news.recv_many(&mut together, AT_ONCE).await > 0 {
            // What stands before the first fact need not wait for the disk.
            let first = together.iter().position(has_facts).unwrap_or(together.len());
            let rest = together.split_off(first);
            for item in together.drain(..) {
                self.tell(item, Vec::new()).await;
            }
            let mut facts = owed.clone();
            facts.extend(rest.iter().flat_map(|item| self.facts_of(item)));
            if facts.len() == owed.len() {
                continue;
            }
            let ends: Vec<NewFact> =
                facts.iter().filter(|fact| fact.turn_edge == Some(TurnEdge::Closes)).cloned().collect();
            let mut stored = match self.log.append(&self.key, facts).await {
                Ok(mut stored) => {
                    log_fails = false;
                    let late: Vec<Fact> = stored.drain(..owed.len()).collect();
                    owed.clear();
                    if let Some(last) = late.last() {
                        self.told_to = last.sequence;
                        self.tell_batch(Step::default(), late).await;
                    }
                    stored.into_iter()
                }
                Err(error) => {
                    owed = ends;
                    let newest = owed.len().saturating_sub(MOST_OWED);
                    owed.drain(..newest);
                    tracing::warn!("what happened in session {} could not be stored: {error}", self.key.id);
                    if !std::mem::replace(&mut log_fails, true) {
                        let value = json!({ "message": error.to_string() });
                        let told = SessionEvent::Custom { name: "sepia:log_failed".to_owned(), value };
                        self.tell_batch(Step { events: vec![told], ..Step::default() }, Vec::new()).await;
                    }
                    Vec::new().into_iter()
                }
            };
            for item in rest {
                let own = match &item {
                    News::Step { step, .. } => step.facts.len(),
                    _ => 0,
                };
                let facts = stored.by_ref().take(own).collect();
                self.tell(item, facts).await;
            }
        }
        if !owed.is_empty()
            && let Err(error) = self.log.append(&self.key, owed).await
        {
            tracing::warn!("the end of a turn of session {} could not be stored: {error}", self.key.id);
        }
        self.feed.close();
    }

    fn facts_of(&self, item: &News) -> Vec<NewFact> {
        let News::Step { step, turn } = item else { return Vec::new() };
        step.facts.iter().map(|fact| self.new_fact(fact, turn.as_deref())).collect()
    }

    fn new_fact(&self, fact: &Recorded, turn: Option<&TurnName>) -> NewFact {
        let at = self.clock.now_ms();
        fact.clone().into_fact(self.ids.next("event", at), at, turn)
    }

    async fn tell(&mut self, item: News, facts: Vec<Fact>) {
        if let Some(last) = facts.last() {
            self.told_to = last.sequence;
        }
        match item {
            News::Step { step, .. } => self.tell_batch(step, facts).await,
            News::Node(event) => self.node_feed.publish(event, 0).await,
            // Whoever asked may have gone.
            News::Flush(told) => drop(told.send(())),
        }
    }

    /// The share of what is on its way from the agent is given back once it is with all who follow.
    async fn tell_batch(&self, step: Step, facts: Vec<Fact>) {
        // Where nothing was stored with it, it follows the last thing that was.
        let place = facts.last().map_or(self.told_to, |fact| fact.sequence);
        let Step { events, weight, share, .. } = step;
        let batch = Arc::new(Batch::new(self.key.id.clone(), events, facts, place));
        self.feed.publish_noting(Arc::clone(&batch), weight, || self.asked.tells(&batch)).await;
        if !batch.events.is_empty() {
            self.node_feed.publish(NodeEvent::Session(batch), weight).await;
        }
        drop(share);
    }
}

fn has_facts(item: &News) -> bool {
    matches!(item, News::Step { step, .. } if !step.facts.is_empty())
}
