//! One step of a command: a program that is run with its output shown, and timed.

use crate::Context;
use crate::failure::Failure;
use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A cargo command that can also be typed by hand.
pub(crate) struct Step {
    /// Name in the summary.
    pub(crate) name: &'static str,
    /// Arguments of cargo.
    pub(crate) arguments: &'static [&'static str],
}

/// How a step ended.
pub(crate) struct Ended {
    pub(crate) success: bool,
    pub(crate) took: Duration,
    /// What it wrote, when it was run to be read; else empty.
    pub(crate) output: String,
}

impl Step {
    /// The line to type to run this step alone.
    pub(crate) fn by_hand(&self) -> String {
        format!("cargo {}", self.arguments.join(" "))
    }

    /// Runs it, its output going where ours goes.
    pub(crate) fn run(&self, context: &Context) -> Result<Ended, Failure> {
        self.announce(context);
        let start = Instant::now();
        let status = self.command(context).status().map_err(|error| self.not_started(&error))?;
        Ok(Ended { success: status.success(), took: start.elapsed(), output: String::new() })
    }

    /// Runs it and keeps a copy of its output, which is shown as it comes.
    pub(crate) fn run_and_read(&self, context: &Context) -> Result<Ended, Failure> {
        self.announce(context);
        let start = Instant::now();
        let mut command = self.command(context);
        if context.console.has_colour() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| self.not_started(&error))?;
        let stderr = child.stderr.take().map(|pipe| thread::spawn(move || show_and_keep(pipe, io::stderr())));
        let mut output = child.stdout.take().map(|pipe| show_and_keep(pipe, io::stdout())).unwrap_or_default();
        output.push_str(&stderr.and_then(|reader| reader.join().ok()).unwrap_or_default());
        let status = child.wait().map_err(|error| self.not_started(&error))?;
        Ok(Ended { success: status.success(), took: start.elapsed(), output })
    }

    /// Runs it and fails when it does.
    pub(crate) fn must_succeed(&self, context: &Context) -> Result<(), Failure> {
        if self.run(context)?.success {
            return Ok(());
        }
        let (name, by_hand) = (self.name, self.by_hand());
        Err(Failure::new(format!("{name} failed: mend what it says above; `{by_hand}` runs it alone")))
    }

    fn announce(&self, context: &Context) {
        context.console.say(&context.console.dim(&format!("$ {}", self.by_hand())));
    }

    fn command(&self, context: &Context) -> Command {
        let mut command = Command::new(cargo());
        command.args(self.arguments).current_dir(&context.root).stdin(Stdio::null());
        command
    }

    fn not_started(&self, error: &io::Error) -> Failure {
        Failure::new(format!("`{}` could not be run ({error}): check that cargo is installed", self.by_hand()))
    }
}

/// The cargo that started this program, so that the toolchain stays the same.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn show_and_keep(from: impl Read, mut to: impl Write) -> String {
    let mut kept = String::new();
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        // What can't be shown is still counted; the step itself must go on to its end.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        kept.push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
    kept
}
