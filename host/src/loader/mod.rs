//! How a driver is brought in, and the one face that it shows afterwards.
//!
//! [`Driver`] is the port: the registry and the plane see nothing else, and cannot tell a
//! component from a program. Each loader has a folder. No agent and no wire is known here.

pub mod check;
pub mod component;
pub mod fault;
mod manifest;
pub mod process;
mod scan_basis;
mod search_by_reading;

pub use fault::{Fault, FaultKind, LoadError, LoadErrorKind};
pub(crate) use manifest::is_name;
pub use scan_basis::ScanBasis;
pub(crate) use scan_basis::{Question, Trace};

use async_trait::async_trait;
use sepia_ir::{
    Artifact, CheckpointRef, DeleteOutcome, FileVersion, HistoryPage, HistoryQuery, LockState, Manifest, MessageNode,
    RewindPlan, SaveOptions, SaveReport, ScanReport, SearchQuery, SearchReport, Session, SessionRef, Summary,
    SummaryDetail, ToolUse,
};
use sepia_services::TrashEntry;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a driver can do, in the order in which it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Capability {
    /// Listing and reading sessions.
    SessionRead,
    /// Writing them.
    SessionWrite,
    /// Reading and writing configuration.
    AgentConfig,
}

impl Capability {
    /// Name on the wire and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionRead => "sessionRead",
            Self::SessionWrite => "sessionWrite",
            Self::AgentConfig => "agentConfig",
        }
    }
}

/// How a driver was brought in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A component in a sandbox.
    Component,
    /// A native library; found, and not brought in by this build.
    Library,
    /// A program that is spoken to over its stdio.
    Process,
}

impl Form {
    /// Name on the wire and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Component => "component",
            Self::Library => "library",
            Self::Process => "process",
        }
    }
}

/// Where a driver came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Built into this program.
    Embedded,
    /// A file on disk.
    File(PathBuf),
}

/// What is known of a driver that can be used.
#[derive(Debug, Clone)]
pub struct About {
    /// What it says of itself.
    pub manifest: Manifest,
    /// What it can do, as found out by the loader, not as claimed.
    pub capabilities: Vec<Capability>,
    /// How it was brought in.
    pub form: Form,
    /// Where from.
    pub origin: Origin,
    /// Changes whenever the driver's code does; part of the key of everything cached.
    pub build: String,
}

/// A driver that can be used.
#[async_trait]
pub trait Driver: Send + Sync {
    /// What is known of it.
    fn about(&self) -> &About;

    /// Its reading side, when it has one.
    fn session_read(&self) -> Option<&dyn SessionRead>;

    /// Its writing side, when it has one.
    fn session_write(&self) -> Option<&dyn SessionWrite>;

    /// Ends whatever it keeps running. Later calls may start it again.
    async fn shutdown(&self);
}

/// Reading; each function is described in `wit/session-read.wit`.
#[async_trait]
pub trait SessionRead: Send + Sync {
    /// Everything that may hold sessions.
    async fn scan(&self) -> Result<ScanReport, Fault>;

    /// A scan, unless it is certain to answer as the one did that had this basis.
    async fn rescan(&self, _known: Option<ScanBasis>) -> Result<Rescan, Fault> {
        Ok(Rescan::Report(self.scan().await?, None))
    }

    /// Rows of these keys, one summary a key, in the same order. Callers split large lists
    /// and call at once from several tasks.
    async fn summaries(&self, keys: Vec<String>, detail: SummaryDetail) -> Result<Vec<Summary>, Fault>;

    /// What the sessions of these keys hold, one report a key, in the same order. A driver that
    /// does not search itself has its sessions read.
    async fn search(&self, keys: Vec<String>, query: &SearchQuery) -> Result<Vec<SearchReport>, Fault>;

    /// How many calls of `summaries` or `search` at once are of use: 1 for a driver that answers one
    /// after the other.
    fn parallel(&self) -> usize;

    /// One row, stats included.
    async fn summary_of(&self, session: SessionRef) -> Result<Session, Fault>;

    /// Starts reading a session.
    async fn open(&self, session: SessionRef) -> Result<Transcript, Fault>;

    /// One page.
    async fn history(&self, session: SessionRef, query: HistoryQuery) -> Result<HistoryPage, Fault>;

    /// The agent's own bytes.
    async fn native(&self, session: SessionRef) -> Result<NativeCopy, Fault>;

    /// Sessions that a running agent holds.
    async fn locks(&self) -> Result<Vec<LockState>, Fault>;
}

/// Writing; each function is described in `wit/session-write.wit` and `wit/tool-vocabulary.wit`.
/// What is taken away or written over goes into the entry of the trash that is handed in.
#[async_trait]
pub trait SessionWrite: Send + Sync {
    /// Brings in what the other functions need, for one that is going to be called. A failure is theirs to tell.
    async fn prepare(&self) {}

    /// Starts writing a session, whose nodes come afterwards.
    async fn begin(
        &self,
        header: Session,
        options: SaveOptions,
        trash: Arc<TrashEntry>,
    ) -> Result<Box<dyn Draft>, Fault>;

    /// Gives it another title.
    async fn rename(&self, session: SessionRef, title: &str, trash: Arc<TrashEntry>) -> Result<(), Fault>;

    /// All that belongs to a session.
    async fn plan_delete(&self, session: SessionRef) -> Result<Vec<Artifact>, Fault>;

    /// Whether what it takes away can be brought back; otherwise it is gone for good.
    fn keeps_what_it_deletes(&self) -> bool {
        true
    }

    /// Takes all of that away.
    async fn delete(&self, session: SessionRef, trash: Arc<TrashEntry>) -> Result<DeleteOutcome, Fault>;

    /// Brings back the rows of a deleted session, whose files are back already.
    async fn undelete(&self, undo: Vec<u8>) -> Result<(), Fault>;

    /// Cuts a session back.
    async fn rewind(
        &self,
        session: SessionRef,
        plan: RewindPlan,
        header: Session,
        trash: Arc<TrashEntry>,
    ) -> Result<(), Fault>;

    /// The points that files can be brought back to.
    async fn checkpoints(&self, session: SessionRef) -> Result<Vec<CheckpointRef>, Fault>;

    /// The files of one of them that the agent keeps by itself.
    async fn checkpoint_files(&self, session: SessionRef, checkpoint: &str) -> Result<Vec<FileVersion>, Fault>;

    /// Calls of the agent's tools in the common vocabulary, one answer a call.
    async fn common_tools(&self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault>;

    /// Common calls as the agent's tools, one answer a call.
    async fn own_tools(&self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault>;

    /// The same two for the many calls of one session, where beginning each of them costs something. None: the
    /// two above are as good.
    async fn vocabulary(&self) -> Result<Option<Box<dyn Vocabulary>>, Fault> {
        Ok(None)
    }
}

/// The two functions of the tool vocabulary, ready to be called again and again.
#[async_trait]
pub trait Vocabulary: Send {
    /// See [`SessionWrite::common_tools`].
    async fn common_tools(&mut self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault>;

    /// See [`SessionWrite::own_tools`].
    async fn own_tools(&mut self, calls: Vec<ToolUse>) -> Result<Vec<Option<ToolUse>>, Fault>;
}

/// A session being written. Dropped before it is committed, it leaves nothing behind.
#[async_trait]
pub trait Draft: Send {
    /// The next nodes, in order.
    async fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), Fault>;

    /// Puts the session in its place, whole, read back and compared.
    async fn commit(self: Box<Self>) -> Result<SaveReport, Fault>;
}

/// What a repeated scan comes to.
#[derive(Debug)]
pub enum Rescan {
    /// All that the earlier scan asked of its stores would be answered the same.
    Unchanged,
    /// What there is, and what that rests on, where that is known.
    Report(ScanReport, Option<ScanBasis>),
}

/// A session being read. The batches come from a task of the loader that runs one or two
/// ahead; dropping this ends it.
#[derive(Debug)]
pub struct Transcript {
    /// The session without its nodes.
    pub header: Session,
    /// Its nodes in order; closed at the end. A fault is the last item.
    pub batches: mpsc::Receiver<Result<Vec<MessageNode>, Fault>>,
}

/// A native copy being read, like [`Transcript`].
#[derive(Debug)]
pub struct NativeCopy {
    /// Name that the agent would give the file.
    pub name: String,
    /// Its bytes in order; closed at the end. A fault is the last item.
    pub chunks: mpsc::Receiver<Result<Vec<u8>, Fault>>,
}
