//! How live sessions show in a list.

use crate::plane::Plane;
use crate::plane::row::SessionRow;

impl Plane {
    /// Puts into a row what is so because the session is live here.
    pub(in crate::plane) fn put_live_into(&self, row: &mut SessionRow) {
        if let Some(session) = self.live.get(&row.id, Some(&row.agent)) {
            row.busy = session.is_busy();
            row.permissions = session.asked();
        }
    }

    /// Rows of sessions that are live here and that no store has, and no row stands for yet: by
    /// id.
    pub(in crate::plane) fn live_rows(&self, listed: &[SessionRow]) -> Vec<SessionRow> {
        let mut rows: Vec<SessionRow> = self
            .live
            .all()
            .into_iter()
            .filter(|session| session.created)
            .filter(|session| !listed.iter().any(|row| row.id == session.id && row.agent == session.agent_id))
            .map(|session| {
                let (id, title, cwd) = (session.id.clone(), session.title.clone(), session.cwd.clone());
                SessionRow::of_live(id, title, cwd, &session.agent_id, session.live_since)
            })
            .collect();
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        rows
    }

    /// Whether a session is live here and may not be in its store yet.
    pub(in crate::plane) fn is_unstored_live(&self, id: &str, agent: Option<&str>) -> bool {
        self.live.get(id, agent).is_some_and(|session| session.created)
    }
}
