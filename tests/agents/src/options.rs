//! What the command line and the environment say.

use crate::Failed;
use std::env;
use std::path::{Path, PathBuf};

/// What to prove, and with what.
#[derive(Debug)]
pub(crate) struct Options {
    /// The program that converts.
    pub(crate) program: PathBuf,
    /// Where agents' programs and machines are kept.
    pub(crate) folder: PathBuf,
    /// `tests/data` of the checkout.
    pub(crate) data: PathBuf,
    /// The only agent that is live, and that sessions are converted to.
    pub(crate) only: Option<String>,
    /// The only agent that sessions are converted from.
    pub(crate) from: Option<String>,
    /// Prove live sessions and nothing else.
    pub(crate) live: bool,
    /// Time live sessions and nothing else.
    pub(crate) time: bool,
    /// Prove the proof instead, without converting.
    pub(crate) self_check: bool,
    /// Leave the machines where they are.
    pub(crate) keep: bool,
}

const USAGE: &str = "cargo xtask agents [--only claude|cline] [--live | --time] [--from AGENT] [--keep] [--self-check]";

impl Options {
    pub(crate) fn of(arguments: &[String]) -> Result<Self, Failed> {
        let path = |name: &str| {
            let value = env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
            value.ok_or_else(|| format!("{name} is not set: start this with `cargo xtask agents`"))
        };
        let program = path("SEPIA_AGENTS_PROGRAM")?;
        let program =
            program.canonicalize().map_err(|e| format!("{} is not there to be run: {e}", program.display()))?;
        let mut options = Self {
            program,
            folder: path("SEPIA_AGENTS_DIR")?,
            data: Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("data"),
            only: None,
            from: None,
            live: false,
            time: false,
            self_check: false,
            keep: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value; {USAGE}"));
            match argument.as_str() {
                "--only" => match value()? {
                    target if target == "claude" || target == "cline" => options.only = Some(target),
                    other => return Err(format!("`{other}` has no program here; {USAGE}").into()),
                },
                "--from" => options.from = Some(value()?),
                "--live" => options.live = true,
                "--time" => options.time = true,
                "--self-check" => options.self_check = true,
                "--keep" => options.keep = true,
                other => return Err(format!("`{other}` is not understood; {USAGE}").into()),
            }
        }
        if (options.live || options.time) && (options.self_check || options.from.is_some()) {
            let error = format!("--live and --time convert nothing, so they go with --only and --keep alone; {USAGE}");
            return Err(error.into());
        }
        Ok(options)
    }

    /// Whether live sessions are proven: not when what is asked for is about converting alone.
    pub(crate) fn has_live(&self) -> bool {
        !self.self_check && self.from.is_none()
    }

    /// Whether the agent is among those that sessions are converted to.
    pub(crate) fn has_target(&self, agent: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == agent)
    }

    /// Whether the agent is among those that sessions are converted from.
    pub(crate) fn has_source(&self, agent: &str) -> bool {
        self.from.as_deref().is_none_or(|from| from == agent)
    }
}
