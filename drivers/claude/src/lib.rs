//! The sepia driver for Claude Code: what it keeps on disk, as sessions.
//!
//! A transcript is a file of JSON lines. Rows of a list come from its two ends and from the
//! title records between ([`summary`]); nodes come from one look through all lines that finds
//! the tree ([`gather`]) and one reading of their content ([`transcript`]). Pages need only
//! the tree and the lines of the page ([`history`]), a search only those that may match ([`search`]).
//!
//! What is written are records that the agent's own program resumes ([`save`]). What these have no place for rides along in them, and
//! is put back when they are read ([`restoring`]).

mod about;
mod assemble;
mod chain;
mod checkpoint_files;
mod checkpoints;
mod content;
mod delete;
mod draft;
mod ends;
mod entry;
mod gather;
mod history;
mod ids;
mod index;
mod index_blob;
mod lines;
mod locks;
mod native;
mod outcome;
mod outline;
mod place;
mod projection;
mod prompt;
mod prompts;
mod rename;
mod repairs;
mod restoring;
mod rewind;
mod save;
mod search;
mod stub;
mod summary;
mod time;
mod title;
mod tools;
mod transcript;
mod typed;

use sepia_ir::{
    Artifact, DeleteOutcome, DriverError, FileVersion, HistoryPage, HistoryQuery, LockState, Manifest, RewindPlan,
    SaveOptions, SaveReport, ScanReport, SearchQuery, SearchReport, Session, SessionRef, StoreAccess, StoreKind,
    StoreRequest, Summary, SummaryDetail, ToolUse,
};
use sepia_sdk::{Driver, Host, NativeCopy, Nodes, SessionRead, SessionWrite, json, metadata};

pub use save::ClaudeDraft;
pub use transcript::ClaudeTranscript;

/// The driver.
#[derive(Debug)]
pub struct Claude;

impl Driver for Claude {
    fn manifest() -> Manifest {
        Manifest {
            id: "claude".to_owned(),
            label: "Claude Code".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend_type: summary::BACKEND.to_owned(),
            stores: vec![StoreRequest {
                name: place::STORE.to_owned(),
                env: vec!["SEPIA_CLAUDE_DIR".to_owned(), "CLAUDE_CONFIG_DIR".to_owned()],
                default_path: "~/.claude".to_owned(),
                kind: StoreKind::Directory,
                access: StoreAccess::ReadWrite,
                follow_links_in: vec![place::PROJECTS.to_owned()],
            }],
            agent_command: vec!["claude-agent-acp".to_owned()],
            config_schema: r#"{"type":"object","properties":{"dir":{"type":"string","description":"directory of Claude Code; the default is ~/.claude"}}}"#.to_owned(),
        }
    }
}

impl SessionRead for Claude {
    type Transcript = ClaudeTranscript;

    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        place::scan(host)
    }

    fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        Ok(keys.iter().map(|key| summary::summary(host, key, detail)).collect())
    }

    fn summary_of(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
        transcript::row(host, session)
    }

    fn open(host: &Host, session: &SessionRef) -> Result<ClaudeTranscript, DriverError> {
        ClaudeTranscript::open(host, session)
    }

    fn history(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        history::page(host, session, query)
    }

    fn native(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
        native::copy(host, session)
    }

    fn search(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<SearchReport>, DriverError> {
        search::search(host, keys, query)
    }

    fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
        locks::locks(host)
    }
}

impl SessionWrite for Claude {
    type Draft = ClaudeDraft;

    fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<ClaudeDraft, DriverError> {
        ClaudeDraft::begin(host, header, options)
    }

    fn read_back(host: &Host, written: &SaveReport) -> Result<Box<dyn Nodes>, DriverError> {
        Ok(Box::new(transcript::read_back(host, written)?))
    }

    fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
        rename::rename(host, session, title)
    }

    fn plan_delete(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
        delete::plan(host, session)
    }

    fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
        delete::delete(host, session)
    }

    fn undelete(host: &Host, undo: &[u8]) -> Result<(), DriverError> {
        typed::put_back(host, undo)
    }

    fn rewind(host: &Host, session: &SessionRef, plan: &RewindPlan, header: Session) -> Result<(), DriverError> {
        rewind::rewind(host, session, plan, &header)
    }

    fn checkpoint_files(host: &Host, session: &SessionRef, checkpoint: &str) -> Result<Vec<FileVersion>, DriverError> {
        checkpoint_files::read(host, session, checkpoint)
    }

    fn common_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        tools::to_common(calls)
    }

    fn own_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        tools::from_common(calls)
    }
}

sepia_sdk::export_driver!(Claude, write);
