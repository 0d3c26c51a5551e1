//! What an agent waits for: each request gets one answer, by whoever is first: somebody who
//! follows, the time, or the end of the turn.

use crate::acp::{Outcome, PermissionRequest};
use crate::jsonrpc::Id;
use crate::plane::live::event::SessionEvent;
use crate::plane::live::recorded::Recorded;
use crate::plane::live::translation::Step;
use crate::plane::{ErrorKind, PlaneError};
use crate::text::clean_line;
use serde_json::json;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// Where nobody follows, somebody has this time to begin.
const NOBODY_THERE: Duration = Duration::from_millis(500);
/// Requests that are open at once.
const MOST_OPEN: usize = 64;
/// Answered requests that are remembered, to tell a late answer from a wrong one.
const REMEMBERED: usize = 256;

#[derive(Debug)]
struct Open {
    id: String,
    request: Id,
    asked: PermissionRequest,
    since: Instant,
    deadline: Option<Instant>,
}

/// The requests of one session.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    open: Vec<Open>,
    answered: VecDeque<String>,
}

impl Permissions {
    /// A request came.
    pub(super) fn open(
        &mut self,
        id: String,
        request: Id,
        asked: PermissionRequest,
        patience: Option<Duration>,
        attended: bool,
    ) {
        let since = Instant::now();
        let patience = if attended { patience } else { Some(patience.unwrap_or(NOBODY_THERE).min(NOBODY_THERE)) };
        let deadline = patience.map(|patience| since + patience);
        self.open.push(Open { id, request, asked, since, deadline });
    }

    /// Whether somebody is asked.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether as much is asked as may be.
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= MOST_OPEN
    }

    /// When the next one is overdue.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.open.iter().filter_map(|open| open.deadline).min()
    }

    /// An answer: an option that was offered, or none for no answer at all.
    pub(super) fn answer(&mut self, id: &str, option: Option<&str>) -> Result<(Id, Outcome), PlaneError> {
        let shown = clean_line(id, 120);
        let Some(at) = self.open.iter().position(|open| open.id == id) else {
            return Err(if self.answered.iter().any(|answered| answered == id) {
                PlaneError::new(ErrorKind::Conflict, format!("the permission request `{shown}` is already decided"))
            } else {
                PlaneError::new(ErrorKind::NotFound, format!("there is no permission request `{shown}` to answer"))
            });
        };
        let outcome = match option {
            None => Outcome::Cancelled,
            Some(option) => {
                let options = self.open.get(at).map(|open| open.asked.options.as_slice()).unwrap_or_default();
                if options.iter().all(|offered| offered.option_id != option) {
                    let offered: Vec<&str> = options.iter().map(|offered| offered.option_id.as_str()).collect();
                    let message = format!(
                        "`{}` is none of the options of the permission request; they are: {}",
                        clean_line(option, 80),
                        clean_line(&offered.join(", "), 400)
                    );
                    return Err(PlaneError::new(ErrorKind::Invalid, message));
                }
                Outcome::Selected { option_id: option.to_owned() }
            }
        };
        let open = self.open.remove(at);
        self.remember(open.id);
        Ok((open.request, outcome))
    }

    /// Takes back all that are open.
    pub(super) fn withdraw(&mut self) -> Vec<(String, Id)> {
        let open = std::mem::take(&mut self.open);
        open.into_iter()
            .map(|open| {
                self.remember(open.id.clone());
                (open.id, open.request)
            })
            .collect()
    }

    /// Decides what is overdue: it is refused. Where somebody follows by now, the wait goes on
    /// as long as it would have from the beginning.
    pub(super) fn overdue(
        &mut self,
        now: Instant,
        patience: Option<Duration>,
        attended: bool,
    ) -> Vec<(String, Id, Outcome, &'static str)> {
        let mut decided = Vec::new();
        let mut still = Vec::new();
        for mut open in std::mem::take(&mut self.open) {
            if attended {
                open.deadline = patience.map(|patience| open.since + patience);
            } else if open.deadline.is_none() {
                // Whoever was there has left.
                open.deadline = Some(now + NOBODY_THERE);
            }
            if open.deadline.is_some_and(|deadline| deadline <= now) {
                let outcome = open.asked.rejection();
                self.remember(open.id.clone());
                decided.push((open.id, open.request, outcome, if attended { "time" } else { "nobody" }));
            } else {
                still.push(open);
            }
        }
        self.open = still;
        decided
    }

    fn remember(&mut self, id: String) {
        self.answered.push_back(id);
        if self.answered.len() > REMEMBERED {
            self.answered.pop_front();
        }
    }
}

/// What is told of an answer.
pub(super) fn answered(request: &str, outcome: &Outcome, by: &str) -> Step {
    let mut value = json!(outcome);
    value["requestId"] = request.into();
    value["by"] = by.into();
    Step {
        events: vec![SessionEvent::Custom { name: "sepia:permission_answered".to_owned(), value }],
        facts: vec![Recorded::answered(request, outcome, by)],
        ..Step::default()
    }
}
