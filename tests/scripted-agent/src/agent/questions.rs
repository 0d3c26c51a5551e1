//! Requests of the agent that the client has not answered.

use super::bell::{Answer, Bell};
use super::lock;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

struct Open {
    method: String,
    /// Who waits; none once given up.
    bell: Option<Arc<Bell>>,
}

#[derive(Default)]
struct State {
    next: u64,
    open: HashMap<u64, Open>,
}

/// Which request an answer belongs to.
pub(crate) struct Settled {
    pub(crate) method: String,
    pub(crate) given_up: bool,
    bell: Option<Arc<Bell>>,
    id: u64,
}

impl Settled {
    /// Wakes whoever waits. Separate, so that the record has the answer first.
    pub(crate) fn deliver(self, answer: Answer) {
        if let Some(bell) = self.bell {
            bell.answer(self.id, answer);
        }
    }
}

/// All requests of the agent. Their ids are 0, 1, 2, …
#[derive(Default)]
pub(crate) struct Questions(Mutex<State>);

impl Questions {
    pub(crate) fn ask(&self, method: &str, bell: &Arc<Bell>) -> u64 {
        let mut state = lock(&self.0);
        let id = state.next;
        state.next += 1;
        state.open.insert(id, Open { method: method.to_owned(), bell: Some(Arc::clone(bell)) });
        id
    }

    /// Waits no more for this answer.
    pub(crate) fn give_up(&self, id: u64) {
        if let Some(open) = lock(&self.0).open.get_mut(&id) {
            open.bell = None;
        }
    }

    /// Takes the request that an answer with this id belongs to.
    pub(crate) fn settle(&self, id: &Value) -> Option<Settled> {
        let id = id.as_u64()?;
        let Open { method, bell } = lock(&self.0).open.remove(&id)?;
        Some(Settled { method, given_up: bell.is_none(), bell, id })
    }
}
