//! The sepia driver for Claude Code: what it keeps on disk, as sessions.
//!
//! A transcript is a file of JSON lines. Rows of a list come from its two ends and from the
//! title records between ([`summary`]); nodes come from one look through all lines that finds
//! the tree ([`gather`]) and one reading of their content ([`transcript`]). Pages need only
//! the tree and the lines of the page ([`history`]), a search only those that may match ([`search`]).

mod about;
mod assemble;
mod chain;
mod checkpoints;
mod content;
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
mod repairs;
mod search;
mod stub;
mod summary;
mod time;
mod title;
mod transcript;

use sepia_ir::{
    DriverError, HistoryPage, HistoryQuery, LockState, Manifest, ScanReport, SearchQuery, SearchReport, Session,
    SessionRef, StoreAccess, StoreKind, StoreRequest, Summary, SummaryDetail,
};
use sepia_sdk::{Driver, Host, NativeCopy, SessionRead, json, metadata};

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

sepia_sdk::export_driver!(Claude);
