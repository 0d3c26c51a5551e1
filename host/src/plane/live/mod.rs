//! The live plane: sessions that an agent's own program has open for us.
//!
//! One map of them, one owner task each. What happens is told in one order: stored first, then
//! handed to whoever follows the session or the whole node.
//!
//! ```text
//! map        the live sessions
//! attach, create, detach, idle   into the map and out of it
//! talk       what is said to them
//!   launch, runtime, takeover      the agent's program, and who had the session before
//! session    a live session as others see it
//!   owner      the task that has its agent
//!   translation  what the agent says, as events and facts
//!   recorded     the facts
//!   announcer    to the log and to all who follow, in order
//!   asked        permissions that the agent waits for
//! rows       how they show in a list
//! feed       buffers of those who follow
//! event, batch   what they get
//! ids        ids that sort by time
//! follow     a session's events, from a place in its log on
//! ```

mod announcer;
mod asked;
mod attach;
mod batch;
mod create;
mod detach;
mod event;
mod feed;
mod follow;
mod idle;
mod ids;
mod launch;
mod map;
mod owner;
mod recorded;
mod rows;
mod runtime;
mod session;
mod takeover;
mod talk;
mod translation;

pub use crate::acp::{Capabilities, PermissionOption, PromptPart, ToolContent};
pub use asked::PERMISSION_REQUEST;
pub use attach::{AttachRequest, Attached};
pub use batch::Batch;
pub use create::{CreateRequest, Created};
pub use event::{AskedPermission, DetachReason, NodeEvent, SessionEvent, ToolCallDetails, TurnError};
pub use feed::{Delivery, Progress};
pub use follow::{Followed, NodeFollower, SessionFollower};
pub(super) use map::Live;
pub use runtime::AgentRuntime;
pub(super) use session::Reservation;
pub use session::{PendingTurn, TurnEnd};
pub use talk::PromptRequest;
