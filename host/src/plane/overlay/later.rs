//! Spans that are noted behind an answer that was given already, as many at once as have come together: each
//! change replaces the whole file and waits for the disk. Whoever reads or changes the overlay of this process
//! waits for them, so that nobody here sees it without.

use super::{Overlay, Span, file};
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

/// What waits to be noted.
#[derive(Debug)]
pub(super) struct Later {
    waiting: Mutex<Vec<Waiting>>,
    /// A task notes what waits. Changes only while `waiting` is locked.
    at_work: watch::Sender<bool>,
}

#[derive(Debug)]
struct Waiting {
    agent: String,
    id: String,
    span: Span,
}

impl Default for Later {
    fn default() -> Self {
        Self { waiting: Mutex::default(), at_work: watch::Sender::new(false) }
    }
}

impl Overlay {
    /// As [`add_span`](Self::add_span), soon. What goes wrong is in the log.
    pub fn add_span_later(&self, agent: &str, id: &str, span: Span) {
        let mut waiting = self.later.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(Waiting { agent: agent.to_owned(), id: id.to_owned(), span });
        if !self.later.at_work.send_replace(true) {
            tokio::spawn(self.clone().note_waiting());
        }
    }

    /// Waits until all that was to be noted is.
    pub async fn noted(&self) {
        // The sender lives as long as the overlay does.
        let _ = self.later.at_work.subscribe().wait_for(|at_work| !at_work).await;
    }

    async fn note_waiting(self) {
        loop {
            let waiting = {
                let mut waiting = self.later.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if waiting.is_empty() {
                    self.later.at_work.send_replace(false);
                    return;
                }
                std::mem::take(&mut *waiting)
            };
            let sessions = waiting.len();
            let place = self.file.clone();
            let noted = self.change_at_once(move |document| {
                waiting.into_iter().try_for_each(|Waiting { agent, id, span }| {
                    let changed = document.change_session(&agent, &id, |entry| entry.add_span(span));
                    changed.map_err(|e| file::failed(&place, "could not be changed", e))
                })
            });
            if let Err(e) = noted.await {
                tracing::warn!("that {sessions} sessions were brought in here could not be noted: {e}");
            }
        }
    }
}
