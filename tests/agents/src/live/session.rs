//! A live session of `sepia serve`: its turns, its permissions, and the markers of the node.

use super::client::Client;
use super::events::line;
use super::script::Turn;
use crate::Failed;
use crate::process_group::Ended;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// The time of a whole proof; one takes half a minute when nothing else runs.
const PROOF: Duration = Duration::from_secs(600);
/// The time for anything that needs an agent's program: a start, a turn, an end.
const LIMIT: Duration = Duration::from_secs(120);
/// The time for a cancelled turn to end.
pub(super) const CANCEL: Duration = Duration::from_secs(5);

/// A `sepia serve`, and the session that is asked for.
pub(super) struct Live {
    client: Client,
    id: String,
}

impl Live {
    /// Starts `sepia serve` and follows the node; no session is there yet.
    pub(super) fn start(command: &mut Command) -> Result<Self, Failed> {
        let mut live = Self { client: Client::start(command, PROOF)?, id: String::new() };
        let node = live.client.call("events.subscribe", &json!({}), LIMIT)?;
        if node != json!({"subscribed": true, "live": []}) {
            return Err(format!("events.subscribe answered with {node}").into());
        }
        Ok(live)
    }

    /// Creates a session and follows it; it is the one that is asked for from now on.
    pub(super) fn create(&mut self, cwd: &str, agent: &str) -> Result<(), Failed> {
        let created = self.client.call("sessions.create", &json!({"cwd": cwd, "agent": agent}), LIMIT)?;
        created["id"]
            .as_str()
            .ok_or_else(|| format!("sessions.create answered with {created}"))?
            .clone_into(&mut self.id);
        let wanted = json!({"type": "created", "sessionId": self.id, "agentId": agent, "cwd": cwd});
        self.has_marker(&wanted)?;
        self.follow()
    }

    pub(super) fn follow(&mut self) -> Result<(), Failed> {
        let subscribed = self.call("sessions.subscribe", json!({}))?;
        if subscribed != json!({"subscribed": true, "sessionId": self.id}) {
            return Err(format!("sessions.subscribe answered with {subscribed}").into());
        }
        Ok(())
    }

    /// The id of the session.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Calls a method for the session.
    pub(super) fn call(&mut self, method: &str, mut params: Value) -> Result<Value, Failed> {
        params["id"] = json!(self.id);
        self.client.call(method, &params, LIMIT)
    }

    /// Calls a method that is about no session.
    pub(super) fn node(&mut self, method: &str, params: &Value) -> Result<Value, Failed> {
        self.client.call(method, params, LIMIT)
    }

    /// Begins a turn; the id of the request.
    pub(super) fn prompt(&mut self, turn: &Turn) -> Result<u64, Failed> {
        let params = json!({"id": self.id, "parts": [{"type": "text", "text": turn.prompt}]});
        self.client.ask("sessions.prompt", &params)
    }

    /// Waits for the end of a turn, which has to come with this reason; its last events, with
    /// those from before.
    pub(super) fn ends(
        &mut self,
        request: u64,
        stop: &str,
        limit: Duration,
        mut events: Vec<Value>,
    ) -> Result<Vec<Value>, Failed> {
        let ended = self.client.answer(request, limit);
        let ended = ended.map_err(|e| format!("{e}; this came and was not awaited: {}", self.client.untaken()))?;
        if ended["stopReason"] != stop {
            return Err(format!("the turn ended with {ended}, not with {stop}").into());
        }
        let is_end = |event: &Value| event["type"] == "runFinished";
        if !events.iter().any(is_end) {
            events.extend(self.events_until(is_end)?);
        }
        Ok(events)
    }

    /// A whole turn, with nobody asked; its events.
    pub(super) fn turn(&mut self, turn: &Turn) -> Result<Vec<Value>, Failed> {
        let request = self.prompt(turn)?;
        self.ends(request, "end_turn", LIMIT, Vec::new())
    }

    /// A turn in which one permission is asked for, and answered with an option of this kind;
    /// the request and all events.
    pub(super) fn turn_with_permission(&mut self, turn: &Turn, kind: &str) -> Result<(Value, Vec<Value>), Failed> {
        let request = self.prompt(turn)?;
        let is_asked = |event: &Value| event["name"] == "acp:permission_request";
        let before = self.events_until(is_asked)?;
        let asked = before.iter().find(|event| is_asked(event)).map(|event| event["value"].clone()).unwrap_or_default();
        let mut options = asked["options"].as_array().into_iter().flatten();
        let option = options.find(|option| option["kind"] == kind);
        let option = option.ok_or_else(|| format!("no option of the kind {kind} is offered: {asked}"))?;
        let answer = json!({"request": asked["requestId"], "option": option["optionId"]});
        self.call("sessions.permission", answer)?;
        Ok((asked, self.ends(request, "end_turn", LIMIT, before)?))
    }

    /// Events of the session, up to and with the batch that has the one that is wanted.
    pub(super) fn events_until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Result<Vec<Value>, Failed> {
        let mut events = Vec::new();
        loop {
            let told = self.client.notification("session.event", LIMIT);
            let told = told.map_err(|e| format!("{e}; these events came: {}", line(&events)))?;
            if told["sessionId"] != self.id.as_str() || told.get("lagged").is_some() {
                return Err(format!("these events are not the session's, or some were lost: {told}").into());
            }
            let batch = told["events"].as_array().cloned().unwrap_or_default();
            let is_there = batch.iter().any(&is_wanted);
            events.extend(batch);
            if is_there {
                return Ok(events);
            }
        }
    }

    /// The next thing that the node tells, events of sessions aside, is this.
    pub(super) fn has_marker(&mut self, wanted: &Value) -> Result<(), Failed> {
        loop {
            let told = self.client.notification("node.event", LIMIT)?;
            match told["type"].as_str() {
                Some("sessionEvents") => {}
                _ if told == *wanted => return Ok(()),
                _ => return Err(format!("the node told {told}, not {wanted}").into()),
            }
        }
    }

    /// Ends `sepia serve`.
    pub(super) fn end(self) -> Result<Ended, Failed> {
        self.client.end()
    }
}
