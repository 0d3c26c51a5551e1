//! What the test itself knows of one session.

use crate::kinds::{Choice, Kind, Outcome};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Something that comes between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disturbance {
    Nothing,
    Cancel,
    /// The agent is killed from outside.
    Kill,
    /// The session is let go.
    Detach,
}

/// A turn, from its prompt on.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) kind: Kind,
    pub(crate) prompt: String,
    pub(crate) choice: Choice,
    pub(crate) disturbance: Disturbance,
    /// Batches after which it comes.
    pub(crate) after: u64,
    /// It came.
    pub(crate) disturbed: bool,
    /// The agent was killed in the turn before, which may be noticed only in this one.
    pub(crate) unsteady: bool,
    /// Batches of it that were told on the feed of the node.
    pub(crate) batches: u64,
    /// Text of the agent in these.
    pub(crate) told: String,
    /// Beginnings and ends in these.
    pub(crate) edges: Vec<&'static str>,
    /// `stopReason`, or the error.
    pub(crate) answer: Option<Result<String, String>>,
}

impl Turn {
    /// Whether it may have ended as it did, by what the test did to it.
    pub(crate) fn is_explained(&self) -> bool {
        let came = |disturbance| self.disturbed && self.disturbance == disturbance;
        match self.answer.as_ref().map(|answer| answer.as_deref()) {
            Some(Ok("end_turn")) => self.kind.outcome() == Outcome::Whole,
            Some(Ok("cancelled")) => came(Disturbance::Cancel),
            Some(Err(_)) => {
                self.kind.outcome() == Outcome::Gone
                    || came(Disturbance::Kill)
                    || came(Disturbance::Detach)
                    || self.unsteady
            }
            _ => false,
        }
    }

    /// Whether everything was said, whatever came between.
    pub(crate) fn is_whole(&self) -> bool {
        match self.kind.outcome() {
            Outcome::Whole => self.answer == Some(Ok("end_turn".to_owned())),
            Outcome::Gone => !self.disturbed && !self.unsteady,
            Outcome::Endless => false,
        }
    }
}

/// A subscription from a place on.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) after: u64,
    /// Newest fact when the session was let go, which ended it.
    pub(crate) until: Option<u64>,
}

/// A session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) cwd: PathBuf,
    /// It is in its agent's store, and can be attached again.
    pub(crate) stored: bool,
    pub(crate) live: bool,
    /// Requests that are not answered.
    pub(crate) open: usize,
    pub(crate) turns: Vec<Turn>,
    pub(crate) runs: bool,
    /// Which turn is told on the feed of the node; its answer may be there before.
    pub(crate) telling: usize,
    pub(crate) places: Vec<Place>,
    /// Subscriptions of both kinds since it went live.
    pub(crate) followers: usize,
    pub(crate) detaches: usize,
    /// It was let go, and the subscriptions that ended with it are not settled.
    pub(crate) unsettled: bool,
    /// The agent was killed from outside in the turn before.
    pub(crate) unsteady: bool,
    /// Newest fact that the test knows of.
    pub(crate) last: u64,
    /// By sequence: how often the fact was told to those who follow from a place on, and its id.
    pub(crate) facts: BTreeMap<u64, (usize, Value)>,
    /// Ids of the facts in the log.
    pub(crate) log: Vec<Value>,
}

impl Session {
    /// The turn that runs.
    pub(crate) fn turn(&mut self) -> Option<&mut Turn> {
        if self.runs { self.turns.last_mut() } else { None }
    }

    /// Facts that were told with a notification.
    pub(crate) fn told(&mut self, facts: &[Value]) {
        for fact in facts {
            let sequence = fact["sequence"].as_u64().unwrap();
            let (times, id) = self.facts.entry(sequence).or_insert_with(|| (0, fact["id"].clone()));
            assert_eq!(*id, fact["id"], "{}: fact {sequence} is told as two", self.id);
            *times += 1;
            self.last = self.last.max(sequence);
        }
    }

    /// How often a fact is to be told.
    pub(crate) fn times(&self, sequence: u64) -> usize {
        let has = |place: &&Place| place.after < sequence && place.until.is_none_or(|until| sequence <= until);
        self.places.iter().filter(has).count()
    }
}
