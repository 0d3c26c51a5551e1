//! Writing: session folders are saved, renamed, cut back and taken away; tasks of the older layout
//! are renamed and taken away.
//!
//! A save writes the transcript first, which alone is no session, and then the manifest, with
//! which the agent lists the session and resumes it; the agent makes the row of its index by
//! itself. One that stands in for another writes a transcript beside the old one, and the
//! manifest then names the new one: at each moment there is one whole session.

mod artifacts;
mod content;
mod delete;
mod draft;
mod edit;
mod encode;
mod ids;
mod manifest;
mod output;
mod own;
mod placed;
mod rename;
mod rewind;
mod rows;
mod task_list;
pub(crate) mod tools;
mod tree;
mod undo;

pub(crate) use artifacts::plan;
pub(crate) use delete::delete;
pub use draft::ClineDraft;
pub(crate) use rename::rename;
pub(crate) use rewind::rewind;
pub(crate) use undo::undelete;
