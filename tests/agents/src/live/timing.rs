//! What `sepia` adds to the time of an agent's own program: the same prompts to a session of the
//! bare program and to one behind `sepia serve`, in turns.

use super::script::OTHER;
use super::session::Live;
use super::{AGENTS, serve};
use crate::Failed;
use crate::acp::Agent;
use crate::machine::Machine;
use crate::model_server::ModelServer;
use crate::options::Options;
use crate::programs::{Program, Programs};
use crate::resume::speaks_acp;
use crate::say;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Prompts that are not counted: the first ones find cold caches.
const WARMING: usize = 5;
/// Prompts that are.
const PROMPTS: usize = 100;
/// Starts, each with a new process.
const STARTS: usize = 7;
/// The time of everything with one program.
const LIMIT: Duration = Duration::from_secs(600);
/// What may be added, milliseconds: to half of the prompts, to the slowest of a hundred, to a
/// start.
const BARS: [f64; 3] = [5.0, 15.0, 60.0];

/// Times the agents that the options ask for.
pub(crate) fn tell(options: &Options, programs: &Programs) -> Result<(), Failed> {
    for (agent, program) in AGENTS.iter().filter(|(agent, _)| options.has_target(agent)) {
        let machine = Machine::empty(&options.folder.join("machines"))?;
        let server = ModelServer::start()?;
        let ground =
            Ground { options, programs, agent, program: *program, machine: &machine, address: server.address() };
        let (bare, through) = ground.prompts()?;
        for (what, part, bar) in [("p50", 0.5, BARS[0]), ("p99", 0.99, BARS[1])] {
            ground.row(&format!("prompt to first text, {what}"), at(&bare, part), at(&through, part), bar);
        }
        let (bare, through) = ground.starts()?;
        ground.row("start to first text, p50", at(&bare, 0.5), at(&through, 0.5), BARS[2]);
    }
    Ok(())
}

struct Ground<'a> {
    options: &'a Options,
    programs: &'a Programs,
    agent: &'a str,
    program: Program,
    machine: &'a Machine,
    address: String,
}

impl Ground<'_> {
    fn row(&self, what: &str, bare: f64, through: f64, bar: f64) {
        let (label, added) = (self.program.label(), through - bare);
        let met = if added <= bar { "met" } else { "missed" };
        say(&format!(
            "time {label}: {what}: bare {bare:.1} ms, behind sepia {through:.1} ms, added {added:.1} ms (bar {bar} ms, {met})"
        ));
    }

    fn bare(&self) -> Result<Agent, Failed> {
        let mut command = self.programs.command(self.program)?;
        Agent::start(speaks_acp(self.program, &mut command, self.machine, &self.address)?, LIMIT)
    }

    fn serve(&self) -> Result<Live, Failed> {
        Live::start(&mut serve(self.options, self.programs, self.machine, &self.address)?)
    }

    fn cwd(&self) -> String {
        self.machine.cwd().to_string_lossy().into_owned()
    }

    /// Milliseconds to the first text of each prompt: bare, and behind `sepia`.
    fn prompts(&self) -> Result<(Vec<f64>, Vec<f64>), Failed> {
        let mut bare = self.bare()?;
        bare.initialize()?;
        let session = bare.create(self.machine.cwd())?;
        let mut live = self.serve()?;
        live.create(&self.cwd(), self.agent)?;
        let (mut of_bare, mut of_live) = (Vec::new(), Vec::new());
        for _ in 0..WARMING + PROMPTS {
            of_bare.push(prompt_bare(&mut bare, &session, Instant::now())?);
            of_live.push(prompt_live(&mut live, Instant::now())?);
        }
        live.end()?;
        bare.end()?;
        Ok((of_bare.split_off(WARMING), of_live.split_off(WARMING)))
    }

    /// The same from the start of a process on.
    fn starts(&self) -> Result<(Vec<f64>, Vec<f64>), Failed> {
        let (mut of_bare, mut of_live) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            let start = Instant::now();
            let mut bare = self.bare()?;
            bare.initialize()?;
            let session = bare.create(self.machine.cwd())?;
            of_bare.push(prompt_bare(&mut bare, &session, start)?);
            bare.end()?;
            let start = Instant::now();
            let mut live = self.serve()?;
            live.create(&self.cwd(), self.agent)?;
            of_live.push(prompt_live(&mut live, start)?);
            live.end()?;
        }
        Ok((of_bare, of_live))
    }
}

fn prompt_bare(agent: &mut Agent, session: &str, since: Instant) -> Result<f64, Failed> {
    let turn = agent.prompt(session, OTHER.prompt)?;
    let first = turn.first.ok_or_else(|| format!("the turn ended with `{}` and without a text", turn.stop))?;
    Ok(milliseconds(first - since))
}

fn prompt_live(live: &mut Live, since: Instant) -> Result<f64, Failed> {
    let request = live.prompt(&OTHER)?;
    let is_text = |event: &Value| event["type"] == "textMessageContent";
    let events = live.events_until(is_text)?;
    let first = milliseconds(since.elapsed());
    live.ends(request, "end_turn", LIMIT, events)?;
    Ok(first)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// The value that this part of all does not exceed.
fn at(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "few values"
    )]
    let place = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_all_values() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert!((at(&values, 0.5) - 50.0).abs() < f64::EPSILON);
        assert!((at(&values, 0.99) - 99.0).abs() < f64::EPSILON);
        assert!((at(&values[..1], 0.5) - 100.0).abs() < f64::EPSILON);
        assert!(at(&[], 0.5).abs() < f64::EPSILON);
    }
}
