//! The IR: what a session and an agent's configuration are, independent of any agent.
//!
//! Each type is defined once and serves three places. `serde` gives the JSON wire (camelCase,
//! the names and omissions of the wire document); the feature `component` gives the host the
//! component-model form, so that what a driver hands over is lifted straight into these
//! types; guests name them in their generated bindings. The twin of this crate is
//! `wit/types.wit`, and a field that is in one is in the other.
//!
//! Nothing here does I/O, and nothing here knows an agent.

mod block;
mod checkpoint;
mod config;
mod configuring;
mod enum_lift;
mod error;
mod files;
mod listing;
mod log;
mod manifest;
mod node;
mod paging;
mod search;
mod session;
mod sql;
mod streamed;
mod tool;
mod warning;
mod writing;

pub mod chain;
pub mod driver_wire;
pub mod json_rpc_code;
pub mod json_text;
pub mod single_line;

pub use block::{AudioBlock, Block, FileBlock, ImageBlock, TextBlock};
pub use checkpoint::CheckpointRef;
pub use config::{AgentConfig, Command, Hook, Rule, Skill, SkillFile, SubAgent};
pub use configuring::{ConfigAction, ConfigOptions, ConfigVerb};
pub use error::{DriverError, ErrorCode};
pub use files::{FileEntry, FoundLine, Projection, SurveyQuery, SurveyReport, WalkReport};
pub use json_text::Json;
pub use listing::{LockState, ScanEntry, ScanReport, Summary, SummaryDetail};
pub use log::LogLevel;
pub use manifest::{Manifest, StoreAccess, StoreKind, StoreRequest};
pub use node::{MessageNode, Role, TokenUsage};
pub use paging::{Branch, HistoryPage, HistoryQuery, SessionRef};
pub use search::{
    CandidateLines, FoundSession, LineSpan, MOST_CONTEXT, MOST_HITS, MOST_QUERY, MOST_SNIPPET, SearchHit, SearchPart,
    SearchQuery, SearchReport, TextSpan,
};
pub use session::{PromptHistoryEntry, Session};
pub use sql::{SqlColumn, SqlValue};
pub use streamed::StreamedSession;
pub use tool::{Diff, Location, ToolCall, ToolCallStatus, ToolResult};
pub use warning::Warning;
pub use writing::{Artifact, DeleteOutcome, FileVersion, Loss, LossKind, RewindPlan, SaveOptions, SaveReport, ToolUse};
