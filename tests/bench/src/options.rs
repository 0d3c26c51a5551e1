//! What the command line and the environment say.

use crate::Failed;
use std::env;
use std::path::PathBuf;

/// How to bench.
#[derive(Debug)]
pub(crate) struct Options {
    /// A store that exists, with its truth; absent: one is made.
    pub(crate) store: Option<PathBuf>,
    /// Where stores are made and kept.
    pub(crate) folder: PathBuf,
    /// The program to time.
    pub(crate) program: PathBuf,
    /// The same driver as a program.
    pub(crate) driver: PathBuf,
    pub(crate) rounds: usize,
    pub(crate) sessions: usize,
    pub(crate) megabytes: u64,
    /// Size of the largest session, megabytes.
    pub(crate) largest: u64,
    pub(crate) seed: u64,
    /// The one group of tasks that is timed; absent: all.
    pub(crate) only: Option<String>,
}

const USAGE: &str = "cargo xtask bench [--quick] [--store DIR] [--rounds N] [--sessions N] [--mb N] [--seed N] [--only listing|search|export|history|starting|calls|moving|live]";

impl Options {
    pub(crate) fn of(arguments: &[String]) -> Result<Self, Failed> {
        let path = |name: &str| env::var_os(name).map(PathBuf::from);
        let program = path("SEPIA_BENCH_PROGRAM")
            .ok_or("SEPIA_BENCH_PROGRAM is not set: start the bench with `cargo xtask bench`")?;
        let program =
            program.canonicalize().map_err(|e| format!("{} is not there to be timed: {e}", program.display()))?;
        let beside = program.parent().map(PathBuf::from).unwrap_or_default();
        let mut options = Self {
            store: None,
            folder: path("SEPIA_BENCH_FOLDER").unwrap_or_else(|| beside.join("bench")),
            driver: beside.join("sepia-driver-claude"),
            program,
            rounds: 7,
            sessions: 2_000,
            megabytes: 1_000,
            largest: 100,
            seed: 1,
            only: None,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value; {USAGE}"));
            match argument.as_str() {
                "--quick" => {
                    (options.rounds, options.sessions, options.megabytes, options.largest) = (3, 200, 60, 10);
                }
                "--store" => options.store = Some(value()?.into()),
                "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
                "--sessions" => options.sessions = value()?.parse::<usize>()?.max(2),
                "--mb" => options.megabytes = value()?.parse()?,
                "--seed" => options.seed = value()?.parse()?,
                "--only" => options.only = Some(value()?.clone()),
                other => return Err(format!("`{other}` is not understood; {USAGE}").into()),
            }
        }
        if options.only.as_deref() == Some("live") {
            // Which sessions are stored is nothing to it.
            (options.sessions, options.megabytes) = (options.sessions.min(10), options.megabytes.min(2));
        }
        options.largest = options.largest.min(options.megabytes / 2);
        Ok(options)
    }
}
