//! A machine on which an agent's program is a script.

use crate::client::PATIENCE;
use crate::{Client, Machine};
use sepia_scripted_agent::{Event, Record, Script, read_record, wait_for_record};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A machine whose Claude is a scripted agent. Its sessions are in a folder of the agent's own
/// and, for those that are attached, in the sample store.
pub struct Stage {
    /// The machine.
    pub machine: Machine,
}

/// A session of the sample store that can be attached.
pub const STORED: &str = "11111111-1111-4111-8111-000000000001";

/// An agent that knows every session that it is to load.
pub fn loading() -> Script {
    Script::new().on("session/load", [])
}

impl Stage {
    /// With this script, on the sample store.
    pub fn new(script: Script) -> Self {
        let mut machine = Machine::with_samples();
        let cwd = machine.place("work");
        std::fs::create_dir(&cwd).unwrap();
        let script = script.record(machine.place("record.jsonl"));
        let path = script.write(machine.place("")).unwrap();
        let agent = crate::machine::programs().join("scripted-agent-for-tests");
        machine.set("SEPIA_AGENT_CLAUDE_COMMAND", format!("{} {}", agent.display(), path.display()));
        Self { machine }
    }

    /// Lets [`STORED`] work in a directory that is there.
    #[must_use]
    pub fn with_stored(self) -> Self {
        let projects = self.machine.claude().join("projects");
        let file = projects.join("-home-dev-shop").join(format!("{STORED}.jsonl"));
        let text = std::fs::read_to_string(&file).unwrap().replace("/home/dev/shop", &self.cwd());
        std::fs::write(file, text).unwrap();
        self
    }

    /// With a variable set.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.machine.set(name, value);
        self
    }

    /// Where new sessions work.
    pub fn cwd(&self) -> String {
        self.machine.place("work").display().to_string()
    }

    /// `sepia serve` on it.
    pub fn serve(&self) -> Client {
        self.machine.serve()
    }

    /// What happened to all agents so far.
    pub fn record(&self) -> Vec<Record> {
        read_record(self.machine.place("record.jsonl")).unwrap()
    }

    /// The same as soon as something like this is in it.
    pub fn record_with(&self, like: impl Fn(&Event) -> bool) -> Vec<Record> {
        wait_for_record(self.machine.place("record.jsonl"), PATIENCE, like).unwrap()
    }

    /// A path on it.
    pub fn place(&self, name: &str) -> PathBuf {
        self.machine.place(name)
    }

    /// A new session; its id.
    pub fn create(&self, client: &mut Client) -> String {
        let created = client.get("sessions.create", &json!({"cwd": self.cwd(), "agent": "claude"}));
        created["id"].as_str().unwrap().to_owned()
    }

    /// A new session that is followed; its id.
    pub fn followed(&self, client: &mut Client) -> String {
        let id = self.create(client);
        client.get("sessions.subscribe", &json!({"id": id}));
        id
    }
}

/// The parameters of a prompt.
pub fn prompt(id: &str, text: &str) -> Value {
    json!({"id": id, "parts": [{"type": "text", "text": text}]})
}

/// The text of all pieces of answers among these events.
pub fn text_of(events: &[Value]) -> String {
    let pieces = events.iter().filter(|event| event["type"] == "textMessageContent");
    pieces.map(|event| event["delta"].as_str().unwrap()).collect()
}

/// Names of events.
pub fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}
