//! `cargo xtask bench`: the release program and, in turn, bare native programs that do the
//! same work with nothing around it. What the program says is compared with what was written
//! before a time counts; a missed bar or a wrong row is exit code 1.
//!
//! ```text
//! store    makes a store and its truth     truth   reads a truth, and times from the records
//! native   the bare programs               check   output against truth
//! child    one process, measured           client  one `sepia serve`, spoken to
//! tasks    what is timed, with its bar     table   what is printed
//! others   stores of other agents
//! live     live sessions                   agent   the agent of these, by a script
//! ```

mod check;
mod child;
mod client;
mod listing;
mod live;
mod median;
mod moving;
mod native;
mod options;
mod others;
mod store;
mod table;
mod tasks;
mod truth;

use options::Options;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

/// Anything that stops the bench.
type Failed = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("agent", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return sepia_scripted_agent::run(rest.iter().map(Into::into).collect());
    }
    let done = match arguments.split_first() {
        Some((first, rest)) if first == "native" => native::run(rest).map(|()| true),
        _ => bench(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _gone = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether every bar was held.
fn bench(arguments: &[String]) -> Result<bool, Failed> {
    let options = Options::of(arguments)?;
    let place = match &options.store {
        Some(place) => place.clone(),
        None => store::make(&options)?,
    };
    let truth = truth::read(&place)?;
    say(&format!(
        "{} sessions, {} MB; {} rounds, medians",
        truth.sessions.len(),
        truth.bytes() / 1_000_000,
        options.rounds
    ));
    let ground = tasks::Ground::new(&options, place, truth)?;
    let rows = ground.run()?;
    Ok(table::print(&rows)?)
}

fn say(line: &str) {
    let _gone = writeln!(std::io::stderr(), "{line}");
}
