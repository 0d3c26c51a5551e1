//! What this plane knows of sessions beside their stores, and projects: `meta.json` under
//! `$SEPIA_HOME`, never anything in a store.
//!
//! Several processes share the file. Whoever changes it reads, changes and replaces it under a
//! lock, so no change is lost; whoever reads it needs none.
//!
//! ```text
//! document  the file as entries     entry   what one says of a session
//! file      reading and replacing   patch   what may be said
//! later     noted behind an answer  view    how it shows in rows
//! projects, sessions   what the plane offers of it
//! ```

mod document;
mod entry;
mod file;
mod later;
mod patch;
mod projects;
mod sessions;
#[cfg(test)]
mod tests;
mod view;

pub use patch::{MetaPatch, TextChange};
pub use projects::Project;
pub(super) use view::View;

use super::row::Span;
use super::{ErrorKind, PlaneError};
use document::Document;
use file::Unreadable;
use later::Later;
use sepia_ir::Warning;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The overlay of one plane.
#[derive(Debug, Clone)]
pub struct Overlay {
    file: PathBuf,
    wait: Duration,
    later: Arc<Later>,
}

/// A session that was made here and that its store may not have yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its directory, absolute.
    pub cwd: String,
    /// When it was made, ISO 8601.
    pub created_at: String,
    /// Title until it has one of its own.
    pub title: Option<String>,
    /// Model that it was made with.
    pub model: Option<String>,
}

impl Overlay {
    /// The overlay in this file. A change waits so long for another process at most.
    pub fn new(file: PathBuf, wait: Duration) -> Self {
        Self { file, wait, later: Arc::default() }
    }

    /// Forgets a session that is no more; whether anything was known of it. Where an older file
    /// has one entry for every agent with the id, that goes.
    pub async fn forget(&self, agent: &str, id: &str) -> Result<bool, PlaneError> {
        let (agent, id) = (agent.to_owned(), id.to_owned());
        self.change(move |document| Ok(document.forget_session(&agent, &id))).await
    }

    /// Notes that a session was live, unless the last time was under the same agent on the same
    /// machine. The newest 1,000 are kept.
    pub async fn add_span(&self, agent: &str, id: &str, span: Span) -> Result<(), PlaneError> {
        self.change_session(agent, id, move |entry| entry.add_span(span)).await
    }

    /// Notes a session that was made here: it is listed until its store has it.
    pub async fn set_pending(&self, agent: &str, id: &str, pending: Pending) -> Result<(), PlaneError> {
        self.change_session(agent, id, move |entry| entry.set_pending(&pending)).await
    }

    /// What it says, for the rows of a list; and what was wrong with it. Where it can't be read
    /// it says nothing.
    pub(super) async fn view(&self) -> (View, Option<Warning>) {
        self.noted().await;
        let (file, wait) = (self.file.clone(), self.wait);
        let read = tokio::task::spawn_blocking(move || read_or_set_right(&file, wait)).await;
        let (document, said) = match read {
            Ok(Ok(read)) => read,
            Ok(Err(error)) => {
                let cause = error.cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
                (Document::default(), Some(format!("{}{cause}", error.message)))
            }
            Err(error) => (Document::default(), Some(format!("the overlay could not be read: {error}"))),
        };
        let warning = said.map(|said| {
            tracing::warn!("{said}");
            Warning::new("overlay", said).in_file(self.file.display().to_string())
        });
        (View::of(&document), warning)
    }

    async fn change_session(
        &self,
        agent: &str,
        id: &str,
        change: impl FnOnce(&mut entry::Entry) -> Result<(), serde_json::Error> + Send + 'static,
    ) -> Result<(), PlaneError> {
        let (agent, id, file) = (agent.to_owned(), id.to_owned(), self.file.clone());
        self.change(move |document| {
            document.change_session(&agent, &id, change).map_err(|e| file::failed(&file, "could not be changed", e))
        })
        .await
    }

    /// Changes the file.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Document) -> Result<T, PlaneError> + Send + 'static,
    ) -> Result<T, PlaneError> {
        self.noted().await;
        self.change_at_once(change).await
    }

    /// The same, whatever waits to be noted; on a thread that may block.
    async fn change_at_once<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Document) -> Result<T, PlaneError> + Send + 'static,
    ) -> Result<T, PlaneError> {
        let (file, wait) = (self.file.clone(), self.wait);
        let changed = tokio::task::spawn_blocking(move || file::change(&file, wait, change)).await;
        changed.map_err(|e| {
            PlaneError::new(ErrorKind::Internal, "a change of the overlay ended unexpectedly").because(e.to_string())
        })?
    }
}

fn read_or_set_right(path: &Path, wait: Duration) -> Result<(Document, Option<String>), PlaneError> {
    match file::read(path) {
        Ok(read) => Ok((read.unwrap_or_default(), None)),
        Err(Unreadable::Io(error)) => Err(file::failed(path, "could not be read", error)),
        Err(Unreadable::Corrupt(_)) => file::set_right(path, wait),
    }
}
