//! Writing: sessions move between agents, and are renamed, deleted and cut back.
//!
//! ```text
//! destination  where a session is to go, and whether it can
//! source       the session, from memory or read
//! outline      what has to be known before the first node is handed over
//! straight     a session without branches, of which nothing has to be known before
//! pairing      each call has its result, each result its call
//! translation  calls of one agent's tools as calls of another's;  tools  both agents' tools
//! reasoning    signatures stay where they are valid
//! delivery     nodes on their way, each stage beside the next
//! transfer     all of it together
//! ordered      JSON objects whose text stays as it is
//! losses       what the new agent can't hold as it was
//! guard        who else is at the session
//! convert, import, delete, rename, rewind   the verbs
//! ```

mod convert;
mod delete;
mod delivery;
mod destination;
mod guard;
mod import;
mod losses;
mod ordered;
mod outline;
mod pairing;
mod reasoning;
mod rename;
mod rewind;
mod source;
mod straight;
mod tools;
mod transfer;
mod translation;

pub use delete::{DeleteOptions, Deleted, NotDeleted, Part};
pub use destination::Destination;
pub(super) use destination::checked_title;
pub use losses::{LossCounts, ToldLoss, summed};
pub use rewind::{Cut, RewindOptions, Rewound};
pub use transfer::{Resume, Saved};
