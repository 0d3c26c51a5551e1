//! The arguments, and the help that describes them.

mod live;
mod writing;

pub(super) use live::{AttachArgs, LiveArgs, PermissionArgs, PromptArgs, WatchArgs};
pub(super) use writing::{
    ConvertArgs, DeleteArgs, DestinationArgs, ImportArgs, RenameArgs, RestoreArgs, RewindArgs, TrashCommand,
};

use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// One local session plane over all coding agents: find, read, move and resume their sessions.
#[derive(Debug, Parser)]
#[command(name = "sepia", version = version(), propagate_version = false, max_term_width = 100)]
#[command(
    after_help = "Environment: SEPIA_HOME (sepia's own files), SEPIA_DRIVER_DIR (more drivers), SEPIA_LOG (what to log,\n\
    e.g. debug). `sepia doctor` shows which stores were looked for where, and which variables move them."
)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List sessions, the newest first
    List(ListArgs),
    /// Find text in the titles and messages of all sessions, the newest first
    Search(SearchArgs),
    /// Show a session as a readable transcript
    Show(ShowArgs),
    /// Let a session's agent work on a prompt, here and now
    Prompt(PromptArgs),
    /// Go on with a session, prompt by prompt
    Attach(AttachArgs),
    /// Follow what happens in live sessions
    Watch(WatchArgs),
    /// Write a session out as JSON, as Markdown, or as its agent keeps it
    Export(ExportArgs),
    /// Copy a session into another agent's store, to be resumed there
    Convert(ConvertArgs),
    /// Write an exported session into an agent's store
    Import(ImportArgs),
    /// Give a session another title, as its agent would
    Rename(RenameArgs),
    /// Cut a session back to an earlier point
    Rewind(RewindArgs),
    /// Bring files that a session changed back to what they were
    Restore(RestoreArgs),
    /// Delete a session with all that belongs to it
    Delete(DeleteArgs),
    /// List, bring back or throw away what was deleted, cut back or written over
    #[command(subcommand)]
    Trash(TrashCommand),
    /// Keep a session in sight: it is marked in lists
    Pin(SessionArgs),
    /// Take that back
    Unpin(SessionArgs),
    /// Put a session away: `sepia list` leaves it out
    Archive(SessionArgs),
    /// Take that back
    Unarchive(SessionArgs),
    /// Keep sessions of any agent together under a name
    #[command(subcommand)]
    Project(ProjectCommand),
    /// Speak JSON-RPC on stdin and stdout, for editors and orchestrators
    Serve,
    /// List, check and allow drivers
    #[command(subcommand)]
    Driver(DriverCommand),
    /// Say what was looked for where, what is missing, and what to do
    Doctor,
    /// Print JSON Schema of everything that `sepia serve` takes and answers
    Schema,
}

/// Which sessions of all.
#[derive(Debug, clap::Args)]
pub(super) struct FilterArgs {
    /// Only sessions of this agent
    #[arg(long)]
    pub(super) agent: Option<String>,
    /// Only sessions of this directory (`.` for the present one)
    #[arg(long, value_name = "DIR")]
    pub(super) cwd: Option<PathBuf>,
    /// Only sessions active since then: `2d`, `3h`, `2026-01-31`, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = super::time::since)]
    pub(super) since: Option<f64>,
    /// Also sessions that their agent no longer lists
    #[arg(long)]
    pub(super) hidden: bool,
}

impl FilterArgs {
    /// The directory, absolute.
    pub(super) fn directory(&self) -> Option<String> {
        let dir = self.cwd.as_ref()?;
        Some(std::path::absolute(dir).unwrap_or_else(|_| dir.clone()).to_string_lossy().into_owned())
    }
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Before a title: ★ pinned, ▣ archived, ● held by a running agent, ↳ spawned by another session."
)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Only sessions of this project, by its id or name
    #[arg(long, value_name = "PROJECT")]
    pub(super) project: Option<String>,
    /// Also sessions that were archived
    #[arg(long)]
    pub(super) archived: bool,
    /// Only the newest N
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Also sessions that another session spawned
    #[arg(long)]
    pub(super) subagents: bool,
    /// Also those, each under the session that spawned it
    #[arg(long, conflicts_with = "json")]
    pub(super) tree: bool,
    /// Count messages, tools and tokens
    #[arg(long)]
    pub(super) stats: bool,
    /// Find out which sessions a running agent holds
    #[arg(long)]
    pub(super) locks: bool,
    /// Print JSON: the rows that `sessions.list` answers
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Printed elsewhere than on a terminal it is a line a hit, with tabs between: id, agent, time, part, node, text.\n\
    Parts: title, user, assistant, system, thinking, call (arguments of tools), result (what tools gave)."
)]
pub(super) struct SearchArgs {
    /// The text to find, as it stands
    pub(super) query: String,
    /// Take it as a regular expression; ^ and $ match at the ends of lines
    #[arg(long, short = 'e')]
    pub(super) regex: bool,
    /// Whatever the case of letters
    #[arg(long, short)]
    pub(super) ignore_case: bool,
    /// Look only at these parts of sessions, commas between
    #[arg(long = "in", value_name = "PARTS", value_delimiter = ',', value_parser = super::search::part)]
    pub(super) parts: Vec<sepia_ir::SearchPart>,
    #[command(flatten)]
    pub(super) filter: FilterArgs,
    /// Only the newest N sessions that match
    #[arg(long, value_name = "N", default_value_t = crate::plane::SearchRequest::LIMIT as usize)]
    pub(super) limit: usize,
    /// At most N hits of each, up to 100
    #[arg(long, value_name = "N", default_value_t = crate::plane::SearchRequest::HITS)]
    pub(super) hits: u32,
    /// Leave out sessions that another session spawned
    #[arg(long)]
    pub(super) top_level: bool,
    /// Print JSON: what `sessions.search` answers
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct SessionArgs {
    /// The session: its id, or the beginning of it
    pub(super) id: String,
    /// Its agent, where two have the id
    #[arg(long)]
    pub(super) agent: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// Only the newest N messages
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<u32>,
    /// Every branch in the order of the store, not only the live one
    #[arg(long)]
    pub(super) all: bool,
    /// Whole tool arguments and results, and reasoning
    #[arg(long)]
    pub(super) full: bool,
    /// Print JSON: the page that `sessions.history` answers
    #[arg(long)]
    pub(super) json: bool,
    /// Do not page on a terminal
    #[arg(long)]
    pub(super) no_pager: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    pub(super) session: SessionArgs,
    /// Write to this file, readable by you alone, instead of stdout
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// The agent's own bytes, verbatim, instead of JSON
    #[arg(long)]
    pub(super) native: bool,
    /// Markdown of the live branch, to be read, instead of JSON
    #[arg(long, conflicts_with_all = ["native", "structure"])]
    pub(super) markdown: bool,
    /// With all keys and passwords that are in it; otherwise they are taken out
    #[arg(long, conflicts_with = "native")]
    pub(super) verbatim: bool,
    /// Only the structure: roles, times, tools, counts and lengths, and no text
    #[arg(long, conflicts_with_all = ["native", "verbatim"])]
    pub(super) structure: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct NewArgs {
    /// Id of the driver: a-z, 0-9 and -, beginning with a letter
    pub(super) name: String,
    /// Where to write it; by default the folder sepia-driver-NAME here
    #[arg(long)]
    pub(super) dir: Option<PathBuf>,
    /// A checkout of sepia to take sepia-sdk from; by default the one around the present directory
    #[arg(long, value_name = "PATH")]
    pub(super) sdk: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The driver sees copies of the stores given here and empty folders for the others; what is on this machine is\n\
    never shown to it. Links that lead out of a store are not copied. Exits with 1 when a law is broken."
)]
pub(super) struct CheckArgs {
    /// A component, a program, or the id of a driver in `sepia driver list`
    pub(super) driver: String,
    /// Try it on a copy of this folder as its store NAME; of a program that tells no stores,
    /// NAME is the environment variable that moves one
    #[arg(long = "store", value_name = "NAME=DIR", value_parser = super::check::store)]
    pub(super) stores: Vec<(String, PathBuf)>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum DriverCommand {
    /// List all drivers that were found, and what became of each
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a small driver that works, to start from
    New(NewArgs),
    /// Try a driver, also one that is not allowed yet, on the laws that every driver keeps
    Check(CheckArgs),
    /// Allow a third-party driver the stores that it asks for
    Allow {
        /// Its id in the list
        id: String,
    },
    /// Take that back
    Revoke {
        /// Its id in the list
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum ProjectCommand {
    /// List all projects
    List {
        /// Print JSON: what `projects.list` answers
        #[arg(long)]
        json: bool,
    },
    /// Make a project, and print its id
    Create {
        /// Its name
        name: String,
    },
    /// Give a project another name
    Rename {
        /// Its id or name
        project: String,
        /// The new name
        name: String,
    },
    /// Delete a project; its sessions stay
    Delete {
        /// Its id or name
        project: String,
    },
    /// Put a session into a project
    Add(ProjectSessionArgs),
    /// Take a session out of a project
    Remove(ProjectSessionArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ProjectSessionArgs {
    /// The project: its id or name
    pub(super) project: String,
    /// The session: its id, or the beginning of it
    #[arg(value_name = "SESSION")]
    pub(super) id: String,
    /// Its agent, where two have the id
    #[arg(long)]
    pub(super) agent: Option<String>,
}

/// The program's version, and that of the sandbox that drivers run in.
fn version() -> &'static str {
    concat!(env!("CARGO_PKG_VERSION"), " (wasmtime ", env!("SEPIA_WASMTIME_VERSION"), ")")
}
