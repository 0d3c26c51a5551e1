//! JSON-RPC 2.0 over lines: what the wire on our own stdio, the driver programs and the
//! agents' programs have in common. Knows no method and no peer.
//!
//! ```text
//! bytes --FrameReader--> Frame --Message::parse--> Message
//! Message --line::{request,result,error}--> Outgoing --FrameSender--> bytes
//! ```
//!
//! A [`Peer`] is the calling side: it numbers calls and matches their answers.

mod calls;
mod error_object;
mod fragment;
mod frame;
mod id;
pub mod line;
mod message;
mod peer;
mod writer;

pub use calls::{CallError, Calls, PendingCall, Settled};
pub use error_object::{ErrorObject, code};
pub use fragment::Fragment;
pub use frame::{Frame, FrameReader};
pub use id::Id;
pub use message::{Invalid, InvalidKind, Message, Notification, Request, Response, Version};
pub use peer::Peer;
pub use sepia_ir::single_line::{SingleLine, serializer};
pub use writer::{Closed, FrameSender, NotTaken, Outgoing};
