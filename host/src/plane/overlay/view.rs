//! How the overlay shows in a list: what it puts into the rows of sessions, and the rows of
//! sessions that only it knows.

use super::document::Document;
use super::entry::SessionMeta;
use crate::plane::row::{SessionFacts, SessionRow, Source};
use std::collections::HashMap;

/// Title of a session that has none yet.
const NEW: &str = "New session";

/// What the overlay says at one moment.
#[derive(Debug, Default)]
pub(in crate::plane) struct View {
    by_id: HashMap<String, Vec<Of>>,
}

/// An entry.
#[derive(Debug)]
struct Of {
    /// None: of every agent that has no entry of its own.
    agent: Option<String>,
    meta: SessionMeta,
}

impl View {
    pub(super) fn of(document: &Document) -> Self {
        let mut by_id: HashMap<String, Vec<Of>> = HashMap::new();
        for (agent, id, value) in document.sessions() {
            by_id.entry(id.to_owned()).or_default().push(Of { agent, meta: SessionMeta::of(value) });
        }
        Self { by_id }
    }

    /// What is said of a session.
    pub(in crate::plane) fn session(&self, agent: &str, id: &str) -> Option<&SessionMeta> {
        if self.by_id.is_empty() {
            return None;
        }
        let entries = self.by_id.get(id)?;
        let of = |wanted: Option<&str>| entries.iter().find(|entry| entry.agent.as_deref() == wanted);
        of(Some(agent)).or_else(|| of(None)).map(|entry| &entry.meta)
    }

    /// Whether a session was put away.
    pub(in crate::plane) fn is_archived(&self, agent: &str, id: &str) -> bool {
        self.session(agent, id).is_some_and(|meta| meta.archived)
    }

    /// Whether a session is in a project.
    pub(in crate::plane) fn is_in(&self, project: &str, agent: &str, id: &str) -> bool {
        self.session(agent, id).is_some_and(|meta| meta.project_ids.iter().any(|of| of == project))
    }

    /// Whether a session was made here, and is listed also while its store does not have it.
    pub(in crate::plane) fn is_pending(&self, agent: &str, id: &str) -> bool {
        let is_own = |entry: &Of| entry.agent.as_deref() == Some(agent) && entry.meta.cwd.is_some();
        !self.by_id.is_empty() && self.by_id.get(id).is_some_and(|entries| entries.iter().any(is_own))
    }

    /// The agents that a session of this id was made under here.
    pub(in crate::plane) fn pending_agents(&self, id: &str) -> impl Iterator<Item = &str> {
        let entries = self.by_id.get(id).map_or(&[][..], Vec::as_slice);
        entries.iter().filter(|entry| entry.meta.cwd.is_some()).filter_map(|entry| entry.agent.as_deref())
    }

    /// Puts what is said into a row.
    pub(in crate::plane) fn put_into(&self, row: &mut SessionRow) {
        let Some(meta) = self.session(&row.agent, &row.id) else { return };
        if let Some(title) = &meta.title {
            row.title.clone_from(title);
        }
        row.pinned = meta.pinned;
        row.archived = meta.archived;
        row.project_ids.clone_from(&meta.project_ids);
        row.model.clone_from(&meta.model);
        row.spans.clone_from(&meta.spans);
    }

    /// Rows of the sessions that were made here and that no store has, by id; `wanted` says of
    /// each whether it is to be listed. `now` in epoch seconds, for those that don't tell when
    /// they were made.
    pub(in crate::plane) fn pending_rows(
        &self,
        now: f64,
        mut wanted: impl FnMut(&str, &SessionFacts) -> bool,
    ) -> Vec<SessionRow> {
        let mut rows = Vec::new();
        for (id, Of { agent, meta }) in self.by_id.iter().flat_map(|(id, of)| of.iter().map(move |of| (id, of))) {
            let (Some(agent), Some(cwd)) = (agent, &meta.cwd) else { continue };
            let made = meta.created_at.as_deref().and_then(|text| text.parse::<jiff::Timestamp>().ok());
            let activity = made.map_or(now, |made| made.as_duration().as_secs_f64());
            let facts = SessionFacts {
                id: id.clone(),
                title: NEW.to_owned(),
                cwd: cwd.clone(),
                created_at: activity,
                activity,
                ..SessionFacts::default()
            };
            if wanted(agent, &facts) {
                let mut row = SessionRow { source: Source::Sepia, ..SessionRow::of_facts(facts, agent) };
                self.put_into(&mut row);
                rows.push(row);
            }
        }
        rows.sort_by(|a, b| a.id.cmp(&b.id).then_with(|| a.agent.cmp(&b.agent)));
        rows
    }
}
