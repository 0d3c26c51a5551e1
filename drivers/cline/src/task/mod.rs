//! Tasks: how the editor's extension kept its sessions before it shared the session folders.
//!
//! ```text
//! tasks/<id>/api_conversation_history.json   what went to the model, and came back
//! tasks/<id>/ui_messages.json                what was shown to the person
//! state/taskHistory.json                     the list; `tasks/taskHistory.json` elsewhere
//! ```
//!
//! Any of them may be missing or damaged: whatever is there is listed, and read from what can be
//! read.

mod find;
mod list;
pub(crate) mod shown;
mod told;

pub(crate) use find::{TaskFiles, find, locate, scan};
pub(crate) use list::Lists;
