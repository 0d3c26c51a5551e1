//! What the plane offers of the overlay for sessions.

use super::patch::MetaPatch;
use crate::plane::{ErrorKind, Plane, PlaneError};
use sepia_ir::SessionRef;

impl Plane {
    /// Changes what the overlay says of a session; nothing in its store. The session is one of a
    /// store, or one that was made here and isn't in its store yet; else `not_found`. Of two
    /// with one id it is that of `agent`, or of the first driver. The agent that it belongs to.
    pub async fn patch_meta(&self, id: &str, agent: Option<&str>, patch: MetaPatch) -> Result<String, PlaneError> {
        let patch = patch.checked()?;
        let agent = self.owner_of(id, agent).await?;
        self.overlay().change_session(&agent, id, move |entry| entry.apply(&patch)).await?;
        Ok(agent)
    }

    /// The agent that a session belongs to.
    pub(in crate::plane) async fn owner_of(&self, id: &str, agent: Option<&str>) -> Result<String, PlaneError> {
        let session = SessionRef { id: id.to_owned(), agent_id: None };
        let missing = match self.first_that_knows(id, agent, |_, reader| reader.summary_of(session.clone())).await {
            Ok((about, _)) => return Ok(about.manifest.id.clone()),
            Err(error) if error.kind == ErrorKind::NotFound => error,
            Err(error) => return Err(error),
        };
        let (view, _) = self.overlay().view().await;
        let owner = view.pending_agents(id).find(|of| agent.is_none_or(|agent| agent == *of));
        owner.map(str::to_owned).ok_or(missing)
    }
}
