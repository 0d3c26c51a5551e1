//! `cargo xtask test`: every check of the repository, and one summary.

use crate::Context;
use crate::build::{self, EVERYTHING};
use crate::failure::Failure;
use crate::guests;
use crate::step::{Ended, Step};
use count::Count;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod count;

const FORMAT: Step = Step { name: "format", arguments: &["fmt", "--all", "--check"] };
const CLIPPY: Step = Step {
    name: "clippy",
    arguments: &["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"],
};
const NEXTEST: Step = Step {
    name: "tests",
    arguments: &["nextest", "run", "--release", "--workspace", "--no-fail-fast", "--no-tests", "pass"],
};
const CARGO_TEST: Step =
    Step { name: "tests", arguments: &["test", "--release", "--workspace", "--all-targets", "--no-fail-fast"] };
/// Nextest runs none of these.
const DOC_TESTS: Step =
    Step { name: "doc tests", arguments: &["test", "--release", "--workspace", "--doc", "--no-fail-fast"] };

/// A line of the summary.
struct Row {
    name: &'static str,
    by_hand: String,
    /// None when the step was not run.
    ended: Option<(bool, Duration)>,
}

impl Row {
    fn new(step: &Step, ended: Option<&Ended>) -> Self {
        Self { name: step.name, by_hand: step.by_hand(), ended: ended.map(|ended| (ended.success, ended.took)) }
    }

    fn succeeded(&self) -> bool {
        matches!(self.ended, Some((true, _)))
    }
}

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    build::add_target(context)?;
    let mut rows = Vec::new();
    for step in [&FORMAT, &CLIPPY, &EVERYTHING] {
        let ended = step.run(context)?;
        rows.push(Row::new(step, Some(&ended)));
    }
    rows.push(build_guests(context));
    let built = rows.iter().any(|row| row.name == EVERYTHING.name && row.succeeded());
    let runner = if has_nextest(context) { &NEXTEST } else { &CARGO_TEST };
    let mut count = Count::default();
    for step in [runner, &DOC_TESTS] {
        if !built {
            rows.push(Row::new(step, None));
            continue;
        }
        let ended = step.run_and_read(context)?;
        count.add(&ended.output);
        rows.push(Row::new(step, Some(&ended)));
    }
    summarise(context, &rows, count);
    if !rows.iter().all(Row::succeeded) {
        return Err(Failure::silent());
    }
    if count.passed == 0 {
        return Err(Failure::new("no test was counted although the runner succeeded: its summary was not understood"));
    }
    Ok(())
}

/// Failing, it is a line of the summary like any other step.
fn build_guests(context: &Context) -> Row {
    let by_hand = "cargo xtask guests";
    context.console.say(&context.console.dim(&format!("$ {by_hand}")));
    let start = Instant::now();
    let result = guests::run(context);
    if let Err(failure) = &result {
        failure.report(&context.console);
    }
    Row { name: "guests", by_hand: by_hand.to_owned(), ended: Some((result.is_ok(), start.elapsed())) }
}

fn has_nextest(context: &Context) -> bool {
    Command::new(crate::step::cargo())
        .args(["nextest", "--version"])
        .current_dir(&context.root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The table, and the count as the last line of all.
fn summarise(context: &Context, rows: &[Row], count: Count) {
    let console = &context.console;
    console.say("");
    console.say(&console.bold(&format!("{:<11}{:<9}{:>8}   to run it alone", "step", "result", "time")));
    for row in rows {
        let (result, time) = match row.ended {
            Some((true, took)) => (console.green(&format!("{:<9}", "ok")), seconds(took)),
            Some((false, took)) => (console.red(&format!("{:<9}", "FAILED")), seconds(took)),
            None => (console.yellow(&format!("{:<9}", "not run")), "-".to_owned()),
        };
        console.say(&format!("{:<11}{result}{time:>8}   {}", row.name, row.by_hand));
    }
    console.say("");
    let ran = rows.iter().any(|row| row.name == "tests" && row.ended.is_some());
    let note = match (ran, count.ignored) {
        (false, _) => " (not run: the build failed)".to_owned(),
        (true, 0) => String::new(),
        (true, ignored) => format!(", {ignored} ignored"),
    };
    console.say(&format!("tests: {} passed, {} failed{note}", count.passed, count.failed));
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}
