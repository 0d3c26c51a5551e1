//! A turn on a terminal: what the agent says, what it does, and what it asks.
//!
//! ```text
//! conversation  one turn from its prompt to its end
//!   screen        what is shown where
//!   asking        permissions
//!   keyboard      lines that a person types
//! ```

mod asking;
mod conversation;
mod keyboard;
mod screen;

pub(super) use asking::Answering;
pub(super) use conversation::{Conversation, TurnOutcome};
pub(super) use keyboard::Keyboard;
