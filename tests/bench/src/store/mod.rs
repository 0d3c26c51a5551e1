//! Makes a store as Claude Code keeps one, with its truth beside it. The same seed and sizes
//! give the same bytes.
//!
//! What makes readers go wrong is in it: several lines for one message of the model, each with
//! its tokens, the early ones not final; parallel calls; titles of all kinds, far from both
//! ends; sub-agents in files of their own; compactions, branches that were left, images, and
//! one session that is much larger than all others.

mod random;
mod session;
mod words;

use crate::Failed;
use crate::options::Options;
use crate::truth::{self, Truth};
use random::Random;
use session::Writer;
use std::fs;
use std::path::PathBuf;

/// Changes with what is written, so that an older store is not taken for a newer one.
const EDITION: u32 = 1;
/// Median size of a session, bytes, when the total allows it.
const MEDIAN: f64 = 60e3;
/// Spread of the sizes, as the deviation of their logarithm.
const SPREAD: f64 = 1.4;
const PROJECTS: u64 = 20;

/// Makes the store that the options describe, unless it is there; where it is.
pub(crate) fn make(options: &Options) -> Result<PathBuf, Failed> {
    let Options { sessions, megabytes, largest, seed, .. } = options;
    let place = options.folder.join(format!("claude-{EDITION}-{seed}-{sessions}-{megabytes}-{largest}"));
    // Written last.
    if place.join(truth::FILE).is_file() {
        return Ok(place);
    }
    crate::say(&format!("making {sessions} sessions, {megabytes} MB"));
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    let mut random = Random::new(*seed);
    let mut truth = Truth::default();
    for (at, bytes) in sizes(&mut random, options).into_iter().enumerate() {
        let cwd = format!("/home/dev/code/{}", words::project(random.skewed(PROJECTS)));
        let mut own = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(at as u64));
        truth.sessions.push(Writer::write(&mut own, &place, &cwd, bytes)?);
    }
    fs::write(place.join(truth::FILE), serde_json::to_vec(&truth)?)?;
    Ok(place)
}

/// Sizes of the sessions, log-normal but for the one large one, with the total asked for.
fn sizes(random: &mut Random, options: &Options) -> Vec<u64> {
    let (total, large) = (options.megabytes * 1_000_000, options.largest * 1_000_000);
    let drawn: Vec<f64> = (1..options.sessions).map(|_| MEDIAN * (SPREAD * random.normal()).exp()).collect();
    let scale = as_float(total - large) / drawn.iter().sum::<f64>();
    let mut sizes: Vec<u64> = drawn.into_iter().map(|bytes| as_count(bytes * scale).clamp(2_000, large)).collect();
    sizes.insert(sizes.len() / 2, large);
    sizes
}

#[allow(clippy::cast_precision_loss, reason = "sizes of stores are far below 2^53")]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and far below 2^53")]
fn as_count(number: f64) -> u64 {
    number as u64
}
