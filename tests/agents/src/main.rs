//! `cargo xtask agents`: sessions that were converted are resumed by the agents' own programs,
//! and what their model is shown is compared with what the source holds; before that the same
//! programs are live behind `sepia serve`. Something missing is exit code 1.
//!
//! ```text
//! programs       Claude Code and Cline, installed      model_server   stands in for the model
//! machine        a home and a store for one proof      samples        stores to convert from
//! sepia          the program that converts             resume         a session, and one turn more
//! conversation   what is shown against what is held    report         what is printed
//! matrix         all pairs of agents                   self_check     the same without converting
//! process_group  runs everything, with a limit         by_hand        the least that resumes
//! live           live sessions, from first to last     acp            speaks to a program itself
//! ```

mod acp;
mod by_hand;
mod conversation;
mod live;
mod machine;
mod matrix;
mod model_server;
mod options;
mod process_group;
mod programs;
mod report;
mod resume;
mod samples;
mod self_check;
mod sepia;

use options::Options;
use programs::Programs;
use resume::Resumer;
use sepia::Sepia;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

/// Anything that stops a proof.
type Failed = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match prove(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _gone = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether all was well.
fn prove(arguments: &[String]) -> Result<bool, Failed> {
    let options = Options::of(arguments)?;
    let programs = Programs::in_folder(&options.folder)?;
    if options.time {
        live::timing::tell(&options, &programs)?;
        return Ok(true);
    }
    let is_live = !options.has_live() || live::prove(&options, &programs)?;
    if options.live {
        return Ok(is_live);
    }
    let resumer = Resumer::new(programs)?;
    let sepia = Sepia { program: options.program.clone() };
    let report = if options.self_check {
        self_check::prove(&options, &sepia, &resumer)?
    } else {
        matrix::prove(&options, &sepia, &resumer)?
    };
    Ok(report.end() && is_live)
}

/// A line for whoever started this.
fn say(line: &str) {
    // With nobody left to read it, the exit code still tells.
    let _gone = writeln!(std::io::stdout().lock(), "{line}");
}
