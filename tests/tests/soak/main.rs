//! Thousands of turns in fifty sessions at once, with all that can go wrong between them, and then
//! whether everything that the test did is in the log, once.
//!
//! `SEPIA_SOAK_TURNS` and `SEPIA_SOAK_SEED` make it longer, and make it the same again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod agents;
mod answers;
mod driving;
mod kinds;
mod log;
mod session;
mod stalled;

use driving::Soak;
use sepia_tests::Stage;
use sepia_tests::processes::wait_until;
use sepia_tests::random::{self, Random, Repeated, variable};
use stalled::Stalled;
use std::io::Write;
use std::time::Instant;

/// Turns, unless `SEPIA_SOAK_TURNS` says otherwise.
const TURNS: usize = 2_000;
/// What the server may have resident after the last turn beyond what it had after three
/// quarters of them, bytes: by then its threads have what memory they keep.
const GROWTH: u64 = 32 << 20;

#[test]
fn nothing_is_lost_doubled_or_left_behind() {
    let turns = variable("SEPIA_SOAK_TURNS").map_or(TURNS, |turns| usize::try_from(turns).unwrap());
    let seed = variable("SEPIA_SOAK_SEED").unwrap_or_else(random::seed);
    let _repeated = Repeated(format!("SEPIA_SOAK_SEED={seed}"));
    let stage = Stage::new(kinds::script());
    let stalled = Stalled::start(&stage);
    let start = Instant::now();
    let mut soak = Soak::new(&stage, Random::new(seed), turns);
    soak.run();
    let took = start.elapsed();
    // Reading all of the log for the checks takes memory of its own.
    let (settled, end) = (soak.resident_when_settled(), soak.resident());
    soak.check_log();
    stalled.check_log(&mut soak.client);
    let told = soak.told();
    soak.finish();
    // Its agent sees the end of its stdin.
    drop(stalled);
    wait_until("all agents are gone", || agents::running(&stage.place("")).is_empty());
    let report = format!(
        "seed {seed}: {turns} turns in {took:?}; {told}; resident {} KiB after three quarters of them, {} KiB after the last",
        settled >> 10,
        end >> 10
    );
    let _gone = writeln!(std::io::stderr(), "{report}");
    assert!(end <= settled + GROWTH, "{report}");
}
