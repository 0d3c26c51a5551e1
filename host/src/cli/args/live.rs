//! Arguments of the commands for live sessions.

use super::SessionArgs;
use std::path::PathBuf;

/// Who answers when the agent asks for a permission.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(in crate::cli) struct PermissionArgs {
    /// Allow everything that the agent asks for, once each
    #[arg(long, conflicts_with = "deny")]
    pub(in crate::cli) allow: bool,
    /// Refuse everything that the agent asks for; this holds too where no person can be asked
    #[arg(long)]
    pub(in crate::cli) deny: bool,
}

/// How a session goes live.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LiveArgs {
    /// Ask whoever holds the session to let go
    #[arg(long)]
    pub(in crate::cli) takeover: bool,
    /// Model that the agent is to use
    #[arg(long)]
    pub(in crate::cli) model: Option<String>,
    /// Models to use when that one refuses, commas between, for agents that know such a thing
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub(in crate::cli) fallbacks: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The answer goes to stdout, all else to stderr. Ctrl-C cancels the turn. On a terminal you are asked when the\n\
    agent asks. Exits with 1 when the turn failed or stopped early, with 130 when it was cancelled."
)]
pub(in crate::cli) struct PromptArgs {
    /// The session, by its id or the beginning of it, and the text; with --new the text alone.
    /// The text `-` is read from stdin
    #[arg(value_name = "SESSION> <TEXT", num_args = 1..=2, required = true)]
    pub(in crate::cli) words: Vec<String>,
    /// Begin a new session
    #[arg(long, conflicts_with = "takeover")]
    pub(in crate::cli) new: bool,
    /// The agent of the session
    #[arg(long)]
    pub(in crate::cli) agent: Option<String>,
    /// Where a new session works; by default the present directory
    #[arg(long, value_name = "DIR", requires = "new")]
    pub(in crate::cli) cwd: Option<PathBuf>,
    /// Title of a new session
    #[arg(long, requires = "new")]
    pub(in crate::cli) title: Option<String>,
    /// Name a file that the agent may read; several times for several
    #[arg(long = "file", value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) live: LiveArgs,
    #[command(flatten)]
    pub(in crate::cli) permission: PermissionArgs,
    /// Print events as JSON lines, as `session.event` has them
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Each line that you type is a prompt. Ctrl-C cancels the turn, Ctrl-D lets the session go.")]
pub(in crate::cli) struct AttachArgs {
    #[command(flatten)]
    pub(in crate::cli) session: SessionArgs,
    #[command(flatten)]
    pub(in crate::cli) live: LiveArgs,
    #[command(flatten)]
    pub(in crate::cli) permission: PermissionArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Shows what happens in all sessions that any sepia on this machine has live, as it is stored.")]
pub(in crate::cli) struct WatchArgs {
    /// Only this session, by its id or the beginning of it
    #[arg(value_name = "SESSION")]
    pub(in crate::cli) id: Option<String>,
    /// Only sessions of this agent
    #[arg(long)]
    pub(in crate::cli) agent: Option<String>,
    /// First what happened since then: `2d`, `3h`, `2026-01-31`, or ISO 8601
    #[arg(long, value_name = "TIME", value_parser = crate::cli::time::since)]
    pub(in crate::cli) since: Option<f64>,
    /// Print JSON lines
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
