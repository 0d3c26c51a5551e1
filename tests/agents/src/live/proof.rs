//! The steps of the proof, in their order: each stands on the one before.

use super::events::{are_stored, is_one_run, is_whole_turn, tool_ended};
use super::script::{ALLOWED, CANCELLED, CONTENT, FIRST, LAST, NEXT, OTHER, REFUSED, Turn, Writing};
use super::session::{CANCEL, Live};
use super::{processes, remembered};
use crate::Failed;
use crate::conversation::{self, Part};
use crate::machine::Machine;
use crate::model_server::ModelServer;
use crate::programs::Program;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

/// How long a prompt may take to reach the model.
const REACHES: Duration = Duration::from_secs(60);

/// What the steps share.
pub(super) struct Proof<'a> {
    pub(super) program: Program,
    pub(super) agent: &'a str,
    pub(super) machine: &'a Machine,
    pub(super) server: &'a ModelServer,
    pub(super) live: Live,
}

/// A step: what it proves; what was seen.
type Step<'a> = (&'static str, fn(&mut Proof<'a>) -> Result<String, Failed>);

impl<'a> Proof<'a> {
    pub(super) const STEPS: [Step<'a>; 9] = [
        ("created and followed", Self::creates),
        ("a prompt is answered", Self::prompts),
        ("an allowed tool runs", Self::allows),
        ("a refused tool does not", Self::refuses),
        ("a turn is cancelled", Self::cancels),
        ("let go and loaded, it remembers", Self::remembers),
        ("its turns are stored", Self::stores),
        ("deleted", Self::deletes),
        ("shut down", Self::shuts_down),
    ];

    fn creates(&mut self) -> Result<String, Failed> {
        self.live.create(&self.machine.cwd().to_string_lossy(), self.agent)?;
        match processes::of_agents(self.machine).len() {
            0 => Err("a session is live, and no process of its agent is there".into()),
            count => Ok(format!("{count} processes")),
        }
    }

    fn prompts(&mut self) -> Result<String, Failed> {
        let events = self.live.turn(&FIRST)?;
        is_whole_turn(&events, &FIRST)?;
        Ok(format!("{} events", events.len()))
    }

    fn allows(&mut self) -> Result<String, Failed> {
        let events = self.writes(&ALLOWED, "allow_once", "completed")?;
        let path = ALLOWED.path(self.machine);
        let content = fs::read_to_string(&path).map_err(|e| format!("{} was not written: {e}", path.display()))?;
        if content != CONTENT {
            return Err(format!("{} holds `{content}`", path.display()).into());
        }
        Ok(format!("{} events", events.len()))
    }

    fn refuses(&mut self) -> Result<String, Failed> {
        let events = self.writes(&REFUSED, "reject_once", "failed")?;
        let path = REFUSED.path(self.machine);
        if path.exists() {
            return Err(format!("{} was written all the same", path.display()).into());
        }
        Ok(format!("{} events", events.len()))
    }

    /// A turn with a call that is decided on; the model is shown what came of it.
    fn writes(&mut self, writing: &Writing, kind: &str, status: &str) -> Result<Vec<Value>, Failed> {
        let (asked, events) = self.live.turn_with_permission(&writing.turn, kind)?;
        is_whole_turn(&events, &writing.turn)?;
        if asked["toolCallId"] != writing.call || asked["sessionId"] != self.live.id() {
            return Err(format!("the permission is not asked for the call {}: {asked}", writing.call).into());
        }
        tool_ended(&events, writing.call, status)?;
        let shown = self.shown(&writing.turn)?;
        let is_result = |part: &Part| matches!(part, Part::Result { id, .. } if id == writing.call);
        if shown.iter().filter(|part| is_result(part)).count() != 1 {
            return Err(format!("the model was not shown one result of {}: {shown:?}", writing.call).into());
        }
        Ok(events)
    }

    fn cancels(&mut self) -> Result<String, Failed> {
        let request = self.live.prompt(&CANCELLED)?;
        if !self.server.is_asked(CANCELLED.prompt, REACHES) {
            return Err("the model was never asked".into());
        }
        let start = Instant::now();
        self.live.call("sessions.cancel", json!({}))?;
        let events = self.live.ends(request, "cancelled", CANCEL, Vec::new())?;
        let took = start.elapsed();
        is_one_run(&events, "cancelled")?;
        is_whole_turn(&self.live.turn(&NEXT)?, &NEXT)?;
        Ok(format!("after {} ms", took.as_millis()))
    }

    fn remembers(&mut self) -> Result<String, Failed> {
        self.live.call("sessions.detach", json!({}))?;
        self.has_no_agent()?;
        self.live.has_marker(&self.marker("detached", Some("explicit")))?;
        let attached = self.live.call("sessions.attach", json!({"agent": self.agent}))?;
        if attached["attached"] != true || attached["readOnly"] != false {
            return Err(format!("sessions.attach answered with {attached}").into());
        }
        self.live.has_marker(&self.marker("attached", None))?;
        self.live.follow()?;
        is_whole_turn(&self.live.turn(&LAST)?, &LAST)?;
        let parts = remembered::all(&self.shown(&LAST)?, self.program, self.machine)?;
        Ok(format!("{parts} parts in order"))
    }

    fn stores(&mut self) -> Result<String, Failed> {
        let log = self.live.call("sessions.events", json!({"limit": 1000}))?;
        // The first, two that write, the cancelled one and the one behind it, the last.
        match are_stored(&log)? {
            6 => Ok(format!("{} facts of 6 turns", log["last"])),
            turns => Err(format!("6 turns were held, and {turns} are stored: {log}").into()),
        }
    }

    fn deletes(&mut self) -> Result<String, Failed> {
        let deleted = self.live.call("sessions.delete", json!({"agent": self.agent}))?;
        self.has_no_agent()?;
        self.live.has_marker(&self.marker("detached", Some("deleted")))?;
        self.live.has_marker(&self.marker("deleted", None))?;
        if deleted["failed"] != json!([]) {
            return Err(format!("sessions.delete left something: {deleted}").into());
        }
        let has = |rows: &Value, member: &str, id: &str| {
            rows.as_array().is_some_and(|rows| rows.iter().any(|row| row[member] == id))
        };
        let rows = self.live.node("sessions.list", &json!({"withHidden": true}))?;
        if has(&rows, "id", self.live.id()) {
            return Err(format!("the session is still listed: {rows}").into());
        }
        let trash = self.live.node("trash.list", &json!({}))?;
        if !has(&trash, "sessionId", self.live.id()) {
            return Err(format!("the trash does not have the session: {trash}").into());
        }
        Ok("in the trash".to_owned())
    }

    /// Another session is live then, so that there is something to be let go.
    fn shuts_down(&mut self) -> Result<String, Failed> {
        self.live.create(&self.machine.cwd().to_string_lossy(), self.agent)?;
        is_whole_turn(&self.live.turn(&OTHER)?, &OTHER)?;
        self.live.node("shutdown", &json!({}))?;
        self.live.has_marker(&self.marker("detached", Some("shutdown")))?;
        Ok("its last session let go".to_owned())
    }

    fn marker(&self, kind: &str, reason: Option<&str>) -> Value {
        let mut marker = json!({"type": kind, "sessionId": self.live.id(), "agentId": self.agent});
        if let Some(reason) = reason {
            marker["reason"] = json!(reason);
        }
        marker
    }

    /// At once: who was told that the agent is gone need not wait for it.
    fn has_no_agent(&self) -> Result<(), Failed> {
        match processes::of_agents(self.machine).as_slice() {
            [] => Ok(()),
            left => Err(format!("the session was let go, and this still runs: {}", left.join(", ")).into()),
        }
    }

    /// All that the model was shown when it was asked last in this turn.
    fn shown(&self, turn: &Turn) -> Result<Vec<Part>, Failed> {
        let asked = self.server.asked();
        let turns = asked.iter().filter(|asked| conversation::asks(&asked.body, turn.prompt));
        // Beside the turn a program may ask for a title, with the prompt alone.
        let longest = turns.map(|asked| conversation::parts(&asked.body)).max_by_key(Vec::len);
        longest.ok_or_else(|| format!("the model was never asked `{}`", turn.prompt).into())
    }
}
