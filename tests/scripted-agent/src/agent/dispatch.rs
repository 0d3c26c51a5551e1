//! What becomes of a line that was received.

use super::bell::{Answer, Bell};
use super::call::Call;
use super::run::run;
use super::{Agent, complain, defaults};
use crate::record::Event;
use crate::script::{OnCancel, RpcError};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::thread;

/// Takes a line. Nothing here waits, save for a client that does not read.
pub(crate) fn receive(agent: &Arc<Agent>, line: &[u8]) {
    let frame = match serde_json::from_slice::<Value>(line) {
        Ok(frame) => frame,
        Err(e) => {
            agent.record(Event::NotJson { line: String::from_utf8_lossy(line).into_owned() });
            complain(&format!("a line is no JSON and was ignored: {e}"));
            return;
        }
    };
    agent.record(Event::Received { frame: frame.clone() });
    let Value::Object(mut frame) = frame else {
        complain("a line is no object and was ignored");
        return;
    };
    let id = frame.remove("id").filter(|id| !id.is_null());
    match (frame.remove("method"), id) {
        (Some(Value::String(method)), id) => call(agent, id, method, frame.remove("params").unwrap_or_default()),
        (None, Some(id)) if frame.contains_key("result") || frame.contains_key("error") => {
            answer(agent, id, &mut frame);
        }
        _ => {
            complain("an object is neither request, notification nor response, and was ignored");
        }
    }
}

fn answer(agent: &Arc<Agent>, id: Value, frame: &mut Map<String, Value>) {
    let settled = agent.questions.settle(&id);
    agent.record(Event::Answered {
        method: settled.as_ref().map(|settled| settled.method.clone()),
        id,
        given_up: settled.as_ref().is_some_and(|settled| settled.given_up),
    });
    if let Some(settled) = settled {
        settled.deliver(frame.remove("result").map_or(Answer::Error, Answer::Result));
    }
}

fn call(agent: &Arc<Agent>, id: Option<Value>, method: String, params: Value) {
    let session_id = match method.as_str() {
        "session/new" => Some(agent.sessions.next_id()),
        _ => params.get("sessionId").and_then(Value::as_str).map(str::to_owned),
    };
    let bell = Arc::new(Bell::new(agent.script.on_cancel == OnCancel::Ignore));
    let mut call = Call { id, method, params, session_id, session: None, bell };
    match call.method.as_str() {
        "session/prompt" => {
            let Some(id) = call.session_id.as_deref() else {
                return refuse(agent, &call, &defaults::missing("sessionId"));
            };
            let Some(session) = agent.sessions.live(id) else {
                return refuse(agent, &call, &defaults::unknown_session(id));
            };
            call.session = Some(Arc::clone(&session));
            let call = Arc::new(call);
            if session.enqueue(Arc::clone(&call)) {
                spawn(agent, move |agent| {
                    let mut next = Some(call);
                    while let Some(call) = next {
                        run(agent, &call, agent.reaction(&call.method, &call.text()));
                        next = session.next();
                    }
                });
            }
        }
        "session/cancel" => {
            let session = call.session_id.as_deref().and_then(|id| agent.sessions.live(id));
            if let Some(bell) = session.and_then(|session| session.bell()) {
                bell.cancel();
            }
            scripted(agent, call);
        }
        _ => scripted(agent, call),
    }
}

/// Runs a call that belongs to no queue.
fn scripted(agent: &Arc<Agent>, call: Call) {
    let is_scripted = agent.reaction_is_known(&call.method);
    // A replay may wait for a client that does not read.
    if is_scripted || call.method == "session/load" {
        spawn(agent, move |agent| run(agent, &call, agent.reaction(&call.method, "")));
    } else if call.id.is_some() {
        run(agent, &call, None);
    }
}

fn refuse(agent: &Agent, call: &Call, error: &RpcError) {
    if let Some(id) = &call.id {
        agent.send_frame(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }
}

fn spawn(agent: &Arc<Agent>, work: impl FnOnce(&Agent) + Send + 'static) {
    let shared = Arc::clone(agent);
    if let Err(e) = thread::Builder::new().spawn(move || work(&shared)) {
        complain(&format!("no thread could be started: {e}"));
        agent.leave(1);
    }
}
