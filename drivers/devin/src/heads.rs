//! Sub-agents. The agent notes them in `subagent_heads`, which is read in two ways: the name
//! of a sub-agent with the tip of its chain among the nodes of its parent, or the id of
//! another session with its parent's.

use crate::place::{Opened, is_id};
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
        let mut heads = Self::default();
        if !opened.schema.has("subagent_heads", &["session_id", "agent_id", "chain_node_id"]) {
            return Ok(heads);
        }
        let sql = format!(
            "SELECT {}, EXISTS(SELECT 1 FROM sessions s WHERE s.id = h.agent_id) FROM subagent_heads h \
             ORDER BY h.session_id, h.agent_id",
            opened.schema.select("subagent_heads", "h", &["session_id", "agent_id", "chain_node_id", "updated_at"])
        );
        for row in opened.database.rows(&sql, &[])? {
            let mut row = Columns::of(row);
            let (Some(session), Some(agent)) = (row.text(), row.text()) else { continue };
            let (tip, updated, is_session) = (row.whole(), row.number(), row.flag());
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
        Ok(heads)
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
