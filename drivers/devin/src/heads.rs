//! Sub-agents. The agent notes them in `subagent_heads`, which is read in two ways: the name
//! of a sub-agent with the tip of its chain among the nodes of its parent, or the id of
//! another session with its parent's.

use crate::place::{Opened, is_id};
use crate::schema::Schema;
use crate::value::Columns;
use sepia_ir::DriverError;
use std::collections::HashMap;

/// A sub-agent whose messages are among its parent's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    pub(crate) agent: String,
    /// The tip of its chain.
    pub(crate) tip: i64,
    /// Epoch seconds as stored.
    pub(crate) updated: f64,
}

/// A session that another one spawned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parent {
    pub(crate) session: String,
    /// Node of the parent that spawned it.
    pub(crate) node: Option<i64>,
}

/// A row of the notes.
#[derive(Debug)]
pub(crate) struct Note {
    session: Option<String>,
    agent: Option<String>,
    tip: Option<i64>,
    updated: Option<f64>,
    /// There is a session of that id.
    is_session: bool,
}

impl Note {
    pub(crate) fn of(row: &mut Columns) -> Self {
        Self { session: row.text(), agent: row.text(), tip: row.whole(), updated: row.number(), is_session: row.flag() }
    }
}

/// All sub-agents of a database.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// By session, in the order of their names.
    pub(crate) inside: HashMap<String, Vec<Head>>,
    /// By the id of the child.
    pub(crate) parents: HashMap<String, Parent>,
}

impl Heads {
    pub(crate) fn read(opened: &Opened) -> Result<Self, DriverError> {
        let Some(sql) = Self::sql(&opened.schema) else { return Ok(Self::default()) };
        let rows = opened.database.rows(&sql, &[])?;
        Ok(Self::from_notes(rows.into_iter().map(|row| Note::of(&mut Columns::of(row))).collect()))
    }

    /// The query whose rows are [`Note`]s; none when the version of the store has no notes.
    pub(crate) fn sql(schema: &Schema) -> Option<String> {
        schema.has("subagent_heads", &["session_id", "agent_id", "chain_node_id"]).then(|| {
            let columns = ["session_id", "agent_id", "chain_node_id", "updated_at"];
            format!(
                "SELECT {}, EXISTS(SELECT 1 FROM sessions s WHERE s.id = h.agent_id) FROM subagent_heads h",
                schema.select("subagent_heads", "h", &columns)
            )
        })
    }

    /// Of all notes.
    pub(crate) fn from_notes(mut notes: Vec<Note>) -> Self {
        notes.sort_unstable_by(|a, b| (&a.session, &a.agent).cmp(&(&b.session, &b.agent)));
        let mut heads = Self::default();
        for Note { session, agent, tip, updated, is_session } in notes {
            let (Some(session), Some(agent)) = (session, agent) else { continue };
            if !is_id(&session) || !is_id(&agent) {
                continue;
            }
            if is_session {
                heads.adopt(agent, session, tip);
            } else if let Some(tip) = tip {
                let of_session = heads.inside.entry(session).or_default();
                if of_session.iter().all(|known| known.agent != agent) {
                    of_session.push(Head { agent, tip, updated: updated.unwrap_or_default() });
                }
            }
        }
        heads
    }

    /// Notes a parent, unless that would make a session its own ancestor.
    fn adopt(&mut self, child: String, session: String, node: Option<i64>) {
        let mut above = Some(session.as_str());
        while let Some(at) = above {
            if at == child {
                return;
            }
            above = self.parents.get(at).map(|parent| parent.session.as_str());
        }
        self.parents.entry(child).or_insert(Parent { session, node });
    }

    /// The sub-agents among the nodes of a session.
    pub(crate) fn of(&self, session: &str) -> &[Head] {
        self.inside.get(session).map_or(&[], Vec::as_slice)
    }
}

/// Id of a sub-agent's session.
pub(crate) fn child_id(session: &str, agent: &str) -> String {
    format!("{session}/{agent}")
}

#[cfg(test)]
mod tests {
    use super::Heads;

    #[test]
    fn nobody_is_their_own_ancestor() {
        let mut heads = Heads::default();
        for (child, parent) in [("a", "a"), ("b", "a"), ("c", "b"), ("a", "c"), ("b", "x")] {
            heads.adopt(child.into(), parent.into(), None);
        }
        let parent = |child: &str| heads.parents.get(child).map(|parent| parent.session.as_str());
        assert_eq!([parent("a"), parent("b"), parent("c")], [None, Some("a"), Some("b")]);
    }
}
