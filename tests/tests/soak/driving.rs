//! The one client of the server: it asks, and reads what comes.

use crate::kinds::{Choice, Kind, Outcome};
use crate::session::{Disturbance, Place, Session, Turn};
use crate::{agents, log};
use sepia_tests::processes::resident_memory;
use sepia_tests::random::Random;
use sepia_tests::stage::{STORED, prompt, text_of};
use sepia_tests::{Client, Stage};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Sessions, and how many of them are in their agent's store, so that they can be let go and come back.
const SESSIONS: usize = 50;
const KEPT: usize = 40;
/// Subscriptions of a session at one time, beside that to the node.
const FOLLOWERS: usize = 4;

/// A request that waits for its answer.
#[derive(Debug, Clone)]
pub(crate) enum Asked {
    Prompt,
    Cancel,
    /// The answer to a request for permission, and whether it is the second to that one.
    Permission {
        request: Value,
        again: bool,
    },
    Detach,
    Attach,
    /// The newest fact.
    Newest,
    /// The place, for one who follows from a place on.
    Subscribe(Option<u64>),
}

/// Everything.
pub(crate) struct Soak<'a> {
    pub(crate) client: Client,
    pub(crate) random: Random,
    pub(crate) sessions: Vec<Session>,
    pub(crate) by_id: HashMap<String, usize>,
    /// By the id of the request.
    pub(crate) asked: HashMap<u64, (usize, Asked)>,
    pub(crate) node_detaches: usize,
    stage: &'a Stage,
    turns: usize,
    begun: usize,
    pub(crate) ended: usize,
    resident_when_settled: Option<u64>,
    /// Batches that were lost: by those who follow a session, and by who follows the node.
    pub(crate) lagged: [u64; 2],
    killed: usize,
}

impl<'a> Soak<'a> {
    /// All sessions live, and followed.
    pub(crate) fn new(stage: &'a Stage, random: Random, turns: usize) -> Self {
        let sample = stage.machine.claude().join(format!("projects/-home-dev-shop/{STORED}.jsonl"));
        let sample = std::fs::read_to_string(sample).unwrap();
        let mut sessions = Vec::new();
        for number in 0..SESSIONS {
            let cwd = stage.place(&format!("soak/{number}"));
            std::fs::create_dir_all(&cwd).unwrap();
            let mut session = Session { cwd, stored: number < KEPT, ..Session::default() };
            if session.stored {
                session.id = format!("22222222-2222-4222-8222-{number:012}");
                let text = sample.replace(STORED, &session.id);
                let text = text.replace("/home/dev/shop", &session.cwd.display().to_string());
                stage.machine.write(&format!("claude/projects/-soak-{number}/{}.jsonl", session.id), text);
            }
            sessions.push(session);
        }
        let mut client = stage.serve();
        client.get("events.subscribe", &json!({}));
        for session in sessions.iter_mut().filter(|session| !session.stored) {
            let created = client.get("sessions.create", &json!({"cwd": session.cwd, "agent": "claude"}));
            created["id"].as_str().unwrap().clone_into(&mut session.id);
            session.live = true;
        }
        let by_id = sessions.iter().enumerate().map(|(at, session)| (session.id.clone(), at)).collect();
        Self {
            client,
            random,
            sessions,
            by_id,
            asked: HashMap::new(),
            node_detaches: 0,
            stage,
            turns,
            begun: 0,
            ended: 0,
            resident_when_settled: None,
            lagged: [0; 2],
            killed: 0,
        }
    }

    /// All turns, up to the end of what is told of them.
    pub(crate) fn run(&mut self) {
        for at in 0..self.sessions.len() {
            self.go_on(at);
        }
        while !self.asked.is_empty() || self.sessions.iter().any(|session| session.telling < session.turns.len()) {
            let frame = self.next_frame();
            match (frame["id"].as_u64(), frame["method"].as_str()) {
                (Some(id), None) => self.answered(id, &frame),
                (None, Some("session.event")) => self.session_event(&frame["params"]),
                (None, Some("node.event")) => self.node_event(&frame["params"]),
                _ => panic!("neither an answer nor a notification: {frame}"),
            }
        }
        assert_eq!((self.begun, self.ended), (self.turns, self.turns));
    }

    /// The next frame; without one in time, what is waited for.
    fn next_frame(&mut self) -> Value {
        let client = &mut self.client;
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| client.next_answer())).unwrap_or_else(|_| {
            let behind = |session: &&Session| session.open > 0 || session.telling < session.turns.len();
            let waiting: Vec<_> = self
                .sessions
                .iter()
                .filter(behind)
                .map(|session| (&session.id, session.open, session.turns.len(), session.telling, session.turns.last()))
                .collect();
            panic!(
                "{} turns ended; {:?} batches lost; not answered: {:#?}; {waiting:#?}",
                self.ended, self.lagged, self.asked
            )
        })
    }

    pub(crate) fn ask(&mut self, at: usize, asked: Asked) {
        let session = &mut self.sessions[at];
        let id = &session.id;
        let (method, params) = match &asked {
            Asked::Prompt => ("sessions.prompt", prompt(id, &session.turns.last().unwrap().prompt)),
            Asked::Cancel => ("sessions.cancel", json!({"id": id})),
            Asked::Permission { request, .. } => {
                let option = session.turns.last().unwrap().choice.option();
                ("sessions.permission", json!({"id": id, "request": request, "option": option}))
            }
            Asked::Detach => ("sessions.detach", json!({"id": id})),
            Asked::Attach => ("sessions.attach", json!({"id": id})),
            Asked::Newest => ("sessions.events", json!({"id": id, "limit": 1})),
            Asked::Subscribe(after) => ("sessions.subscribe", json!({"id": id, "after": after})),
        };
        session.open += 1;
        let request = self.client.ask(method, &params);
        self.asked.insert(request, (at, asked));
    }

    /// Nothing is asked of the session: what is next in it.
    pub(crate) fn go_on(&mut self, at: usize) {
        let session = &mut self.sessions[at];
        if session.unsettled {
            return self.ask(at, Asked::Newest);
        }
        if self.begun == self.turns {
            return;
        }
        if !session.live {
            return self.ask(at, Asked::Attach);
        }
        if session.stored && !session.turns.is_empty() && self.random.percent(4) {
            return self.ask(at, Asked::Detach);
        }
        if session.followers < FOLLOWERS && self.random.percent(15) {
            let last = session.last;
            let after = match self.random.below(4) {
                0 => None,
                1 => Some(self.random.below(last + 1)),
                _ => Some(last),
            };
            session.followers += 1;
            self.ask(at, Asked::Subscribe(after));
        }
        let turn = self.next_turn(at);
        let at_once = turn.disturbance == Disturbance::Cancel && turn.after == 0;
        let session = &mut self.sessions[at];
        session.turns.push(turn);
        session.runs = true;
        self.ask(at, Asked::Prompt);
        if at_once {
            self.disturb(at);
        }
    }

    fn next_turn(&mut self, at: usize) -> Turn {
        self.begun += 1;
        let kind = Kind::any(&mut self.random);
        let session = &mut self.sessions[at];
        let chance = self.random.below(100);
        let disturbance = match kind.outcome() {
            Outcome::Endless if chance < 10 => Disturbance::Kill,
            Outcome::Endless if chance < 20 && session.stored => Disturbance::Detach,
            Outcome::Endless => Disturbance::Cancel,
            _ if chance < 10 => Disturbance::Cancel,
            _ if chance < 14 => Disturbance::Kill,
            _ if chance < 20 && session.stored => Disturbance::Detach,
            _ => Disturbance::Nothing,
        };
        // What has no end must not be cancelled before it has begun.
        let earliest = u64::from(kind.outcome() == Outcome::Endless || disturbance != Disturbance::Cancel);
        Turn {
            kind,
            prompt: format!("{} of session {at}, turn {}.", kind.word(), self.begun),
            choice: Choice::any(&mut self.random),
            disturbance,
            after: earliest + self.random.below(kind.batches() + 1 - earliest),
            disturbed: false,
            unsteady: std::mem::take(&mut session.unsteady),
            batches: 0,
            told: String::new(),
            edges: Vec::new(),
            answer: None,
        }
    }

    /// What is to come between comes.
    fn disturb(&mut self, at: usize) {
        let session = &mut self.sessions[at];
        let Some(turn) = session.turn() else { return };
        turn.disturbed = true;
        match turn.disturbance {
            Disturbance::Nothing => turn.disturbed = false,
            Disturbance::Cancel => self.ask(at, Asked::Cancel),
            Disturbance::Detach => self.ask(at, Asked::Detach),
            Disturbance::Kill => {
                let killed = agents::kill_in(&self.stage.place(""), &session.cwd);
                if let Some(turn) = session.turn() {
                    turn.disturbed = killed;
                }
                session.unsteady = killed;
                self.killed += usize::from(killed);
            }
        }
    }

    fn session_event(&mut self, params: &Value) {
        self.lagged[0] += params["lagged"].as_u64().unwrap_or(0);
        assert!(params["gap"].is_null(), "nothing was given up: {params}");
        let session = &mut self.sessions[self.by_id[params["sessionId"].as_str().unwrap()]];
        session.told(params["facts"].as_array().map_or(&[], Vec::as_slice));
    }

    fn node_event(&mut self, params: &Value) {
        match params["type"].as_str().unwrap() {
            "sessionEvents" => {
                let at = self.by_id[params["sessionId"].as_str().unwrap()];
                self.batch(at, params["events"].as_array().unwrap());
            }
            "detached" => self.node_detaches += 1,
            "lagged" => self.lagged[1] += params["count"].as_u64().unwrap(),
            _ => {}
        }
    }

    /// A batch of a session on the feed of the node.
    fn batch(&mut self, at: usize, events: &[Value]) {
        let session = &mut self.sessions[at];
        let telling = session.telling;
        let runs = session.runs && telling + 1 == session.turns.len();
        let Some(turn) = session.turns.get_mut(telling) else {
            panic!("{}: told outside of a turn: {events:?}", session.id);
        };
        turn.batches += 1;
        turn.told.push_str(&text_of(events));
        let mut request = None;
        for event in events {
            match event["type"].as_str().unwrap() {
                "runStarted" => turn.edges.push("runStarted"),
                "runFinished" => {
                    turn.edges.push("runFinished");
                    session.telling += 1;
                }
                "custom" if event["name"] == "acp:permission_request" => request = Some(&event["value"]["requestId"]),
                _ => {}
            }
        }
        let is_due = runs && turn.batches == turn.after;
        if let Some(request) = request.filter(|_| runs) {
            self.ask(at, Asked::Permission { request: request.clone(), again: false });
        }
        if is_due {
            self.disturb(at);
        }
    }

    /// Facts of all sessions, page by page, against what was done.
    pub(crate) fn check_log(&mut self) {
        // What happened can be compared with the log only where all of it was told.
        assert_eq!(self.lagged[1], 0, "the node's feed lost batches although all was read: {:?}", self.lagged);
        for at in 0..self.sessions.len() {
            let limit = 1 + self.random.below(300);
            let facts = self.log_of(at, limit);
            let session = &mut self.sessions[at];
            log::check(session, &facts);
            session.last = facts.len() as u64;
            session.log = facts.iter().map(|fact| fact["id"].clone()).collect();
        }
    }

    fn log_of(&mut self, at: usize, limit: u64) -> Vec<Value> {
        let id = self.sessions[at].id.clone();
        let mut facts: Vec<Value> = Vec::new();
        loop {
            let page = self.client.get("sessions.events", &json!({"id": id, "after": facts.len(), "limit": limit}));
            facts.extend(page["events"].as_array().unwrap().iter().cloned());
            if page["last"] == facts.len() {
                return facts;
            }
            assert_ne!(page["events"], json!([]), "{id}: the log has more, and gives nothing");
        }
    }

    /// The end of the server; then every fact was told to all who followed, once.
    pub(crate) fn finish(mut self) {
        let detaches: usize = self.sessions.iter().map(|session| session.detaches).sum();
        let live = self.sessions.iter().filter(|session| session.live).count();
        let frames = self.client.finish();
        assert!(frames.status.success(), "{}", frames.stderr);
        for frame in &frames.frames {
            let params = &frame["params"];
            match frame["method"].as_str() {
                Some("session.event") => {
                    assert!(params["gap"].is_null(), "{params}");
                    let at = self.by_id[params["sessionId"].as_str().unwrap()];
                    self.sessions[at].told(params["facts"].as_array().map_or(&[], Vec::as_slice));
                }
                Some("node.event") => {
                    assert_ne!(params["type"], "sessionEvents", "after the last turn: {params}");
                    self.node_detaches += usize::from(params["type"] == "detached");
                }
                _ => panic!("answered twice: {frame}"),
            }
        }
        assert_eq!(self.node_detaches, detaches + live, "sessions that were let go, and that it was told of");
        for session in &self.sessions {
            assert!(session.facts.keys().all(|sequence| *sequence <= session.last), "{}", session.id);
            for (sequence, id) in (1..).zip(&session.log) {
                let (times, told) = session.facts.get(&sequence).cloned().unwrap_or_default();
                let expected = session.times(sequence);
                assert_eq!(times, expected, "{}: fact {sequence} {id}, {:?}", session.id, session.places);
                assert!(times == 0 || told == *id, "{}: fact {sequence} is another in the log", session.id);
            }
        }
    }

    /// What the server has resident now, bytes.
    pub(crate) fn resident(&self) -> u64 {
        resident_memory(self.client.pid())
    }

    /// The same after three quarters of the turns.
    pub(crate) fn resident_when_settled(&self) -> u64 {
        self.resident_when_settled.unwrap()
    }

    pub(crate) fn turn_ended(&mut self) {
        self.ended += 1;
        if self.ended == (self.turns * 3).div_ceil(4) {
            self.resident_when_settled = Some(self.resident());
        }
    }

    /// What was done, for people.
    pub(crate) fn told(&self) -> String {
        let detaches: usize = self.sessions.iter().map(|session| session.detaches).sum();
        let facts: u64 = self.sessions.iter().map(|session| session.last).sum();
        let places: Vec<&Place> = self.sessions.iter().flat_map(|session| &session.places).collect();
        let turns = || self.sessions.iter().flat_map(|session| &session.turns);
        let ends = |wanted: &str| turns().filter(|turn| turn.answer == Some(Ok(wanted.to_owned()))).count();
        let errors = turns().filter(|turn| matches!(turn.answer, Some(Err(_)))).count();
        format!(
            "{} ended by themselves, {} cancelled, {errors} failed, {} agents killed from outside; {detaches} detaches, \
             {} followers from a place on; {facts} facts; {} batches lost by those who follow a session",
            ends("end_turn"),
            ends("cancelled"),
            self.killed,
            places.len(),
            self.lagged[0]
        )
    }
}
