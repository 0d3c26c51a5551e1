//! The facts of turns: how fast they are stored, seen from outside, and read again.

use super::wire::Wire;
use super::{prompt, row};
use crate::median::median;
use crate::table::Row;
use crate::tasks::Ground;
use crate::{Failed, say};
use sepia_scripted_agent::steps::tool;
use sepia_scripted_agent::{Script, Step};
use serde::Deserialize;
use serde_json::json;
use std::time::Instant;

/// Sessions at once.
const SESSIONS: usize = 50;
/// Calls of tools in a turn of each, and in one of the session that is read.
const CALLS: usize = 200;
const LONG_CALLS: usize = 500;
/// Facts of a turn beside the two of each call: the prompt, its beginning, its end.
const BESIDE: usize = 3;
/// Facts in a second.
const STORED: f64 = 5_000.0;
/// Facts that are read, those of a page, and milliseconds that it may take.
const READ: usize = 100_000;
const PAGE: usize = 10_000;
const READING: f64 = 1_000.0;

/// A turn of so many calls.
fn calling(calls: usize) -> Script {
    let call = |number| -> Step { tool(format!("call-{number}"), "Read a file", "what stands in it") };
    Script::new().on_prompt((0..calls).map(call))
}

impl Ground<'_> {
    pub(super) fn storing(&self) -> Result<Row, Failed> {
        say("live, facts of many sessions: timing");
        let (_, mut sepia) = self.agent_and_sepia(&calling(CALLS))?;
        let expected = CALLS * 2 + BESIDE;
        let (mut walls, mut differ) = (Vec::new(), 0);
        for _ in 0..self.options.rounds {
            let mut server = Wire::start(&mut sepia)?;
            let ids = (0..SESSIONS).map(|_| self.create(&mut server)).collect::<Result<Vec<_>, _>>()?;
            let start = Instant::now();
            let turns =
                ids.iter().map(|id| server.ask("sessions.prompt", &prompt(id))).collect::<Result<Vec<_>, _>>()?;
            // They end in any order: as many answers as prompts.
            for _ in &turns {
                server.read_to("\"stopReason\"")?;
            }
            walls.push(start.elapsed().as_secs_f64() * 1e3);
            for id in &ids {
                let stored = server.call("sessions.events", &json!({ "id": id, "limit": 1 }))?;
                differ += usize::from(stored["last"] != expected);
            }
        }
        let wall = median(walls);
        let facts = u32::try_from(SESSIONS * expected)?;
        let rate = f64::from(facts) / wall * 1e3;
        let task = format!("live: {facts} facts of {SESSIONS} sessions stored, {rate:.0} a second");
        Ok(row(task, wall, f64::from(facts) / STORED * 1e3, differ))
    }

    pub(super) fn replay(&self) -> Result<Row, Failed> {
        say("live, facts read again: timing");
        let (_, mut sepia) = self.agent_and_sepia(&calling(LONG_CALLS))?;
        let mut server = Wire::start(&mut sepia)?;
        let id = self.create(&mut server)?;
        for _ in 0..READ.div_ceil(LONG_CALLS * 2) {
            server.call("sessions.prompt", &prompt(&id))?;
        }
        let (mut walls, mut differ) = (Vec::new(), 0);
        for _ in 0..self.options.rounds {
            let mut wall = 0.0;
            for after in (0..READ).step_by(PAGE) {
                let params = json!({ "id": id, "after": after, "limit": PAGE });
                let start = Instant::now();
                let request = server.ask("sessions.events", &params)?;
                let page = server.line_of(request)?;
                wall += start.elapsed().as_secs_f64() * 1e3;
                let page: Answer = serde_json::from_str(page)?;
                let sequences = page.result.events.iter().map(|event| event.sequence);
                differ += usize::from(!sequences.eq(after + 1..=after + PAGE));
            }
            walls.push(wall);
        }
        let task = format!("live: {READ} facts of a session read in pages of {PAGE}");
        Ok(row(task, median(walls), READING, differ))
    }
}

#[derive(Deserialize)]
struct Answer {
    result: Page,
}

#[derive(Deserialize)]
struct Page {
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    sequence: usize,
}
