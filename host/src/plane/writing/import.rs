//! A session that was handed in, written into an agent's store.

use super::destination::Destination;
use super::source::Source;
use super::transfer::Saved;
use crate::loader::check;
use crate::plane::{ErrorKind, Plane, PlaneError};
use sepia_ir::Session;

impl Plane {
    /// Writes a session into an agent's store. Its own id counts for nothing; the destination's does.
    pub async fn import(&self, mut session: Session, to: &Destination) -> Result<Saved, PlaneError> {
        self.writer_of(&to.agent).await?;
        let mut source = Source::whole(&mut session);
        "import".clone_into(&mut session.id);
        session.parent_session_id = None;
        session.agent_id = None;
        let refused = |breach: check::Breach| {
            let message = format!("the session can't be imported: {}", breach.0);
            PlaneError::new(ErrorKind::Invalid, message)
        };
        let header = check::session(session).map_err(refused)?;
        if let Source::Whole(nodes) = &mut source {
            let limits = self.limits();
            check::Nodes::new(limits.session_nodes, limits.session_bytes).batch(nodes).map_err(refused)?;
        }
        let registry = self.registry().await;
        let of_backend = |driver: &&std::sync::Arc<dyn crate::loader::Driver>| {
            driver.about().manifest.backend_type == header.backend_type
        };
        let from = registry.drivers().iter().find(of_backend);
        let saved = self.transfer(header.clone(), source, from, to).await?;
        if !saved.dry_run {
            // From here on it is a session of this machine, whatever it was elsewhere.
            self.note_span_later(&saved.agent_id, &saved.id);
        }
        Ok(saved)
    }
}
