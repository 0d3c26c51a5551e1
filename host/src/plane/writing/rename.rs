//! Another title for a session, written as its agent would.

use super::destination::checked_title;
use crate::plane::{Plane, PlaneError};
use sepia_ir::SessionRef;

impl Plane {
    /// Renames a session in its agent's store; the title as it was written.
    pub async fn rename(&self, id: &str, agent: Option<&str>, title: &str) -> Result<String, PlaneError> {
        let title = checked_title(title)?;
        let (agent, _) = self.agent_and_title(id, agent).await?;
        let (_, writer) = self.writer_of(&agent).await?;
        let _held = self.claim(&agent, id, true).await?;
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        writer.rename(session, &title, self.new_trash_entry()).await?;
        Ok(title)
    }
}
