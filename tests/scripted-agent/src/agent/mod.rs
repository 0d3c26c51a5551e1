//! The agent that runs a script.

mod bell;
mod call;
mod defaults;
mod dispatch;
mod entry;
mod history;
mod placeholder;
mod questions;
mod recorder;
mod run;
mod sessions;
mod stdin;
mod stdout;
mod steps;
mod store;
mod stubborn;
mod time;

pub use entry::run;

use crate::record::Event;
use crate::script::{OnStdinEnd, Reaction, Script, Step};
use questions::Questions;
use recorder::Recorder;
use serde_json::{Value, json};
use sessions::Sessions;
use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stdin::Closer;
use stdout::Stdout;

/// What all threads of the agent share.
pub(crate) struct Agent {
    pub(crate) script: Script,
    pub(crate) recorder: Recorder,
    pub(crate) stdout: Stdout,
    pub(crate) stdin: Closer,
    pub(crate) sessions: Sessions,
    pub(crate) questions: Questions,
    /// How many calls of a method took their steps in turn.
    turns: Mutex<HashMap<String, usize>>,
}

impl Agent {
    pub(crate) fn new(script: Script, recorder: Recorder, stdin: Closer) -> Self {
        let sessions = Sessions::new(script.store.clone(), script.session_id.clone());
        Self {
            script,
            recorder,
            stdout: Stdout::default(),
            stdin,
            sessions,
            questions: Questions::default(),
            turns: Mutex::default(),
        }
    }

    /// The steps for a call with this text; none where the default is wanted.
    pub(crate) fn reaction(&self, method: &str, text: &str) -> Option<&[Step]> {
        let reactions = self.script.on.get(method)?;
        let matching = reactions.iter().find_map(|reaction| match reaction {
            Reaction::Matching(matching) if text.contains(&matching.text) => Some(matching.steps.as_slice()),
            _ => None,
        });
        if matching.is_some() {
            return matching;
        }
        let in_turn: Vec<&[Step]> = reactions
            .iter()
            .filter_map(|reaction| match reaction {
                Reaction::InTurn(steps) => Some(steps.as_slice()),
                Reaction::Matching(_) => None,
            })
            .collect();
        let mut turns = lock(&self.turns);
        let turn = turns.entry(method.to_owned()).or_default();
        let steps = in_turn.get(*turn).or(in_turn.last()).copied();
        *turn += 1;
        steps
    }

    /// Whether the script says anything about a method.
    pub(crate) fn reaction_is_known(&self, method: &str) -> bool {
        self.script.on.get(method).is_some_and(|reactions| !reactions.is_empty())
    }

    pub(crate) fn record(&self, event: Event) {
        self.recorder.record(event);
    }

    /// Sends whole frames, or bytes that are meant to be none.
    pub(crate) fn send(&self, bytes: &[u8]) {
        if let Err(e) = self.stdout.write(bytes) {
            self.stdout_lost(&e);
        }
    }

    /// Sends one frame.
    pub(crate) fn send_frame(&self, frame: &Value) {
        self.send(frame_line(frame).as_bytes());
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        self.send_frame(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn stdout_lost(&self, error: &io::Error) {
        if !self.stdout.lose() {
            return;
        }
        self.record(Event::StdoutLost { error: error.to_string() });
        if self.script.on_stdin_end == OnStdinEnd::Exit {
            self.leave(1);
        }
    }

    /// Ends the process. What sessions have in memory is kept first.
    pub(crate) fn leave(&self, code: u8) -> ! {
        self.keep_all();
        self.record(Event::Exit { code: Some(code) });
        std::process::exit(i32::from(code))
    }

    pub(crate) fn keep_all(&self) {
        if let Err(e) = self.sessions.keep_all() {
            complain(&format!("a session could not be kept in the store: {e}"));
        }
    }
}

/// A frame as it is on the wire.
pub(crate) fn frame_line(frame: &Value) -> String {
    let mut line = frame.to_string();
    line.push('\n');
    line
}

/// Says something on stderr. Where stderr is gone, nobody is left to hear that.
pub(crate) fn complain(sentence: &str) {
    let line = format!("scripted-agent: {sentence}\n");
    let _gone = stdout::write_all(rustix::stdio::stderr(), line.as_bytes());
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
