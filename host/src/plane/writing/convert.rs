//! A copy of a stored session in another agent's store.

use super::destination::Destination;
use super::source::Source;
use super::transfer::Saved;
use crate::plane::{Plane, PlaneError};
use sepia_ir::SessionRef;
use std::sync::Arc;

impl Plane {
    /// Copies a session into an agent's store, as a fresh session. `from` tells its agent, where two have the id.
    pub async fn convert(&self, id: &str, from: Option<&str>, to: &Destination) -> Result<Saved, PlaneError> {
        let writing = Arc::clone(self.writer_of(&to.agent).await?.0);
        // Beside finding and opening the session.
        tokio::spawn(async move {
            if let Some(writer) = writing.session_write() {
                writer.prepare().await;
            }
        });
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let (about, reader, opened) = self.opened_by(&session, from).await?;
        let driver = self.registry().await.driver(&about.manifest.id);
        let header = opened.header.clone();
        self.transfer(header, Source::stored(reader, session, opened), driver, to).await
    }
}
