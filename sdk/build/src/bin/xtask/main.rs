//! The commands of this repository: `cargo xtask <command>`. One file a command.
//!
//! It is compiled before anything else is, so it stands on the standard library, JSON, and
//! `sepia-build`.

mod agents;
mod bench;
mod build;
mod console;
mod demo;
mod failure;
mod fmt;
mod guests;
mod help;
mod schema;
mod step;
mod test;

use console::Console;
use failure::Failure;
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

/// What every command needs to know.
struct Context {
    /// Root of the workspace.
    root: PathBuf,
    /// Where to say things.
    console: Console,
}

fn main() -> ExitCode {
    let console = Console::detect();
    let arguments: Vec<String> = env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match run(console, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report(&console);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(console: Console, arguments: &[String]) -> Result<(), Failure> {
    let (command, rest) = match arguments {
        [] => ("help", &[][..]),
        [command, rest @ ..] => (command.as_str(), rest),
    };
    if matches!(command, "help" | "--help" | "-h") || rest.iter().any(|a| a == "--help" || a == "-h") {
        help::print(&console);
        return Ok(());
    }
    let here = env::current_dir().map_err(|error| {
        Failure::new(format!("the current folder can't be read ({error}): change into another one"))
    })?;
    // Started through cargo from a folder outside, the manifest still says which checkout it is.
    let root = sepia_build::workspace_root(&here)
        .or_else(|_| sepia_build::workspace_root(env!("CARGO_MANIFEST_DIR").as_ref()))?;
    let context = Context { root, console };
    let takes_arguments = matches!(command, "agents" | "bench");
    if let (false, Some(first)) = (takes_arguments, rest.first()) {
        return Err(Failure::usage(format!("`{command}` takes no arguments, but got `{first}`: leave it out")));
    }
    match command {
        "agents" => agents::run(&context, rest),
        "build" => build::run(&context),
        "test" => test::run(&context),
        "demo" => demo::run(&context),
        "bench" => bench::run(&context, rest),
        "fmt" => fmt::run(&context),
        "guests" => guests::run(&context),
        "schema" => schema::run(&context),
        other => Err(Failure::usage(format!("there is no command `{other}`: `cargo xtask help` lists them"))),
    }
}
