//! The command line: arguments in, text for people or JSON out. No decisions of its own; what
//! is done is done by the plane and the registry.

mod args;
mod attach;
mod check;
mod controls;
mod convert;
mod delete;
mod doctor;
mod driver;
mod exit;
mod export;
mod import;
mod list;
mod logging;
mod mark;
mod markdown;
mod new;
mod output;
mod pager;
mod project;
mod prompt;
mod rename;
mod restore;
mod rewind;
mod saved;
mod schema;
mod search;
mod serve;
mod setup;
mod show;
mod signals;
mod table;
mod talk;
mod time;
mod transcript;
mod trash;
mod tree;
mod watch;

use args::{Args, Command};
use clap::Parser;
use exit::Failure;
use std::process::ExitCode;

/// Parses the arguments and does what they say.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::of_usage(&error),
    };
    logging::start();
    exit::of(run(args.command))
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        // Needs neither drivers nor a runtime.
        Command::Schema => schema::run(),
        Command::Serve => setup::runtime()?.block_on_then_leave(serve::run()),
        Command::List(args) => setup::runtime()?.block_on(list::run(args)),
        Command::Search(args) => setup::runtime()?.block_on(search::run(args)),
        Command::Show(args) => setup::runtime()?.block_on(show::run(args)),
        Command::Prompt(args) => setup::runtime()?.block_on_taking_signals(|stop| prompt::run(args, stop)),
        Command::Attach(args) => setup::runtime()?.block_on_taking_signals(|stop| attach::run(args, stop)),
        Command::Watch(args) => setup::runtime()?.block_on(watch::run(args)),
        Command::Export(args) => setup::runtime()?.block_on(export::run(args)),
        Command::Convert(args) => setup::runtime()?.block_on(convert::run(args)),
        Command::Import(args) => setup::runtime()?.block_on(import::run(args)),
        Command::Rename(args) => setup::runtime()?.block_on(rename::run(args)),
        Command::Rewind(args) => setup::runtime()?.block_on(rewind::run(args)),
        Command::Restore(args) => setup::runtime()?.block_on(restore::run(args)),
        Command::Delete(args) => setup::runtime()?.block_on(delete::run(args)),
        Command::Trash(command) => setup::runtime()?.block_on(trash::run(command)),
        Command::Pin(args) => setup::runtime()?.block_on(mark::run(args, mark::Mark::Pinned(true))),
        Command::Unpin(args) => setup::runtime()?.block_on(mark::run(args, mark::Mark::Pinned(false))),
        Command::Archive(args) => setup::runtime()?.block_on(mark::run(args, mark::Mark::Archived(true))),
        Command::Unarchive(args) => setup::runtime()?.block_on(mark::run(args, mark::Mark::Archived(false))),
        Command::Project(command) => setup::runtime()?.block_on(project::run(command)),
        Command::Driver(command) => setup::runtime()?.block_on(driver::run(command)),
        Command::Doctor => setup::runtime()?.block_on(doctor::run()),
    }
}
