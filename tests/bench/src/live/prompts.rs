//! From a prompt to the first text of its answer, beside the same agent spoken to directly.

use super::wire::Wire;
use super::{prompt, row};
use crate::median::{median, percentile};
use crate::table::Row;
use crate::tasks::Ground;
use crate::{Failed, say};
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::text;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Instant;

/// Prompts of each kind.
const PROMPTS: usize = 1_000;
/// Cold starts of each kind.
const STARTS: usize = 10;
/// Milliseconds that may be added.
const P50: f64 = 5.0;
const P99: f64 = 15.0;
const COLD: f64 = 60.0;

/// What tells of a first text, from either.
const OF_SEPIA: &str = "\"textMessageContent\"";
const OF_AGENT: &str = "\"agent_message_chunk\"";

impl Ground<'_> {
    pub(super) fn prompts(&self) -> Result<Vec<Row>, Failed> {
        say("live, prompt to first text: timing");
        let (mut agent, mut sepia) = self.agent_and_sepia(&answering())?;
        let mut bare = self.bare(&mut agent)?;
        let mut server = self.followed(&mut sepia)?;
        let (mut of_sepia, mut of_agent) = (Vec::new(), Vec::new());
        for at in 0..=PROMPTS {
            let (through, direct) = (server.first_text()?, bare.first_text()?);
            // The first ones find nothing in the caches.
            if at > 0 {
                of_sepia.push(through);
                of_agent.push(direct);
            }
        }
        let of = |fraction| (percentile(&of_sepia, fraction), percentile(&of_agent, fraction));
        let added = |name: &str, (sepia, agent): (f64, f64), bar| {
            row(format!("live: prompt to first text, added {name} ({sepia:.3} - {agent:.3})"), sepia - agent, bar, 0)
        };
        Ok(vec![added("p50", of(0.5), P50), added("p99", of(0.99), P99)])
    }

    pub(super) fn cold_prompt(&self) -> Result<Row, Failed> {
        say("live, start to first text: timing");
        let (mut agent, mut sepia) = self.agent_and_sepia(&answering())?;
        let (mut of_sepia, mut of_agent) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let start = Instant::now();
            let mut server = self.followed(&mut sepia)?;
            server.first_text()?;
            of_sepia.push(start.elapsed().as_secs_f64() * 1e3);
            drop(server);
            let start = Instant::now();
            let mut bare = self.bare(&mut agent)?;
            bare.first_text()?;
            of_agent.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let (sepia, agent) = (median(of_sepia), median(of_agent));
        let task = format!("live: start to first text, added ({sepia:.1} - {agent:.1})");
        Ok(row(task, sepia - agent, COLD, 0))
    }

    /// A server with a session that is followed.
    fn followed(&self, sepia: &mut Command) -> Result<Talk, Failed> {
        let mut wire = Wire::start(sepia)?;
        let id = self.create(&mut wire)?;
        wire.call("sessions.subscribe", &json!({ "id": id }))?;
        Ok(Talk { wire, method: "sessions.prompt", params: prompt(&id), first: OF_SEPIA })
    }

    /// An agent with a session.
    fn bare(&self, agent: &mut Command) -> Result<Talk, Failed> {
        let mut wire = Wire::start(agent)?;
        let about = json!({ "protocolVersion": 1, "clientCapabilities": {} });
        wire.call("initialize", &about)?;
        let session = wire.call("session/new", &json!({ "cwd": self.session_place()?, "mcpServers": [] }))?;
        let params = json!({ "sessionId": session["sessionId"], "prompt": [{ "type": "text", "text": "go" }] });
        Ok(Talk { wire, method: "session/prompt", params, first: OF_AGENT })
    }
}

/// Either kind, with a session.
struct Talk {
    wire: Wire,
    method: &'static str,
    params: Value,
    first: &'static str,
}

impl Talk {
    /// Milliseconds from a prompt to its first text; the turn is over then.
    fn first_text(&mut self) -> Result<f64, Failed> {
        let start = Instant::now();
        let id = self.wire.ask(self.method, &self.params)?;
        self.wire.read_to(self.first)?;
        let took = start.elapsed().as_secs_f64() * 1e3;
        self.wire.result(id)?;
        Ok(took)
    }
}

fn answering() -> Script {
    Script::new().on_prompt([text("Here you are.")])
}
