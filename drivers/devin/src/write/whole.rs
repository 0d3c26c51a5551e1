//! A session once all of its messages are there: what that says of each, and the rows that have
//! to be looked at again for it.

use super::promise::Promise;
use super::shape::{Shape, quoted};
use super::target::Target;
use crate::draft::draft;
use crate::facts::{Company, Facts, Outline};
use crate::forest::Forest;
use crate::heads::Head;
use crate::message::{COLUMNS, Row};
use crate::outcome::Updates;
use crate::value::text;
use sepia_ir::{DriverError, SqlValue};
use sepia_sdk::Database;
use sepia_sdk::carried::{KEY, difference, restore};

/// Columns of a note of a sub-agent.
const HEAD_COLUMNS: [&str; 4] = ["session_id", "agent_id", "chain_node_id", "updated_at"];

/// See the module.
pub(crate) struct Whole {
    session: String,
    pub(crate) outlines: Vec<Outline>,
    promises: Vec<Promise>,
    pub(crate) facts: Facts,
    updates: Updates,
    /// Sub-agents whose messages are among those of the session.
    heads: Vec<Head>,
}

impl Whole {
    /// Of all nodes, in order, with the newest of the live branch, the states of calls and the sub-agents that
    /// they tell of.
    pub(crate) fn of(
        session: &str,
        nodes: Vec<(Outline, Promise)>,
        tip: Option<i64>,
        updates: Updates,
        mut heads: Vec<Head>,
        shape: &Shape,
    ) -> Self {
        let (outlines, promises): (Vec<Outline>, Vec<Promise>) = nodes.into_iter().unzip();
        let forest = Forest::of(outlines.iter().map(|outline| (outline.id, outline.parent)));
        let can_note = shape.has("subagent_heads", &["session_id", "agent_id", "chain_node_id"]);
        heads.retain(|head| can_note && forest.of_sub_agent(tip, head.tip).is_some());
        let has_states = shape.has("tool_call_state", &["session_id", "tool_call_id", "tool_call_update_json"]);
        let facts = Facts::of(&outlines, tip);
        let updates = if has_states { updates } else { Updates::default() };
        Self { session: session.to_owned(), outlines, promises, facts, updates, heads }
    }

    /// Ids of the live branch, in order.
    pub(crate) fn live(&self) -> impl DoubleEndedIterator<Item = i64> {
        let nodes = self.outlines.iter().zip(&self.facts.nodes);
        nodes.filter(|(_, fact)| fact.live).map(|(outline, _)| outline.id)
    }

    /// Finishes the rows, in the transaction that is open.
    pub(crate) fn finish(&self, target: &Target) -> Result<(), DriverError> {
        let company = Company { session: &self.session, heads: &self.heads, updates: &self.updates };
        for ((outline, promise), fact) in self.outlines.iter().zip(&self.promises).zip(&self.facts.nodes) {
            if !promise.is_kept(outline, fact, &self.facts, &company) {
                self.settle(target, outline.id, promise, &company)?;
            }
        }
        let Some(filling) = target.shape.filling("subagent_heads", &HEAD_COLUMNS)? else { return Ok(()) };
        for head in &self.heads {
            #[expect(clippy::cast_possible_truncation, reason = "times are far below 2^63")]
            let updated = SqlValue::Integer(head.updated as i64);
            let row = vec![text(&self.session), text(&head.agent), SqlValue::Integer(head.tip), updated];
            filling.insert(&*target.database, row)?;
        }
        Ok(())
    }

    /// Has a row carry what its node lacks now that all rows are known.
    fn settle(&self, target: &Target, node: i64, promise: &Promise, company: &Company<'_>) -> Result<(), DriverError> {
        let columns: Vec<String> = COLUMNS.iter().map(|name| quoted(name)).collect();
        let which = "WHERE session_id = ? AND node_id = ?";
        let sql = format!("SELECT {} FROM message_nodes {which}", columns.join(", "));
        let database: &dyn Database = &*target.database;
        let rows = database.rows(&sql, &[text(&self.session), SqlValue::Integer(node)])?;
        let Some(row) = rows.into_iter().find_map(Row::of) else { return Ok(()) };
        let Some(place) = self.facts.place(node) else { return Ok(()) };
        let head = |agent: &String| Head { agent: agent.clone(), tip: node, updated: 0.0 };
        let heads: Vec<Head> = promise.agent.iter().map(head).collect();
        let promised = Company { session: &self.session, heads: &heads, updates: &self.updates };
        let file = target.source.file();
        let (known, read) = (self.facts.nodes[place], draft(&row, file));
        let carried = read.carried.clone();
        let native = self.facts.told(read, known, company);
        let mut wanted = self.facts.told(draft(&row, file), promise.fact(known), &promised);
        promise.apply(&mut wanted);
        if let Some(carried) = carried {
            // It was made a moment ago, here.
            let _ = restore(&mut wanted, &carried);
        }
        let place = text(&format!("$.metadata.extensions.\"{KEY}\""));
        let (session, node) = (text(&self.session), SqlValue::Integer(node));
        if let Some(carried) = difference(&wanted, &native) {
            let sql = format!("UPDATE message_nodes SET chat_message = json_set(chat_message, ?, json(?)) {which}");
            target.database.execute(&sql, &[place, text(&carried), session, node])?;
        } else {
            let sql = format!("UPDATE message_nodes SET chat_message = json_remove(chat_message, ?) {which}");
            target.database.execute(&sql, &[place, session, node])?;
        }
        Ok(())
    }
}
