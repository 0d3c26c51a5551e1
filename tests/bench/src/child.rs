//! One process from its start to its end: time, processor time, peak memory.

use crate::Failed;
use crate::median::median;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::Wait4;

/// What one run took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    /// Start to end, milliseconds.
    pub(crate) wall: f64,
    /// User and system time, milliseconds.
    pub(crate) cpu: f64,
    /// Most memory that was resident, bytes. At least what this bench itself had resident
    /// when the child was made, which is little.
    pub(crate) peak: u64,
}

/// Runs a command with its output going to a file, which must succeed.
pub(crate) fn run(command: &mut Command, output: Option<&Path>) -> Result<Used, Failed> {
    let stdout = match output {
        Some(path) => Stdio::from(File::create(path)?),
        None => Stdio::null(),
    };
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(stdout).spawn()?;
    let end = child.wait4()?;
    let wall = start.elapsed();
    if !end.status.success() {
        return Err(format!("{command:?} ended with {}", end.status).into());
    }
    let rusage = end.rusage;
    Ok(Used {
        wall: wall.as_secs_f64() * 1e3,
        cpu: (rusage.utime + rusage.stime).as_secs_f64() * 1e3,
        peak: rusage.maxrss,
    })
}

/// Medians of the times, and the highest peak.
pub(crate) fn summary(runs: &[Used]) -> Used {
    Used {
        wall: median(runs.iter().map(|run| run.wall)),
        cpu: median(runs.iter().map(|run| run.cpu)),
        peak: runs.iter().map(|run| run.peak).max().unwrap_or_default(),
    }
}
