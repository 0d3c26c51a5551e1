//! Many pieces of text from one agent to many subscriptions of one client.

use super::prompt;
use super::wire::Wire;
use crate::child::Used;
use crate::median::median;
use crate::table::{Bar, Row};
use crate::tasks::Ground;
use crate::{Failed, say};
use memchr::memmem;
use sepia_scripted_agent::Script;
use sepia_scripted_agent::steps::flood;
use serde_json::json;
use std::time::Instant;

/// Pieces, bytes of each, and subscriptions.
const PIECES: usize = 100_000;
const BYTES: usize = 20;
const SUBSCRIPTIONS: usize = 10;
/// Notifications in a second.
const BAR: f64 = 150_000.0;

impl Ground<'_> {
    pub(super) fn flood(&self) -> Result<Row, Failed> {
        say("live, pieces to subscriptions: timing");
        let (_, mut sepia) = self.agent_and_sepia(&Script::new().on_prompt([flood(PIECES as u64, BYTES)]))?;
        let (mut walls, mut peak, mut differ, mut notifications) = (Vec::new(), 0, 0, 0_u32);
        for _ in 0..self.options.rounds {
            let mut server = Wire::start(&mut sepia)?;
            let id = self.create(&mut server)?;
            for _ in 0..SUBSCRIPTIONS {
                server.call("sessions.subscribe", &json!({ "id": id }))?;
            }
            let start = Instant::now();
            server.ask("sessions.prompt", &prompt(&id))?;
            let told = Told::read(&mut server)?;
            walls.push(start.elapsed().as_secs_f64() * 1e3);
            peak = server.peak()?.max(peak);
            differ += told.differ();
            notifications = told.notifications;
        }
        let wall = median(walls);
        let rate = f64::from(notifications) / wall;
        let task = format!(
            "live: {PIECES} pieces of {BYTES} bytes to {SUBSCRIPTIONS} subscriptions, {rate:.0} notifications a ms"
        );
        let bar = Bar { wall: Some(f64::from(notifications) / BAR * 1e3), ..Bar::default() };
        Ok(Row { task, sepia: Used { wall, peak, ..Used::default() }, native: None, bar, differ })
    }
}

/// What a client was told of a flood.
struct Told {
    notifications: u32,
    /// By the number of the piece.
    times: Vec<usize>,
    lagged: bool,
}

impl Told {
    /// Up to the last end of the turn.
    fn read(server: &mut Wire) -> Result<Self, Failed> {
        let (delta, end) = (memmem::Finder::new(br#""delta":""#), memmem::Finder::new(br#""runFinished""#));
        let mut told = Self { notifications: 0, times: vec![0; PIECES + 1], lagged: false };
        let mut ends = 0;
        while ends < SUBSCRIPTIONS {
            let line = server.read()?.as_bytes();
            if line.get(..60).is_none_or(|start| memmem::find(start, b"session.event").is_none()) {
                continue;
            }
            told.notifications += 1;
            for at in delta.find_iter(line) {
                let digits = line.iter().skip(at + br#""delta":""#.len()).take_while(|byte| byte.is_ascii_digit());
                let number = digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
                *told.times.get_mut(number).ok_or("a piece that was not said")? += 1;
            }
            if end.find(line).is_some() {
                ends += 1;
            }
            told.lagged |= memmem::find(line, br#""lagged""#).is_some();
        }
        Ok(told)
    }

    /// Pieces that were not told once to each, and 1 more when some were said to be lost.
    fn differ(&self) -> usize {
        let wrong = self.times.iter().skip(1).filter(|times| **times != SUBSCRIPTIONS).count();
        wrong + usize::from(self.lagged)
    }
}
