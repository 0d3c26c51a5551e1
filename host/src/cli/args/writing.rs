//! Arguments of the commands that write.

use super::SessionArgs;
use clap::Subcommand;
use std::path::PathBuf;

/// Where a session is to go.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DestinationArgs {
    /// The agent that shall have it
    #[arg(long, value_name = "AGENT")]
    pub(in crate::cli) to: String,
    /// Where it is to work, instead of where it did (`.` for the present directory)
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) cwd: Option<PathBuf>,
    /// Another title
    #[arg(long)]
    pub(in crate::cli) title: Option<String>,
    /// Another model
    #[arg(long)]
    pub(in crate::cli) model: Option<String>,
    /// Say what would happen and what its agent can't hold, and write nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "The session stays where it is; the copy is a session of its own, which its agent resumes.")]
pub(in crate::cli) struct ConvertArgs {
    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,
    #[command(flatten)]
    pub(in crate::cli) to: DestinationArgs,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ImportArgs {
    /// What `sepia export` wrote; `-` for stdin
    pub(in crate::cli) file: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) to: DestinationArgs,
    /// The id that it shall have, instead of a fresh one
    #[arg(long)]
    pub(in crate::cli) id: Option<String>,
    /// Write over a session of that id; what it was goes into the trash
    #[arg(long, requires = "id")]
    pub(in crate::cli) replace: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RenameArgs {
    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,
    /// The new title, one line
    pub(in crate::cli) title: String,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "`sepia trash restore` brings it back.")]
pub(in crate::cli) struct DeleteArgs {
    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,
    /// Say what would go, and take nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Also when a running agent holds it
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// For good, not into the trash
    #[arg(long)]
    pub(in crate::cli) permanently: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("cut").required(true))]
pub(in crate::cli) struct RewindArgs {
    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,
    /// Take back the last N prompts and all that followed
    #[arg(long, value_name = "N", group = "cut", value_parser = clap::value_parser!(u32).range(1..))]
    pub(in crate::cli) turns: Option<u32>,
    /// Keep through this node (`sepia show --json` has their ids)
    #[arg(long, value_name = "ID", group = "cut")]
    pub(in crate::cli) node: Option<i64>,
    /// Keep what is as old as this checkpoint
    #[arg(long, value_name = "REF", group = "cut")]
    pub(in crate::cli) checkpoint: Option<String>,
    /// Say what would go, and cut nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Also when a running agent holds it
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(in crate::cli) struct RestoreArgs {
    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,
    /// Undo the changes that the session recorded of this file
    #[arg(long, value_name = "FILE", group = "what")]
    pub(in crate::cli) path: Option<String>,
    /// Only those of this tool call
    #[arg(long, value_name = "CALL", requires = "path")]
    pub(in crate::cli) call: Option<String>,
    /// Bring files back to this checkpoint
    #[arg(long, value_name = "REF", group = "what")]
    pub(in crate::cli) checkpoint: Option<String>,
    /// Only these files of it
    #[arg(long, value_name = "FILES", value_delimiter = ',', requires = "checkpoint")]
    pub(in crate::cli) only: Vec<String>,
    /// Say what would happen, and write nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Also when a running agent holds the session
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TrashCommand {
    /// List what was deleted, cut back or written over, the newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring something back
    Restore {
        /// Its name in the list, or the beginning of it, or of the session's id
        entry: String,
    },
    /// Throw things away for good
    Empty {
        /// Only this one
        entry: Option<String>,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}
