//! A session read from its start to its end.
//!
//! What a node is depends on others, before it and behind it: results of its calls, copies of
//! its message. A session of usual size is read once and completed in memory; a long one is
//! looked through first and then read again, in bounded memory.

use crate::atif;
use crate::draft::{Draft, draft};
use crate::facts::{Company, Facts, Outline};
use crate::message::{COLUMNS, Row};
use crate::outcome::Updates;
use crate::place::Opened;
use crate::prompts;
use crate::row::Listed;
use crate::session::{Found, find};
use crate::stats::{Stats, stats};
use crate::value::{list, text};
use sepia_ir::{DriverError, MessageNode, Session, SessionRef, Warning};
use sepia_sdk::{Host, Query};
use std::collections::{HashSet, VecDeque};

/// Longer sessions are read twice, bytes of their rows.
pub(crate) const WHOLE: usize = 24 << 20;
/// Rows asked for at a time.
const ROWS: usize = 256;
/// Nodes are handed over in batches of about so many bytes at most.
const BATCH: usize = 4 << 20;

/// See the module.
pub struct DevinTranscript {
    header: Session,
    rest: Rest,
}

/// The nodes that were not handed over yet.
enum Rest {
    /// All of them.
    Ready(VecDeque<MessageNode>),
    /// Rows that are still to be read.
    Rows(Box<Long>),
}

struct Long {
    gathered: Gathered,
    rows: Rows,
}

/// The rows of a session, in the order of their ids, each id once.
pub(crate) struct Rows {
    query: Box<dyn Query>,
    waiting: VecDeque<Row>,
    last: Option<i64>,
    /// Rows passed over.
    odd: u64,
}

impl Rows {
    pub(crate) fn of(opened: &Opened, session: &str, nodes: Option<&[i64]>) -> Result<Self, DriverError> {
        let columns = opened.schema.select("message_nodes", "n", &COLUMNS);
        let mut parameters = vec![text(session)];
        let mut which = String::new();
        if let Some(nodes) = nodes {
            which.push_str("AND n.node_id IN (SELECT value FROM json_each(?)) ");
            parameters.push(list(nodes));
        }
        let sql = format!("SELECT {columns} FROM message_nodes n WHERE n.session_id = ? {which}ORDER BY n.node_id");
        let query = opened.database.query(&sql, &parameters)?;
        Ok(Self { query, waiting: VecDeque::new(), last: None, odd: 0 })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Row>, DriverError> {
        loop {
            while let Some(row) = self.waiting.pop_front() {
                if self.last.is_none_or(|last| row.id > last) {
                    self.last = Some(row.id);
                    return Ok(Some(row));
                }
                self.odd += 1;
            }
            let batch = self.query.next(ROWS)?;
            if batch.is_empty() {
                return Ok(None);
            }
            let before = batch.len();
            self.waiting.extend(batch.into_iter().filter_map(Row::of));
            self.odd += (before - self.waiting.len()) as u64;
        }
    }
}

/// A session looked through.
pub(crate) struct Gathered {
    pub(crate) found: Found,
    pub(crate) outlines: Vec<Outline>,
    pub(crate) facts: Facts,
    pub(crate) updates: Updates,
    /// Of rows and of their messages.
    pub(crate) warnings: Vec<Warning>,
    /// The nodes, when they were kept.
    drafts: Option<Vec<Draft>>,
}

/// Looks a session through. Its nodes are kept while their rows have no more bytes than that.
pub(crate) fn gather(found: Found, most: usize) -> Result<Gathered, DriverError> {
    let keeper = found.keeper().to_owned();
    let (updates, mut warnings) = Updates::read(&found.opened, &keeper)?;
    let (mut outlines, mut drafts, mut bytes) = (Vec::new(), Some(Vec::new()), 0);
    if found.opened.schema.has_nodes() {
        let nodes = found.listed.inside.as_ref().map(|inside| inside.nodes.as_slice());
        let mut rows = Rows::of(&found.opened, &keeper, nodes)?;
        let file = found.opened.source.file();
        while let Some(row) = rows.next()? {
            bytes += row.bytes();
            let draft = draft(&row, file);
            outlines.push(Outline::of(&draft));
            warnings.extend_from_slice(&draft.warnings);
            if bytes > most {
                drafts = None;
            }
            if let Some(drafts) = &mut drafts {
                drafts.push(draft);
            }
        }
        if rows.odd > 0 {
            let message = format!("{} rows of the session have no node id of their own; they are left out", rows.odd);
            warnings.push(Warning::new("broken-row", message).in_file(file));
        }
    }
    let facts = Facts::of(&outlines, found.listed.named_tip);
    Ok(Gathered { found, outlines, facts, updates, warnings, drafts })
}

impl Gathered {
    /// With the facts of an earlier look, without nodes.
    pub(crate) fn recalled(found: Found, facts: Facts, updates: Updates, warnings: Vec<Warning>) -> Self {
        Self { found, outlines: Vec::new(), facts, updates, warnings, drafts: None }
    }

    fn company(&self) -> Company<'_> {
        let session = self.found.keeper();
        Company { session, heads: self.found.heads.of(session), updates: &self.updates }
    }

    /// Completes a node; none when the session was looked through without it.
    pub(crate) fn finish(&self, draft: Draft) -> Option<MessageNode> {
        self.facts.finish(draft, &self.company())
    }

    /// All nodes, when they were kept.
    pub(crate) fn take_nodes(&mut self) -> Option<VecDeque<MessageNode>> {
        let drafts = self.drafts.take()?;
        Some(drafts.into_iter().filter_map(|draft| self.finish(draft)).collect())
    }

    /// Counts of the session.
    pub(crate) fn stats(&self, elsewhere: &HashSet<i64>) -> Stats {
        stats(&self.outlines, &self.facts, elsewhere)
    }

    pub(crate) fn header(&mut self, stats: Option<&Stats>) -> Result<Session, DriverError> {
        let warnings = std::mem::take(&mut self.warnings);
        self.found.header(&self.outlines, &self.facts, warnings, stats)
    }
}

/// Nodes of a session that count in those of its sub-agents.
pub(crate) fn elsewhere(rows: &[Listed]) -> HashSet<i64> {
    rows.iter().filter_map(|row| row.inside.as_ref()).flat_map(|inside| inside.nodes.iter().copied()).collect()
}

impl DevinTranscript {
    pub(crate) fn open(host: &Host, session: &SessionRef, most: usize) -> Result<Self, DriverError> {
        let Some(found) = find(host, session)? else {
            let (header, nodes) = atif::open(host, session)?;
            return Ok(Self { header, rest: Rest::Ready(nodes.into()) });
        };
        let mut gathered = gather(found, most)?;
        let mut header = gathered.header(None)?;
        if gathered.found.listed.inside.is_none() {
            header.prompt_history = prompts::read(&gathered.found.opened, &header.id)?;
        }
        let rest = match gathered.take_nodes() {
            Some(nodes) => Rest::Ready(nodes),
            None => {
                let nodes = gathered.found.listed.inside.as_ref().map(|inside| inside.nodes.as_slice());
                let rows = Rows::of(&gathered.found.opened, gathered.found.keeper(), nodes)?;
                gathered.outlines = Vec::new();
                Rest::Rows(Box::new(Long { gathered, rows }))
            }
        };
        Ok(Self { header, rest })
    }
}

impl sepia_sdk::Transcript for DevinTranscript {
    fn header(&self) -> Session {
        self.header.clone()
    }

    fn next(&mut self, max: usize) -> Result<Vec<MessageNode>, DriverError> {
        let mut nodes = Vec::new();
        let mut bytes = 0;
        while nodes.len() < max.max(1) && bytes < BATCH {
            match &mut self.rest {
                Rest::Ready(ready) => {
                    let Some(node) = ready.pop_front() else { break };
                    bytes += node.content.len();
                    nodes.push(node);
                }
                Rest::Rows(long) => {
                    let Some(row) = long.rows.next()? else { break };
                    bytes += row.bytes();
                    nodes.extend(long.gathered.finish(draft(&row, long.gathered.found.opened.source.file())));
                }
            }
        }
        Ok(nodes)
    }
}
