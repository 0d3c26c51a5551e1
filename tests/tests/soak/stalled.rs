//! A second server on the same home, whose client asks for much and reads nothing.

use crate::agents;
use crate::kinds::{UNREAD, UNREAD_WORD, flooded, script};
use rustix::process::{Pid, Signal, kill_process};
use sepia_tests::client::Silent;
use sepia_tests::processes::{wait_until, wait_until_gone};
use sepia_tests::stage::prompt;
use sepia_tests::{Client, Stage};
use serde_json::json;

/// It, and its session.
pub(crate) struct Stalled {
    silent: Silent,
    id: String,
}

impl Stalled {
    pub(crate) fn start(stage: &Stage) -> Self {
        let mut silent = Silent::start(stage.machine.command(&["serve"]));
        silent.ask("sessions.create", &json!({"cwd": stage.cwd(), "agent": "claude"}));
        let id = silent.next_frame()["result"]["id"].as_str().unwrap().to_owned();
        for after in [None, Some(0)] {
            silent.ask("sessions.subscribe", &json!({"id": id, "after": after}));
        }
        silent.ask("sessions.prompt", &prompt(&id, UNREAD_WORD));
        Self { silent, id }
    }

    /// Its turn is whole in the log, which others can read.
    pub(crate) fn check_log(&self, client: &mut Client) {
        let mut events = Vec::new();
        wait_until("its turn ended although nobody reads", || {
            let stored = client.get("sessions.events", &json!({"id": self.id}));
            events.clone_from(stored["events"].as_array().unwrap());
            events.last().is_some_and(|event| event["type"] == "runFinished")
        });
        let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["inputMessage", "runStarted", "messageComplete", "runFinished"], "of {}", self.id);
        let (pieces, bytes) = UNREAD;
        assert!(events[2]["data"]["text"] == flooded(pieces, bytes).as_str(), "of {}", self.id);
    }

    /// Asks it to end, still without reading; its process.
    pub(crate) fn ask_to_end(&self) -> u32 {
        let pid = self.silent.pid();
        kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::TERM).unwrap();
        pid
    }
}

#[test]
fn a_server_whose_client_does_not_read_ends_when_it_is_told_to() {
    let stage = Stage::new(script());
    let stalled = Stalled::start(&stage);
    stalled.check_log(&mut stage.serve());
    let pid = stalled.ask_to_end();
    wait_until("its agent is gone", || agents::running(&stage.place("")).is_empty());
    wait_until_gone(pid);
}
