//! The session plane: sessions, whichever agent keeps them.
//!
//! It knows the registry and nothing below it, and no wire. What a wire needs is here as
//! plain values: rows, pages, sessions in batches, and [`PlaneError`] with a stable code.

mod agents;
mod clock;
mod config;
mod error;
mod facts;
mod history;
mod listing;
mod live;
mod locate;
mod overlay;
mod page_index;
mod reading;
mod resolve;
mod restoring;
mod row;
mod search;
mod trash;
mod whereabouts;
mod writing;

pub use agents::{Agent, AgentStore};
pub use clock::{Clock, SystemClock};
pub use config::PlaneConfig;
pub use error::{ErrorKind, PlaneError};
pub use facts::{Fact, Page as FactPage};
pub use history::{HistoryMessage, HistoryPage, HistoryRequest};
use listing::Keeping;
pub use listing::{ListRequest, Listing};
pub use live::{
    AgentRuntime, AskedPermission, AttachRequest, Attached, Batch, Capabilities, CreateRequest, Created, Delivery,
    DetachReason, Followed, NodeEvent, NodeFollower, PERMISSION_REQUEST, PendingTurn, PermissionOption, Progress,
    PromptPart, PromptRequest, SessionEvent, SessionFollower, ToolCallDetails, ToolContent, TurnEnd, TurnError,
};
pub use overlay::{MetaPatch, Overlay, Pending, Project, TextChange};
pub use reading::{OpenSession, Revise};
pub use resolve::Resolved;
pub use restoring::{FileAction, FilesRestored, RestoreRequest, RestoredFile, SkippedFile};
pub use row::{SessionRow, Source, Span};
pub use search::{FoundRow, Hit, SearchEnd, SearchRequest};
pub use trash::{Restored, Trashed, Why};
pub use writing::{
    Cut, DeleteOptions, Deleted, Destination, LossCounts, NotDeleted, Part, Resume, RewindOptions, Rewound, Saved,
    ToldLoss, summed,
};

use crate::environment::Environment;
use crate::home::{Home, Node};
use crate::limits::Limits;
use crate::registry::{LazyRegistry, Registry};
use live::Live;
use page_index::PageIndexes;
use std::sync::{Arc, OnceLock};
use whereabouts::Whereabouts;

/// The plane of one process.
pub struct Plane {
    registry: LazyRegistry,
    home: Home,
    config: PlaneConfig,
    limits: Limits,
    page_indexes: PageIndexes,
    whereabouts: Whereabouts,
    keeping: Keeping,
    overlay: Overlay,
    live: Arc<Live>,
    environment: Environment,
    /// Who this machine is, once somebody asked: where it can't be kept on disk, it still has
    /// to be the same for all who ask this process.
    node: OnceLock<Node>,
}

impl Plane {
    /// A plane over these drivers; they are loaded when something needs them first.
    pub fn new(registry: impl Into<LazyRegistry>, home: Home, config: PlaneConfig, limits: Limits) -> Self {
        Self {
            registry: registry.into(),
            overlay: Overlay::new(home.meta().to_owned(), limits.overlay_wait),
            live: Arc::new(Live::new(&home, &limits, Arc::new(SystemClock))),
            environment: Environment::of_process(),
            home,
            config,
            limits,
            page_indexes: PageIndexes::default(),
            whereabouts: Whereabouts::default(),
            keeping: Keeping::default(),
            node: OnceLock::new(),
        }
    }

    /// The same, on which live sessions have this clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.live = Arc::new(Live::new(&self.home, &self.limits, clock));
        self
    }

    /// The same, for which these are the variables that agents' programs are found by and get.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// The drivers, and all that was found where they are looked for.
    pub async fn registry(&self) -> &Registry {
        self.registry.get().await
    }

    /// What the environment and the defaults made of the settings.
    pub fn config(&self) -> &PlaneConfig {
        &self.config
    }

    /// The bounds in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What is known of sessions beside their stores.
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Who this machine is.
    pub fn node(&self, fallback_name: &str) -> Node {
        self.node.get_or_init(|| self.home.node(fallback_name)).clone()
    }

    /// Lets all live sessions go, and takes no more; what was stored can still be read.
    pub async fn let_all_go(&self) {
        self.live.let_all_go().await;
    }

    /// Ends whatever runs for the plane.
    pub async fn shutdown(&self) {
        self.live.shutdown().await;
        self.overlay.noted().await;
        self.keeping.over().await;
        if let Some(registry) = self.registry.loaded() {
            registry.shutdown().await;
        }
    }
}
