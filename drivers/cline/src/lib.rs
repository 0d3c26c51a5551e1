//! The sepia driver for Cline: what it keeps on disk, as sessions.
//!
//! The command line program keeps a folder a session ([`place`]): a manifest ([`facts`]), which
//! with the index ([`database`]) makes the row of a list ([`session`]), and the messages as
//! one JSON document ([`elements`]), which are looked through once ([`gather`]) and then read
//! where they are ([`transcript`], [`history`]). The editor's extension keeps tasks
//! ([`task`]), which are read with the same parts. What is written is described in [`write`].

mod about;
mod carried;
mod carried_header;
mod changes;
mod compaction;
mod content;
mod database;
mod elements;
mod facts;
mod gather;
mod head;
mod history;
mod index;
mod index_blob;
mod json_value;
mod locate;
mod locks;
mod native;
mod nodes;
mod pieces;
mod place;
mod read_back;
mod record;
mod result;
mod scan;
mod search;
mod session;
mod spoken;
mod stats;
mod summary;
mod task;
mod text;
mod time;
mod title;
mod transcript;
mod window;
mod write;

use sepia_ir::{
    Artifact, DeleteOutcome, DriverError, HistoryPage, HistoryQuery, LockState, Manifest, RewindPlan, SaveOptions,
    SaveReport, ScanReport, SearchQuery, Session, SessionRef, StoreAccess, StoreKind, StoreRequest, Summary,
    SummaryDetail, ToolUse,
};
use sepia_sdk::{Driver, Host, NativeCopy, Nodes, SessionRead, SessionWrite};

use read_back::ReadBack;

pub use transcript::ClineTranscript;
pub use write::ClineDraft;

/// The driver.
#[derive(Debug)]
pub struct Cline;

impl Driver for Cline {
    fn manifest() -> Manifest {
        let directory = |name: &str, env: &[&str], default_path: &str, access, links: &[&str]| StoreRequest {
            name: name.to_owned(),
            env: env.iter().map(|name| (*name).to_owned()).collect(),
            default_path: default_path.to_owned(),
            kind: StoreKind::Directory,
            access,
            follow_links_in: links.iter().map(|place| (*place).to_owned()).collect(),
        };
        Manifest {
            id: "cline".to_owned(),
            label: "Cline".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend_type: session::BACKEND.to_owned(),
            stores: vec![
                directory(
                    place::STORE,
                    &["SEPIA_CLINE_DIR", "CLINE_DATA_DIR", "CLINE_DIR/data"],
                    "~/.cline/data",
                    StoreAccess::ReadWrite,
                    &[place::SESSIONS, place::TASKS],
                ),
                directory(
                    place::EXTENSION,
                    &["SEPIA_CLINE_EXTENSION_DIR"],
                    "$XDG_CONFIG_HOME/Code/User/globalStorage/saoudrizwan.claude-dev",
                    StoreAccess::ReadWrite,
                    &[place::TASKS],
                ),
            ],
            agent_command: vec!["cline".to_owned(), "--acp".to_owned()],
            config_schema: r#"{"type":"object","properties":{"dataDir":{"type":"string","description":"data directory of Cline; the default is ~/.cline/data"},"extensionDir":{"type":"string","description":"storage of the editor's extension; the default is that of VS Code"}}}"#.to_owned(),
        }
    }
}

impl SessionRead for Cline {
    type Transcript = ClineTranscript;

    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        scan::scan(host)
    }

    fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        Ok(summary::summaries(host, keys, detail))
    }

    fn summary_of(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
        transcript::row(host, session)
    }

    fn open(host: &Host, session: &SessionRef) -> Result<ClineTranscript, DriverError> {
        ClineTranscript::open(host, session)
    }

    fn history(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        history::page(host, session, query)
    }

    fn native(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
        native::copy(host, session)
    }

    fn may_hold(host: &Host, keys: &[String], query: &SearchQuery) -> Result<Vec<bool>, DriverError> {
        search::may_hold(host, keys, query)
    }

    fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
        locks::locks(host)
    }
}

impl SessionWrite for Cline {
    type Draft = ClineDraft;

    fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<ClineDraft, DriverError> {
        ClineDraft::begin(host, header, options)
    }

    fn read_back(host: &Host, written: &SaveReport) -> Result<Box<dyn Nodes>, DriverError> {
        Ok(Box::new(ReadBack::open(host, &written.id)?))
    }

    fn rename(host: &Host, session: &SessionRef, title: &str) -> Result<(), DriverError> {
        write::rename(host, session, title)
    }

    fn plan_delete(host: &Host, session: &SessionRef) -> Result<Vec<Artifact>, DriverError> {
        write::plan(host, session)
    }

    fn delete(host: &Host, session: &SessionRef) -> Result<DeleteOutcome, DriverError> {
        write::delete(host, session)
    }

    fn undelete(host: &Host, undo: &[u8]) -> Result<(), DriverError> {
        write::undelete(host, undo)
    }

    fn rewind(host: &Host, session: &SessionRef, plan: &RewindPlan, header: Session) -> Result<(), DriverError> {
        write::rewind(host, session, plan, header)
    }

    fn common_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        write::tools::common(calls)
    }

    fn own_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        write::tools::own(calls)
    }
}

sepia_sdk::export_driver!(Cline, write);
