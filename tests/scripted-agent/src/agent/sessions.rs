//! Sessions: those of this process, and through the store those of others.

use super::bell::Bell;
use super::call::Call;
use super::history::Turn;
use super::store::{Kept, Store};
use super::{lock, time};
use crate::script::SessionIds;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// All sessions.
pub(crate) struct Sessions {
    store: Option<Store>,
    ids: Option<SessionIds>,
    made: AtomicU64,
    live: Mutex<HashMap<String, Arc<Session>>>,
}

/// A session of this process.
pub(crate) struct Session {
    pub(crate) id: String,
    kept: Mutex<State>,
    /// Prompts; the first runs.
    queue: Mutex<VecDeque<Arc<Call>>>,
    /// The values that were chosen for modes and options, by their id.
    pub(crate) chosen: Mutex<HashMap<String, Value>>,
}

struct State {
    kept: Kept,
    changed: bool,
}

impl Sessions {
    pub(crate) fn new(store: Option<PathBuf>, ids: Option<SessionIds>) -> Self {
        Self { store: store.map(Store::new), ids, made: AtomicU64::new(0), live: Mutex::default() }
    }

    pub(crate) fn next_id(&self) -> String {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.ids {
            Some(SessionIds::Fixed(id)) => id.clone(),
            Some(SessionIds::Counted { prefix }) => format!("{prefix}{number}"),
            None => format!("scripted-{number}-{}", std::process::id()),
        }
    }

    pub(crate) fn live(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.live).get(id).cloned()
    }

    /// The session, brought to life if only the store has it.
    pub(crate) fn find(&self, id: &str) -> io::Result<Option<Arc<Session>>> {
        if let Some(session) = self.live(id) {
            return Ok(Some(session));
        }
        let kept = self.store.as_ref().map(|store| store.read(id)).transpose()?.flatten();
        Ok(kept.map(|kept| self.enliven(State { kept, changed: false })))
    }

    /// The session, made if nobody has it.
    pub(crate) fn find_or_make(&self, id: &str, cwd: &str) -> io::Result<Arc<Session>> {
        if let Some(session) = self.find(id)? {
            return Ok(session);
        }
        let kept = Kept { id: id.to_owned(), cwd: cwd.to_owned(), updated_at_ms: time::now_ms(), turns: Vec::new() };
        let session = self.enliven(State { kept, changed: true });
        self.keep(&session)?;
        Ok(session)
    }

    fn enliven(&self, state: State) -> Arc<Session> {
        let id = state.kept.id.clone();
        let session =
            Session { id: id.clone(), kept: Mutex::new(state), queue: Mutex::default(), chosen: Mutex::default() };
        Arc::clone(lock(&self.live).entry(id).or_insert(Arc::new(session)))
    }

    /// Lets the session go; `false` when it is not alive.
    pub(crate) fn close(&self, id: &str) -> bool {
        lock(&self.live).remove(id).is_some()
    }

    /// Forgets the session everywhere; `false` when nobody has it.
    pub(crate) fn delete(&self, id: &str) -> io::Result<bool> {
        let was_live = self.close(id);
        let was_kept = self.store.as_ref().map_or(Ok(false), |store| store.delete(id))?;
        Ok(was_live || was_kept)
    }

    /// Writes the session to the store, if there is one and anything has changed.
    pub(crate) fn keep(&self, session: &Session) -> io::Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        let mut state = lock(&session.kept);
        if state.changed {
            store.write(&state.kept)?;
            state.changed = false;
        }
        Ok(())
    }

    pub(crate) fn keep_all(&self) -> io::Result<()> {
        let live: Vec<_> = lock(&self.live).values().cloned().collect();
        live.iter().try_for_each(|session| self.keep(session))
    }

    /// All sessions of the store and of this process, the latest first. The turns are left out,
    /// save the first.
    pub(crate) fn all(&self) -> io::Result<Vec<Kept>> {
        let kept = self.store.as_ref().map_or_else(|| Ok(Vec::new()), Store::all)?;
        let mut all: BTreeMap<String, Kept> = kept.into_iter().map(|kept| (kept.id.clone(), kept)).collect();
        for session in lock(&self.live).values() {
            let kept = session.summary();
            all.insert(kept.id.clone(), kept);
        }
        let mut all: Vec<Kept> = all.into_values().collect();
        all.sort_by_key(|kept| Reverse(kept.updated_at_ms));
        Ok(all)
    }
}

impl Session {
    /// Adds a prompt to the queue; `true` when it is the only one, and has to be run.
    pub(crate) fn enqueue(&self, call: Arc<Call>) -> bool {
        let mut queue = lock(&self.queue);
        queue.push_back(call);
        queue.len() == 1
    }

    /// The prompt that runs.
    pub(crate) fn running(&self) -> Option<Arc<Call>> {
        lock(&self.queue).front().cloned()
    }

    /// Takes the prompt that ran off the queue; the next one, if there is one.
    pub(crate) fn next(&self) -> Option<Arc<Call>> {
        let mut queue = lock(&self.queue);
        queue.pop_front();
        queue.front().cloned()
    }

    /// The bell of the prompt that runs.
    pub(crate) fn bell(&self) -> Option<Arc<Bell>> {
        self.running().map(|call| Arc::clone(&call.bell))
    }

    pub(crate) fn begin_turn(&self, prompt: Vec<Value>) {
        self.change(|turns| turns.push(Turn { prompt, updates: Vec::new() }));
    }

    /// Changes the present turn.
    pub(crate) fn add(&self, add: impl FnOnce(&mut Turn)) {
        self.change(|turns| turns.last_mut().map(add));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Turn>) -> T) {
        let mut state = lock(&self.kept);
        change(&mut state.kept.turns);
        state.kept.updated_at_ms = time::now_ms();
        state.changed = true;
    }

    pub(crate) fn turns(&self) -> Vec<Turn> {
        lock(&self.kept).kept.turns.clone()
    }

    /// The texts of all prompts.
    pub(crate) fn texts(&self) -> Vec<String> {
        lock(&self.kept).kept.turns.iter().map(Turn::text).collect()
    }

    fn summary(&self) -> Kept {
        let state = lock(&self.kept);
        let Kept { id, cwd, updated_at_ms, turns } = &state.kept;
        let first = turns.first().map(|turn| Turn { prompt: turn.prompt.clone(), updates: Vec::new() });
        Kept { id: id.clone(), cwd: cwd.clone(), updated_at_ms: *updated_at_ms, turns: first.into_iter().collect() }
    }
}
