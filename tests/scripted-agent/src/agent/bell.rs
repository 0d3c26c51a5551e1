//! What wakes a call that waits: a cancel, or an answer of the client.

use super::lock;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What the client answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    Result(Value),
    Error,
}

#[derive(Debug, Default)]
struct Heard {
    /// A cancel that nobody has noticed yet.
    cancel: bool,
    /// A cancel was noticed.
    cancelled: bool,
    answers: HashMap<u64, Answer>,
}

/// The bell of one call.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    heard: Mutex<Heard>,
    rung: Condvar,
    /// Whether a cancel interrupts nothing.
    deaf: bool,
}

impl Bell {
    pub(crate) fn new(deaf: bool) -> Self {
        Self { deaf, ..Self::default() }
    }

    pub(crate) fn cancel(&self) {
        lock(&self.heard).cancel = true;
        self.rung.notify_all();
    }

    pub(crate) fn answer(&self, id: u64, answer: Answer) {
        lock(&self.heard).answers.insert(id, answer);
        self.rung.notify_all();
    }

    /// Whether the steps are to be left.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupts(&lock(&self.heard))
    }

    /// Whether the call ends as cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        let heard = lock(&self.heard);
        heard.cancelled || self.interrupts(&heard)
    }

    /// Takes note of a cancel, so that it interrupts no more.
    pub(crate) fn settle(&self) {
        let mut heard = lock(&self.heard);
        heard.cancelled |= self.interrupts(&heard);
        heard.cancel = false;
    }

    /// Waits for a cancel and takes note of it.
    pub(crate) fn wait_for_cancel(&self) {
        let heard = self.rung.wait_while(lock(&self.heard), |heard| !heard.cancel);
        let mut heard = heard.unwrap_or_else(PoisonError::into_inner);
        heard.cancel = false;
        heard.cancelled = true;
    }

    /// Waits for this answer; none when interrupted.
    pub(crate) fn wait_for_answer(&self, id: u64) -> Option<Answer> {
        let waits = |heard: &mut Heard| !heard.answers.contains_key(&id) && !self.interrupts(heard);
        let heard = self.rung.wait_while(lock(&self.heard), waits);
        heard.unwrap_or_else(PoisonError::into_inner).answers.remove(&id)
    }

    /// Waits so long; `false` when interrupted.
    pub(crate) fn pause(&self, length: Duration) -> bool {
        let waits = |heard: &mut Heard| !self.interrupts(heard);
        let waited = self.rung.wait_timeout_while(lock(&self.heard), length, waits);
        !self.interrupts(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    fn interrupts(&self, heard: &Heard) -> bool {
        heard.cancel && !self.deaf
    }
}
