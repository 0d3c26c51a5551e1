//! Live sessions: what stands between a client and an agent's program, and what is stored on the
//! way. The agent is this program itself, following a script.
//!
//! ```text
//! wire     a program that speaks in lines    flood   pieces to many subscriptions
//! prompts  a prompt to its first text        log     facts, written and read again
//! idle     what a session costs that rests
//! ```

mod flood;
mod idle;
mod log;
mod prompts;
mod wire;

use crate::Failed;
use crate::child::Used;
use crate::table::{Bar, Row};
use crate::tasks::Ground;
use sepia_scripted_agent::Script;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use wire::Wire;

impl Ground<'_> {
    pub(crate) fn live(&self) -> Result<Vec<Row>, Failed> {
        let mut rows = vec![self.flood()?];
        rows.extend(self.prompts()?);
        rows.push(self.cold_prompt()?);
        rows.push(self.storing()?);
        rows.push(self.replay()?);
        rows.push(self.idle_sessions()?);
        Ok(rows)
    }

    /// Where sessions work.
    fn session_place(&self) -> Result<PathBuf, Failed> {
        let place = self.work.path().join("sessions");
        std::fs::create_dir_all(&place)?;
        Ok(place)
    }

    /// The bare agent, and the program that speaks to it.
    fn agent_and_sepia(&self, script: &Script) -> Result<(Command, Command), Failed> {
        let script = script.write(self.work.path())?;
        let own = std::env::current_exe()?;
        let mut agent = Command::new(&own);
        agent.arg("agent").arg(&script).current_dir(self.session_place()?);
        let mut sepia = self.sepia();
        sepia.arg("serve");
        sepia.env("SEPIA_AGENT_CLAUDE_COMMAND", format!("{} agent {}", own.display(), script.display()));
        Ok((agent, sepia))
    }

    /// A new session; its id.
    fn create(&self, server: &mut Wire) -> Result<String, Failed> {
        let params = json!({ "cwd": self.session_place()?, "agent": "claude" });
        let created = server.call("sessions.create", &params)?;
        Ok(created["id"].as_str().ok_or("a session without an id")?.to_owned())
    }
}

/// Parameters of a prompt.
fn prompt(id: &str) -> Value {
    json!({ "id": id, "parts": [{ "type": "text", "text": "go" }] })
}

/// A row of a time alone.
fn row(task: String, milliseconds: f64, bar: f64, differ: usize) -> Row {
    let sepia = Used { wall: milliseconds, ..Used::default() };
    Row { task, sepia, native: None, bar: Bar { wall: Some(bar), ..Bar::default() }, differ }
}
