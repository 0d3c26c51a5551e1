//! Writing chats of the command line.
//!
//! ```text
//! draft, ending     a session being written; its end
//!   outgoing          a node as a message of the model's view
//!   turns, tool_step  the same as a person sees it
//!   rows, wire        on their way into the database; protobuf
//!   native            what the reader makes of a message
//!   losses            what the model does not see
//! home, note        where a chat is; the small file beside it
//! settings, over    the row of settings; a chat that is saved over
//! rename, delete, rewind
//! vocabulary        the agent's tools in the common form, and back
//! ```

mod delete;
mod draft;
mod ending;
mod home;
mod losses;
mod native;
mod note;
mod outgoing;
mod over;
mod rename;
mod rewind;
mod rows;
mod settings;
mod tool_step;
mod turns;
mod vocabulary;
mod wire;

pub use draft::CursorDraft;

pub(crate) use delete::{delete, plan};
pub(crate) use rename::rename;
pub(crate) use rewind::rewind;
pub(crate) use vocabulary::{common, own};
