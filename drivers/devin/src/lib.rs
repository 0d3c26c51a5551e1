//! The sepia driver for Devin for Terminal: what it keeps on disk, as sessions.
//!
//! All sessions are in one SQLite database that a running agent writes to. Their messages are
//! a forest ([`forest`]) in which the live branch is one of many; most of what is off it are
//! copies. List rows come from small columns alone ([`scan`], [`row`]); a node comes from its
//! own row ([`draft`]) and from what others tell of it ([`facts`]).
//!
//! Locks and transcripts lie beside the database, wherever that is.
//!
//! [`write`] writes, renames, deletes and rewinds sessions. What a row has no place for rides along
//! in it and is put back when it is read ([`carry`]).

mod atif;
mod carry;
mod content;
mod draft;
mod facts;
mod forest;
mod gather;
mod glance;
mod heads;
mod history;
mod locks;
mod message;
mod order;
mod outcome;
mod place;
mod prompts;
mod read_back;
mod row;
mod rows;
mod scan;
mod schema;
mod session;
mod stats;
mod summary;
mod time;
mod title;
mod transcript;
mod value;
mod write;

use sepia_ir::{
    DriverError, HistoryPage, HistoryQuery, LockState, Manifest, ScanReport, Session, SessionRef, StoreAccess,
    StoreKind, StoreRequest, Summary, SummaryDetail,
};
use sepia_sdk::{Driver, Host, SessionRead};

pub use transcript::DevinTranscript;
pub use write::DevinDraft;

/// The driver.
#[derive(Debug)]
pub struct Devin;

impl Driver for Devin {
    fn manifest() -> Manifest {
        let store = |name: &str, env: &str, default_path: &str, kind| StoreRequest {
            name: name.to_owned(),
            env: vec![env.to_owned()],
            default_path: default_path.to_owned(),
            kind,
            access: StoreAccess::ReadWrite,
            follow_links_in: Vec::new(),
        };
        Manifest {
            id: "devin".to_owned(),
            label: "Devin".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend_type: row::BACKEND.to_owned(),
            stores: vec![
                store(place::DATABASE, "SEPIA_DEVIN_DB", "$XDG_DATA_HOME/devin/cli/sessions.db", StoreKind::Database),
                store(place::FOLDER, "SEPIA_DEVIN_DB/..", "$XDG_DATA_HOME/devin/cli", StoreKind::Directory),
            ],
            agent_command: vec!["devin".to_owned(), "acp".to_owned()],
            config_schema: r#"{"type":"object","properties":{"db":{"type":"string","description":"database of the sessions; the default is sessions.db in $XDG_DATA_HOME/devin/cli. Locks and transcripts are looked for beside it"}}}"#.to_owned(),
        }
    }
}

impl SessionRead for Devin {
    type Transcript = DevinTranscript;

    fn scan(host: &Host) -> Result<ScanReport, DriverError> {
        Ok(scan::scan(host))
    }

    fn summaries(host: &Host, keys: &[String], detail: SummaryDetail) -> Result<Vec<Summary>, DriverError> {
        summary::summaries(host, keys, detail)
    }

    fn summary_of(host: &Host, session: &SessionRef) -> Result<Session, DriverError> {
        summary::row(host, session)
    }

    fn open(host: &Host, session: &SessionRef) -> Result<DevinTranscript, DriverError> {
        DevinTranscript::open(host, session, transcript::WHOLE)
    }

    fn history(host: &Host, session: &SessionRef, query: &HistoryQuery) -> Result<HistoryPage, DriverError> {
        history::page(host, session, query, transcript::WHOLE)
    }

    fn locks(host: &Host) -> Result<Vec<LockState>, DriverError> {
        locks::locks(host)
    }
}

impl Devin {
    /// What a listing asks the database of sessions, for tests of how it is answered.
    #[doc(hidden)]
    pub fn listing_queries(host: &Host) -> Result<Vec<String>, DriverError> {
        let opened = place::open(host, place::Source::Current)?;
        Ok(opened.iter().flat_map(|opened| [scan::sql(opened, true), row::sql(opened)]).collect())
    }
}

sepia_sdk::export_driver!(Devin, write);
