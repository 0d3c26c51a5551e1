//! The sepia driver for Cursor: what its command line and its IDE keep on disk, as sessions.
//!
//! ```text
//! places, key, scan     the spaces, and what may hold sessions
//! sources               the sessions of a key, from the best of its sources
//!   chat                  store.db of the command line: settings, root, sub-agents
//!     conversation          the messages of a root in order, and what its turns tell
//!     message               a message of the model's view
//!     opening, work         how it begins; tasks, summary and plan
//!   composer, bubbles     the IDE's database
//!   workspaces            databases of workspaces, and chats of the oldest versions
//!   projection            transcripts: lines, and the older flat files
//! record                a session that was found
//! step, facts           its messages as nodes, and what one look through them tells
//! transcript, history   a session from its start to its end, and one page of it
//! saved                 what rides along in a chat that came from elsewhere
//! write                 chats being written
//! ```

mod blobs;
mod bubbles;
mod chat;
mod composer;
mod conversation;
mod facts;
mod flat;
mod history;
mod ide;
mod json;
mod key;
mod lines;
mod locate;
mod locks;
mod message;
mod native;
mod opening;
mod outcome;
mod places;
mod projection;
mod prompt;
#[rustfmt::skip]
mod proto;
mod record;
mod saved;
mod scan;
mod sources;
mod step;
mod time;
mod transcript;
mod uri;
mod work;
mod workspaces;
mod write;

use sepia_ir::{
    Artifact, DeleteOutcome, DriverError, HistoryPage, HistoryQuery, LockState, Manifest, RewindPlan, SaveOptions,
    SaveReport, ScanReport, Session, SessionRef, StoreAccess, StoreKind, StoreRequest, Summary, SummaryDetail, ToolUse,
};
use sepia_sdk::{Driver, Host, NativeCopy, Nodes, SessionRead, SessionWrite};

use transcript::CursorNodes;

pub use transcript::CursorTranscript;
pub use write::CursorDraft;

/// The driver.
#[derive(Debug)]
pub struct Cursor;

impl Driver for Cursor {
    fn manifest() -> Manifest {
        let store = |name: &str, env: &[&str], default_path: &str, access: StoreAccess| StoreRequest {
            name: name.to_owned(),
            env: env.iter().map(ToString::to_string).collect(),
            default_path: default_path.to_owned(),
            kind: StoreKind::Directory,
            access,
            follow_links_in: Vec::new(),
        };
        let mut cursor =
            store(places::CURSOR, &["SEPIA_CURSOR_DIR", "CURSOR_DATA_DIR"], "~/.cursor", StoreAccess::ReadWrite);
        cursor.follow_links_in = ["chats", "projects"].map(str::to_owned).to_vec();
        Manifest {
            id: "cursor".to_owned(),
            label: "Cursor".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend_type: record::BACKEND.to_owned(),
            stores: vec![
                cursor,
                store(places::CONFIG, &["SEPIA_CURSOR_CONFIG_DIR"], "$XDG_CONFIG_HOME/cursor", StoreAccess::ReadWrite),
                store(places::IDE, &["SEPIA_CURSOR_IDE_DIR"], "$XDG_CONFIG_HOME/Cursor/User", StoreAccess::Read),
            ],
            agent_command: vec!["cursor-agent".to_owned(), "acp".to_owned()],
            config_schema: r#"{"type":"object","properties":{"dir":{"type":"string","description":"directory of Cursor; the default is ~/.cursor"}}}"#.to_owned(),
        }
    }
}

impl SessionRead for Cursor {
    type Transcript = CursorTranscript;

    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        scan::scan(host)
    }

    fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        let stores = sources::Stores::of(host);
        keys.iter().map(|key| stores.summary(key, detail)).collect()
    }

    fn summary_of(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
        Ok(locate::locate(host, session)?.in_full()?.0)
    }

    fn open(host: &Host, session: &SessionRef) -> Result<CursorTranscript, DriverError> {
        CursorTranscript::open(host, session)
    }

    fn history(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        history::page(host, session, query)
    }

    fn native(host: &Host, session: &SessionRef) -> Result<Box<dyn NativeCopy>, DriverError> {
        native::copy(host, session)
    }

    fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
        locks::locks(host)
    }
}

impl SessionWrite for Cursor {
    type Draft = CursorDraft;

    fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<CursorDraft, DriverError> {
        CursorDraft::begin(host, header, options)
    }

    fn read_back(host: &Host, written: &SaveReport) -> Result<Box<dyn Nodes>, DriverError> {
        Ok(Box::new(CursorNodes::read_back(host, &written.id)?))
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

    fn rewind(host: &Host, session: &SessionRef, plan: &RewindPlan, header: Session) -> Result<(), DriverError> {
        write::rewind(host, session, plan, &header)
    }

    fn common_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        write::common(calls)
    }

    fn own_tools(calls: &[ToolUse]) -> Vec<Option<ToolUse>> {
        write::own(calls)
    }
}

sepia_sdk::export_driver!(Cursor, write);
