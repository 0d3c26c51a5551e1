//! A look at few messages of a branch, for what the columns of a session don't tell.

use crate::draft::{Draft, Prompt, draft};
use crate::forest::Forest;
use crate::message::{COLUMNS, Row};
use crate::order;
use crate::place::Opened;
use crate::value::{list, text};
use sepia_ir::DriverError;

/// Messages read at a time; the one that is looked for is near the end of the branch.
const BATCH: usize = 16;

/// A branch of a session.
pub(crate) struct Glance<'a> {
    opened: &'a Opened,
    session: &'a str,
    /// Node ids, the root first.
    chain: Vec<i64>,
}

impl<'a> Glance<'a> {
    /// The live branch of a session.
    pub(crate) fn at(opened: &'a Opened, session: &'a str, tip: Option<i64>) -> Result<Self, DriverError> {
        let forest = Forest::read(opened, session)?;
        let chain = forest.chain(forest.tip(tip)).into_iter().map(|at| forest.id(at)).collect();
        Ok(Self::of(opened, session, chain))
    }

    /// These nodes.
    pub(crate) fn of(opened: &'a Opened, session: &'a str, chain: Vec<i64>) -> Self {
        Self { opened, session, chain }
    }

    /// The text of the first message that a person typed, or else of the first of the user.
    pub(crate) fn first_prompt(&self) -> Result<Option<String>, DriverError> {
        let mut unsaid = None;
        for ids in self.chain.chunks(BATCH) {
            for draft in drafts(self.opened, self.session, ids)? {
                let prompt = draft.prompt;
                let content = Some(draft.node.content).filter(|content| !content.trim().is_empty());
                match prompt {
                    Prompt::Typed if content.is_some() => return Ok(content),
                    Prompt::Unsaid => unsaid = unsaid.or(content),
                    _ => {}
                }
            }
        }
        Ok(unsaid)
    }

    /// The model of the last answer that names one.
    pub(crate) fn last_model(&self) -> Result<Option<String>, DriverError> {
        for ids in self.chain.rchunks(BATCH) {
            let models = drafts(self.opened, self.session, ids)?.into_iter().rev().filter_map(|draft| draft.node.model);
            if let Some(model) = models.into_iter().next() {
                return Ok(Some(model));
            }
        }
        Ok(None)
    }

    /// When the first message was written.
    pub(crate) fn first_time(&self) -> Result<Option<f64>, DriverError> {
        let first = drafts(self.opened, self.session, &self.chain[..self.chain.len().min(1)])?;
        Ok(first.into_iter().map(|draft| draft.node.created_at).find(|time| *time > 0.0))
    }
}

/// The nodes of these ids, as far as their rows tell, in the order of their ids.
pub(crate) fn drafts(opened: &Opened, session: &str, ids: &[i64]) -> Result<Vec<Draft>, DriverError> {
    let sql = format!(
        "SELECT {} FROM message_nodes n WHERE n.session_id = ? AND n.node_id IN (SELECT value FROM json_each(?)) \
         ORDER BY n.node_id",
        opened.schema.select("message_nodes", "n", &COLUMNS)
    );
    let file = opened.source.file();
    let rows = opened.database.rows(&sql, &[text(session), list(ids)])?;
    let drafts: Vec<Draft> = rows.into_iter().filter_map(Row::of).map(|row| draft(&row, file)).collect();
    let mut drafts = order::by(drafts, |draft| draft.node.node_id);
    drafts.dedup_by_key(|draft| draft.node.node_id);
    Ok(drafts)
}
