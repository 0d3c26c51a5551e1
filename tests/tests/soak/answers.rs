//! Answers of the server: each belongs to one request, and each request has one.

use crate::driving::{Asked, Soak};
use crate::session::{Disturbance, Place};
use sepia_tests::client::parts;
use serde_json::{Value, json};

impl Soak<'_> {
    pub(crate) fn answered(&mut self, id: u64, frame: &Value) {
        let Some((at, asked)) = self.asked.remove(&id) else {
            panic!("an answer to nothing, or a second one: {frame}")
        };
        let result = frame.get("result");
        let must = || result.unwrap_or_else(|| panic!("{asked:?} of session {at}: {frame}"));
        self.sessions[at].open -= 1;
        match &asked {
            Asked::Prompt => self.turn_answered(at, frame),
            Asked::Cancel => assert!(must().is_null(), "{frame}"),
            Asked::Permission { request, again } => self.permission_answered(at, request.clone(), *again, frame),
            Asked::Detach => {
                assert!(must().is_null(), "{frame}");
                let session = &mut self.sessions[at];
                session.detaches += 1;
                (session.live, session.unsettled, session.followers) = (false, true, 0);
                // The next agent is another one.
                session.unsteady = false;
            }
            Asked::Attach => {
                assert_eq!((&must()["attached"], &must()["readOnly"]), (&json!(true), &json!(false)), "{frame}");
                self.sessions[at].live = true;
            }
            Asked::Newest => {
                let newest = must()["last"].as_u64().unwrap();
                let session = &mut self.sessions[at];
                session.unsettled = false;
                session.last = newest;
                for place in session.places.iter_mut().filter(|place| place.until.is_none()) {
                    place.until = Some(newest);
                }
            }
            Asked::Subscribe(after) => self.subscribed(at, *after, frame),
        }
        if self.sessions[at].open == 0 {
            self.go_on(at);
        }
    }

    fn turn_answered(&mut self, at: usize, frame: &Value) {
        let session = &mut self.sessions[at];
        session.runs = false;
        let turn = session.turns.last_mut().unwrap();
        assert_eq!(turn.answer, None, "answered twice: {frame}");
        turn.answer = Some(match frame.get("result") {
            Some(result) => Ok(result["stopReason"].as_str().unwrap().to_owned()),
            None => Err(parts(&frame["error"]).2),
        });
        assert!(turn.is_explained(), "{}: {turn:#?}", session.id);
        self.turn_ended();
    }

    fn permission_answered(&mut self, at: usize, request: Value, again: bool, frame: &Value) {
        let turn = self.sessions[at].turns.last().unwrap();
        let undisturbed = turn.disturbance == Disturbance::Nothing && !turn.unsteady;
        let refused = frame.get("error").map(|error| parts(error).1);
        match refused.as_deref() {
            None => assert!(!again, "a second answer counts: {frame}"),
            Some("conflict") => assert!(again || !undisturbed, "{frame} of {turn:#?}"),
            // The session was let go meanwhile.
            Some("invalid") => assert_eq!(turn.disturbance, Disturbance::Detach, "{frame}"),
            Some(other) => panic!("{other}: {frame}"),
        }
        if !again && undisturbed && self.random.percent(30) {
            self.ask(at, Asked::Permission { request, again: true });
        }
    }

    fn subscribed(&mut self, at: usize, after: Option<u64>, frame: &Value) {
        let session = &mut self.sessions[at];
        if let Some(error) = frame.get("error") {
            // Its turn was to be disturbed by letting the session go, and that was quicker.
            let turn = session.turns.last().unwrap();
            assert_eq!(parts(error).1, "invalid", "{frame}");
            assert!(turn.disturbed && turn.disturbance == Disturbance::Detach, "{frame} of {turn:#?}");
            return;
        }
        session.places.extend(after.map(|after| Place { after, until: None }));
    }
}
