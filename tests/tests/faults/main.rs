//! Writes that are cut off by real faults: the process is killed, the disk is full. What was there
//! before is there afterwards, or what was to be written, whole, and nothing else is touched.
//!
//! `SEPIA_FAULT_SEEDS` makes it longer, `SEPIA_FAULT_SEED` begins at another seed: one failed seed is repeated with it and one seed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod attempt;
mod disk;
mod kill;
mod outcome;
mod stand;
mod talk;

use attempt::{Attempt, VERBS};
use outcome::Outcome;
use sepia_tests::random::{Random, Repeated, variable};
use sepia_tests::{Client, Machine};
use stand::Stand;
use std::collections::BTreeMap;
use std::io::Write;

/// Seeds, unless `SEPIA_FAULT_SEEDS` says otherwise; of both kinds of faults together.
const SEEDS: u64 = 28;
const AGENTS: [&str; 4] = ["claude", "cline", "cursor", "devin"];

/// What is tried with one seed: a machine as it stands, and a write on it.
struct Trial {
    machine: Machine,
    client: Client,
    before: Stand,
    attempt: Attempt,
    random: Random,
}

impl Trial {
    /// Every write of every agent comes in turn; all else is up to the seed.
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_add(1));
        let machine = Machine::with_all_agents();
        let mut client = machine.serve();
        let turn = usize::try_from(seed).unwrap();
        let (verb, agent) = (VERBS[turn % VERBS.len()], AGENTS[turn % AGENTS.len()]);
        let attempt = Attempt::new(&mut client, &mut random, verb, agent);
        let before = Stand::of(&machine, &mut client);
        Self { machine, client, before, attempt, random }
    }
}

/// All seeds of one kind of fault.
fn all(kind: &str, run: impl Fn(Trial) -> Outcome) {
    let first = variable("SEPIA_FAULT_SEED").unwrap_or(0);
    let count = variable("SEPIA_FAULT_SEEDS").unwrap_or(SEEDS).div_ceil(2);
    let mut counts: BTreeMap<Outcome, u64> = BTreeMap::new();
    for seed in first..first + count {
        let _repeated = Repeated(format!("SEPIA_FAULT_SEED={seed} SEPIA_FAULT_SEEDS=2"));
        *counts.entry(run(Trial::new(seed))).or_default() += 1;
    }
    let _gone = writeln!(std::io::stderr(), "{kind}: {count} seeds from {first}: {counts:?}");
}

#[test]
fn a_process_that_is_killed() {
    all("killed", kill::run);
}

#[test]
fn a_disk_that_is_full() {
    if disk::can_be_full() {
        all("full", disk::full);
    } else {
        let _gone = writeln!(std::io::stderr(), "no disk of its own can be made here, and none was filled");
    }
}
