//! The client side of the Agent Client Protocol, version 1: JSON-RPC lines on the stdio of an
//! agent's own program.
//!
//! What we send is typed. What agents send is read tolerantly: real agents leave out what the
//! protocol asks for, send more than it knows, and write logs between their frames; none of
//! that ends a session. Knows no plane: who drives a session is above.
//!
//! The types are our own. The protocol's schema crate switches on `serde_json/preserve_order`
//! for all that is built with it, so that the same driver would write its JSON in one order as
//! a program and in another as a component.
//!
//! ```text
//! runtimes     which program serves which agent, with what environment
//! agent        a running program, and its calls
//!   messages      what it says, in its order
//!   error         why it could not do what it was asked
//!   running       how many run
//!   capabilities  what it says that it can do
//!   protocol      what we send
//!   update        what it tells of a session
//!   permission    what it asks
//!   part          what a prompt is made of
//! strays       programs that an earlier sepia left behind
//! ```

mod agent;
mod capabilities;
mod error;
mod messages;
mod part;
mod permission;
mod protocol;
mod running;
pub(crate) mod runtimes;
pub(crate) mod strays;
mod update;

pub(crate) use agent::{Agent, AgentLimits};
pub use capabilities::Capabilities;
#[cfg(test)]
pub(crate) use capabilities::PromptCapabilities;
pub(crate) use error::AgentError;
pub(crate) use messages::{Messages, Said};
pub use part::PromptPart;
pub use permission::PermissionOption;
pub(crate) use permission::{Outcome, PermissionRequest};
pub(crate) use running::Running;
pub use update::ToolContent;
pub(crate) use update::{Chunk, ToolCallUpdate, Update};
