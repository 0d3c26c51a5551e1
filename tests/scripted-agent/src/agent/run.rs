//! A call that runs: its steps, and its answer.

use super::call::Call;
use super::history::chunk;
use super::placeholder::Known;
use super::steps;
use super::{Agent, complain, defaults, frame_line};
use crate::script::{RpcError, Step};
use serde_json::{Value, json};

/// What running a call needs.
pub(crate) struct Run<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) call: &'a Call,
    pub(crate) text: String,
    pub(crate) late: Vec<Step>,
    /// No answer comes by itself: there was one, or none is wanted.
    pub(crate) is_settled: bool,
}

/// Runs a call to its end.
pub(crate) fn run(agent: &Agent, call: &Call, scripted: Option<&[Step]>) {
    let mut run = Run { agent, call, text: call.text(), late: Vec::new(), is_settled: call.id.is_none() };
    if let Some(session) = &call.session {
        session.begin_turn(call.blocks().to_vec());
        run.keep();
    }
    let acted = match scripted {
        Some(steps) => {
            steps::run(&mut run, steps);
            Ok(())
        }
        None => defaults::act(&mut run),
    };
    if !run.is_settled {
        let outcome = acted.and_then(|()| defaults::result(&run));
        run.answer(outcome);
    }
    call.bell.settle();
    let late = std::mem::take(&mut run.late);
    steps::run(&mut run, &late);
    run.keep();
}

impl Run<'_> {
    /// Answers the request.
    pub(crate) fn answer(&mut self, outcome: Result<Value, RpcError>) {
        let frame = self.answer_frame(outcome);
        self.agent.send(frame.as_bytes());
    }

    /// The frame that answers the request. What the client may rely on once it has it is done
    /// before.
    pub(crate) fn answer_frame(&mut self, outcome: Result<Value, RpcError>) -> String {
        self.is_settled = true;
        let Some(id) = &self.call.id else {
            complain(&format!("`{}` is a notification, which has no answer", self.call.method));
            return String::new();
        };
        self.keep();
        let outcome = outcome.and_then(|result| self.enliven(&result).map(|()| result));
        frame_line(&match outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        })
    }

    /// Makes the session of a result that promises one.
    fn enliven(&self, result: &Value) -> Result<(), RpcError> {
        if !matches!(self.call.method.as_str(), "session/new" | "session/load" | "session/resume") {
            return Ok(());
        }
        let named = result.get("sessionId").and_then(Value::as_str);
        if let Some(id) = named.or(self.call.session_id.as_deref()) {
            let cwd = self.call.param("cwd").unwrap_or_default();
            self.agent.sessions.find_or_make(id, cwd).map_err(|e| defaults::store_failed(&e))?;
        }
        Ok(())
    }

    /// Tells the client, and the history of the session.
    pub(crate) fn update(&self, update: &Value) {
        if let Some(session) = &self.call.session {
            session.add(|turn| turn.add(update));
        }
        self.update_unkept(update);
    }

    /// Tells the client alone.
    pub(crate) fn update_unkept(&self, update: &Value) {
        self.agent.notify("session/update", &json!({"sessionId": self.call.session_id, "update": update}));
    }

    pub(crate) fn say(&self, kind: &str, message_id: Option<&str>, text: &str) {
        self.update(&chunk(kind, message_id, text));
    }

    /// Writes the session to the store.
    pub(crate) fn keep(&self) {
        if let Some(session) = &self.call.session
            && let Err(e) = self.agent.sessions.keep(session)
        {
            complain(&format!("session {} could not be kept in the store: {e}", session.id));
        }
    }

    pub(crate) fn known(&self) -> Known<'_> {
        Known { id: self.call.id.as_ref(), session_id: self.call.session_id.as_deref(), prompt: &self.text }
    }
}
