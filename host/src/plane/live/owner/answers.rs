//! Permissions that the agent waits for are decided.

use super::{Run, permissions};
use crate::acp::Outcome;
use crate::plane::PlaneError;
use crate::plane::live::announcer::TurnName;
use std::sync::Arc;

impl Run {
    /// Everything that the agent waits for is cancelled with its turn.
    pub(super) async fn withdraw_permissions(&mut self, turn: &Arc<TurnName>) {
        let outcome = Outcome::Cancelled;
        let withdrawn = self.permissions.withdraw();
        // The agent does not wait until all of them are on disk.
        for (_, request) in &withdrawn {
            self.reply(request, &outcome);
        }
        for (id, _) in withdrawn {
            self.answered(&id, &outcome, "turn", Some(Arc::clone(turn))).await;
        }
    }

    pub(super) async fn answer(&mut self, request: &str, option: Option<&str>) -> Result<(), PlaneError> {
        let (id, outcome) = self.permissions.answer(request, option)?;
        self.reply(&id, &outcome);
        self.answered(request, &outcome, "client", self.turn_name()).await;
        Ok(())
    }

    pub(super) async fn answered(&mut self, request: &str, outcome: &Outcome, by: &str, turn: Option<Arc<TurnName>>) {
        self.owner.session.permissions.remove(request);
        let step = permissions::answered(request, outcome, by);
        self.tell_of(step, turn).await;
    }
}
