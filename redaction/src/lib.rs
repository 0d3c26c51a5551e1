//! Takes out of a session what shouldn't leave the machine with it: secrets, or everything but
//! the structure.
//!
//! Transcripts hold the output of tools word for word, and with it keys that nobody typed. A
//! [`Redactor`] puts placeholders where secrets were, `[redacted:github-token:3fa2c1]`, equal
//! ones for equal secrets, and says how many there were. What only looks like a secret stays:
//! hashes of version control, UUIDs, ids of tool calls, pictures, variables, stand-ins such as
//! `<your-key>`. In doubt a value is taken out.
//!
//! ```
//! use sepia_redaction::Redactor;
//!
//! let mut redactor = Redactor::new();
//! let text = redactor.text("DB_PASSWORD=hunter2 ./deploy").into_owned();
//! assert!(text.starts_with("DB_PASSWORD=[redacted:password:"));
//! assert!(text.ends_with("] ./deploy"));
//! assert_eq!(redactor.count(), 1);
//! ```
//!
//! Nothing here does I/O, and nothing here knows an agent.

mod anchors;
mod counts;
mod detect;
mod json;
mod kind;
mod placeholder;
mod redactor;
mod session;
mod structure;

pub use counts::{Count, Summary};
pub use kind::Kind;
pub use redactor::Redactor;
