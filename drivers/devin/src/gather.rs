//! A session looked through: what its rows tell, each and all together.

use crate::draft::{Draft, Prompt, draft};
use crate::facts::{Company, Facts, Outline};
use crate::forest::Forest;
use crate::heads::{Heads, Note};
use crate::message::{COLUMNS, Row};
use crate::order;
use crate::outcome::Updates;
use crate::place::{Opened, is_id};
use crate::prompts::Prompts;
use crate::row::{LISTED, Listed, dangling, from_nodes, from_prompt, listed_row};
use crate::rows::{ROWS, Rows};
use crate::session::{Found, STORED, Stored, find};
use crate::stats::{Stats, stats};
use crate::value::{Columns, text};
use sepia_ir::{DriverError, ErrorCode, MessageNode, Session, SessionRef, SqlValue, Warning};
use sepia_sdk::one_line;
use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

/// A session looked through.
pub(crate) struct Gathered {
    pub(crate) found: Found,
    pub(crate) outlines: Vec<Outline>,
    pub(crate) facts: Facts,
    pub(crate) updates: Updates,
    pub(crate) prompts: Prompts,
    /// Of rows and of their messages.
    pub(crate) warnings: Vec<Warning>,
    /// The nodes, when they were kept.
    drafts: Option<Vec<Draft>>,
}

/// Looks a session of a database through. Its nodes are kept while their rows have no more bytes
/// than `most`. None when the database has no such session.
pub(crate) fn gather(opened: &Rc<Opened>, session: &SessionRef, most: usize) -> Result<Option<Gathered>, DriverError> {
    if !is_id(&session.id) {
        return Ok(None);
    }
    if session.agent_id.is_none() {
        let gathered = at_once(opened, &session.id, most)?;
        if gathered.is_some() || !session.id.contains('/') {
            return Ok(gathered);
        }
    }
    let found = find(opened, session)?;
    found.map(|found| look(found, most)).transpose()
}

/// What comes of the rows of nodes, one after the other.
#[derive(Default)]
struct Nodes {
    outlines: Vec<Outline>,
    drafts: Vec<Draft>,
    warnings: Vec<Warning>,
    bytes: usize,
    odd: u64,
}

impl Nodes {
    fn take(&mut self, row: &Row, file: &str, most: usize) {
        self.bytes += row.bytes();
        let draft = draft(row, file);
        self.outlines.push(Outline::of(&draft));
        self.warnings.extend_from_slice(&draft.warnings);
        if self.bytes <= most {
            self.drafts.push(draft);
        } else {
            self.drafts = Vec::new();
        }
    }

    /// Brings them into the order of their ids, each once, and tells of the rest.
    fn finish(mut self, file: &str, most: usize) -> (Vec<Outline>, Option<Vec<Draft>>, Vec<Warning>) {
        if !self.outlines.is_sorted_by(|a, b| a.id < b.id) {
            let before = self.outlines.len();
            self.outlines = order::by(self.outlines, |outline| outline.id);
            self.outlines.dedup_by_key(|outline| outline.id);
            self.drafts = order::by(self.drafts, |draft| draft.node.node_id);
            self.drafts.dedup_by_key(|draft| draft.node.node_id);
            self.odd += (before - self.outlines.len()) as u64;
        }
        if self.odd > 0 {
            let message = format!("{} rows of the session have no node id of their own; they are left out", self.odd);
            self.warnings.push(Warning::new("broken-row", message).in_file(file));
        }
        (self.outlines, (self.bytes <= most).then_some(self.drafts), self.warnings)
    }
}

/// Looks a session through that was looked up.
pub(crate) fn look(found: Found, most: usize) -> Result<Gathered, DriverError> {
    let keeper = found.keeper().to_owned();
    let file = found.opened.source.file();
    let mut nodes = Nodes::default();
    let (updates, warnings) = Updates::read(&found.opened, &keeper)?;
    nodes.warnings = warnings;
    if found.opened.schema.has_nodes() {
        let ids = found.listed.inside.as_ref().map(|inside| inside.nodes.as_slice());
        let mut rows = Rows::of(&found.opened, &keeper, ids)?;
        while let Some(row) = rows.next()? {
            nodes.take(&row, file, most);
        }
        nodes.odd = rows.odd;
    }
    let (outlines, drafts, warnings) = nodes.finish(file, most);
    let facts = Facts::of(&outlines, found.listed.named_tip);
    Ok(Gathered { found, outlines, facts, updates, prompts: Prompts::default(), warnings, drafts })
}

/// Kinds of the rows of [`everything`]; the columns of the session come first, in parts.
const HEAD: i64 = 100;
const PROMPT: i64 = 101;
const UPDATE: i64 = 102;
const NODE: i64 = 103;
/// Columns of such a row, behind its kind.
const WIDTH: usize = COLUMNS.len();

/// Everything about one session in one query: most sessions are small, and asking costs more
/// than what comes back.
fn everything(opened: &Opened) -> String {
    let schema = &opened.schema;
    let columns: Vec<&str> = LISTED.into_iter().chain(STORED).collect();
    let part = |(part, columns): (usize, &[&str])| {
        let padding = ", NULL".repeat(WIDTH - columns.len());
        format!("SELECT {part}, {}{padding} FROM sessions s WHERE s.id = ?1", schema.select("sessions", "s", columns))
    };
    let mut parts: Vec<String> = columns.chunks(WIDTH).enumerate().map(part).collect();
    parts.extend(Heads::sql(schema).map(|sql| format!("SELECT {HEAD}, a.* FROM ({sql}) a")));
    parts.extend(Prompts::sql(schema).map(|sql| format!("SELECT {PROMPT}, a.*, NULL FROM ({sql}) a")));
    parts.extend(Updates::sql(schema).map(|sql| format!("SELECT {UPDATE}, a.*, NULL FROM ({sql}) a")));
    if schema.has_nodes() {
        let columns = schema.select("message_nodes", "n", &COLUMNS);
        parts.push(format!("SELECT {NODE}, {columns} FROM message_nodes n WHERE n.session_id = ?1"));
    }
    parts.join(" UNION ALL ")
}

fn at_once(opened: &Rc<Opened>, id: &str, most: usize) -> Result<Option<Gathered>, DriverError> {
    let file = opened.source.file();
    let (mut columns, mut notes, mut prompts) = (Vec::new(), Vec::new(), Prompts::default());
    let (mut updates, mut nodes) = (Updates::default(), Nodes::default());
    let mut query = opened.database.query(&everything(opened), &[text(id)])?;
    loop {
        let batch = match query.next(ROWS) {
            // What lies before the damage is still good.
            Err(error) if error.code == ErrorCode::Store && !columns.is_empty() => {
                let message = format!("not all of the session could be read: {error}");
                nodes.warnings.push(Warning::new("unreadable-rows", message).in_file(file));
                break;
            }
            batch => batch?,
        };
        if batch.is_empty() {
            break;
        }
        for mut row in batch {
            let kind = row.drain(..1).next();
            let Some(SqlValue::Integer(kind)) = kind else { continue };
            match kind {
                HEAD => notes.push(Note::of(&mut Columns::of(row))),
                PROMPT => prompts.take(&mut Columns::of(row)),
                UPDATE => nodes.warnings.extend(updates.take(&mut Columns::of(row))),
                NODE => match Row::of(row) {
                    Some(row) => nodes.take(&row, file, most),
                    None => nodes.odd += 1,
                },
                // Of two sessions with one id the first counts.
                _ if columns.len() < LISTED.len() + STORED.len() => columns.extend(row),
                _ => {}
            }
        }
    }
    drop(query);
    if columns.len() < LISTED.len() + STORED.len() {
        return Ok(None);
    }
    let mut stored = columns.split_off(LISTED.len());
    stored.truncate(STORED.len());
    let heads = Rc::new(Heads::from_notes(notes));
    let Some(mut listed) = listed_row(file, columns, &heads) else { return Ok(None) };
    let stored = Stored::of(stored);
    listed.carried = stored.carried();
    let (outlines, drafts, warnings) = nodes.finish(file, most);
    let facts = Facts::of(&outlines, listed.named_tip);
    from_prompt(&mut listed, prompts.first());
    match &drafts {
        Some(drafts) => from_drafts(&mut listed, drafts, &facts),
        None => from_nodes(opened, &mut listed)?,
    }
    listed.put_back();
    let forest = Forest::of(outlines.iter().map(|outline| (outline.id, outline.parent)));
    for head in heads.of(id) {
        if forest.of_sub_agent(listed.named_tip, head.tip).is_none() {
            listed.warnings.push(dangling(opened, head));
        }
    }
    let found = Found { opened: Rc::clone(opened), heads, listed, stored: Some(stored) };
    Ok(Some(Gathered { found, outlines, facts, updates, prompts, warnings, drafts }))
}

/// Takes from messages in hand what a row lacks.
fn from_drafts(listed: &mut Listed, drafts: &[Draft], facts: &Facts) {
    let live = || drafts.iter().zip(&facts.nodes).filter(|(_, fact)| fact.live).map(|(draft, _)| draft);
    if listed.session.title.is_empty() {
        let said =
            |prompt: Prompt| live().find(|draft| draft.prompt == prompt && !draft.node.content.trim().is_empty());
        let prompt = said(Prompt::Typed).or_else(|| said(Prompt::Unsaid)).map(|draft| draft.node.content.as_str());
        from_prompt(listed, prompt);
    }
    if listed.session.title.is_empty() {
        listed.session.title = one_line(&listed.session.id);
        listed.title_source = "id";
    }
    if listed.session.model.is_empty() {
        let last = live().filter_map(|draft| draft.node.model.as_ref()).next_back();
        listed.session.model = last.cloned().unwrap_or_default();
    }
}

impl Gathered {
    /// With the facts of an earlier look, without nodes.
    pub(crate) fn recalled(found: Found, facts: Facts, updates: Updates, warnings: Vec<Warning>) -> Self {
        Self { found, outlines: Vec::new(), facts, updates, prompts: Prompts::default(), warnings, drafts: None }
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
pub(crate) fn elsewhere<'a>(rows: impl Iterator<Item = &'a Listed>) -> HashSet<i64> {
    rows.filter_map(|row| row.inside.as_ref()).flat_map(|inside| inside.nodes.iter().copied()).collect()
}
