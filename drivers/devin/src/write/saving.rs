//! A session being written: one transaction, in which the session comes first, then its messages
//! as they are handed over, and at the end what only the whole tells.

use super::cogs;
use super::header::{self, Row, prompt_rows, prompts_read, with_columns};
use super::id;
use super::node::{Made, Maker};
use super::promise::Promise;
use super::shape::{Filling, Shape};
use super::target::{Target, place_of};
use super::undo::Rows;
use crate::draft::draft;
use crate::facts::{Company, Facts, Outline};
use crate::forest::Forest;
use crate::heads::Head;
use crate::message::{COLUMNS, Row as Stored};
use crate::outcome::Updates;
use crate::place::{self, FOLDER, Source, TRANSCRIPTS};
use crate::schema::Schema;
use crate::session::Told;
use crate::value::{Columns, text};
use sepia_ir::{DriverError, ErrorCode, Loss, LossKind, MessageNode, SaveOptions, SaveReport, Session, SqlValue};
use sepia_sdk::carried::{KEY, difference, difference_of_session, restore};
use sepia_sdk::{Database, Host};
use std::collections::HashMap;

/// Losses of nodes told one by one; of more only the number is told, unless a reader has to know.
const MOST_LOSSES: usize = 1000;

/// Columns of a row of a message.
const NODE_COLUMNS: [&str; 6] = ["session_id", "node_id", "parent_node_id", "chat_message", "created_at", "metadata"];
/// Columns of a note of a sub-agent.
const HEAD_COLUMNS: [&str; 4] = ["session_id", "agent_id", "chain_node_id", "updated_at"];
/// Columns of a row of a call's state.
const STATE_COLUMNS: [&str; 4] = ["session_id", "tool_call_id", "tool_call_json", "tool_call_update_json"];

/// See the module.
pub struct DevinDraft {
    host: Host,
    id: String,
    header: Session,
    row: Row,
    maker: Maker,
    nodes: Vec<(Outline, Promise)>,
    updates: Updates,
    /// Sub-agents that the nodes tell of.
    heads: Vec<Head>,
    /// What the session is called by when it has no title, and what model it has when it names none.
    prompts: HashMap<i64, String>,
    models: HashMap<i64, String>,
    losses: Vec<Loss>,
    more_losses: usize,
    shape: Shape,
    /// None in a dry run, and once the session is in its place.
    writing: Option<Writing>,
    /// The rows that were there before.
    replaced: Vec<Rows>,
    source: Source,
}

/// The open transaction, and how rows get into it.
struct Writing {
    target: Target,
    nodes: Filling,
    states: Option<Filling>,
}

/// The database that sessions are written to. Only the agent makes one: what else is in it no
/// one but the agent knows.
fn source(host: &Host) -> Result<Source, DriverError> {
    for source in Source::DATABASES {
        if let Some(opened) = place::open(host, source)? {
            if opened.schema.has_sessions() && opened.schema.has_nodes() {
                return Ok(source);
            }
            let message = format!(
                "`{}` has no tables of sessions that this driver knows; start the agent once and try again",
                source.file()
            );
            return Err(DriverError::new(ErrorCode::Unsupported, message));
        }
    }
    let message = "there is no database of the agent to write to, which only the agent itself makes; start it once \
                   and try again";
    Err(DriverError::new(ErrorCode::Unsupported, message))
}

/// Whether something is called so already, in a database or as a transcript.
fn is_taken(host: &Host, id: &str) -> Result<bool, DriverError> {
    for source in Source::DATABASES {
        if let Some(opened) = place::open(host, source)?
            && opened.schema.has_sessions()
            && !opened.database.rows("SELECT 1 FROM sessions WHERE id = ? LIMIT 1", &[text(id)])?.is_empty()
        {
            return Ok(true);
        }
    }
    match host.read(FOLDER, &format!("{TRANSCRIPTS}/{id}.json"), 0, 1) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.code, ErrorCode::NotFound | ErrorCode::Invalid) => Ok(false),
        Err(error) => Err(error),
    }
}

impl DevinDraft {
    pub(crate) fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<Self, DriverError> {
        let source = source(host)?;
        let id = if header.id.is_empty() {
            id::fresh(|id| is_taken(host, id))?
        } else if id::is_native(&header.id) {
            header.id.clone()
        } else {
            let message = "the id of the session is none that this agent can have (letters, digits, `-` and `_`, at most \
                           128); leave it out for a fresh one";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        };
        if !options.replace && is_taken(host, &id)? {
            return Err(taken(&id));
        }
        let (store, path) = place_of(source);
        let (shape, row) = {
            let reading = host.database(store, path)?;
            let shape = Shape::probe(&*reading)?;
            let cogs = cogs::of(&header, &Schema::probe(&*reading)?, &*reading)?;
            (shape, Row::of(&header, &id, cogs)?)
        };
        let begun = if header.created_at > 0.0 { header.created_at } else { header.last_activity_at };
        let mut draft = Self {
            host: host.clone(),
            maker: Maker::new(&id, &header.working_directory, begun),
            nodes: Vec::new(),
            updates: Updates::default(),
            heads: Vec::new(),
            prompts: HashMap::new(),
            models: HashMap::new(),
            losses: Vec::new(),
            more_losses: 0,
            writing: None,
            replaced: Vec::new(),
            source,
            id,
            header,
            row,
            shape,
        };
        draft.row.tip = Some(draft.header.main_chain_id);
        if options.dry_run {
            draft.check_fillings()?;
        } else {
            draft.start(options.replace)?;
        }
        Ok(draft)
    }

    /// Whether every table can be filled.
    fn check_fillings(&self) -> Result<(), DriverError> {
        self.shape.filling("sessions", &header::COLUMNS)?;
        self.shape.filling("message_nodes", &NODE_COLUMNS)?;
        self.shape.filling("tool_call_state", &STATE_COLUMNS)?;
        self.shape.filling("prompt_history", &header::PROMPT_COLUMNS)?;
        Ok(())
    }

    /// Opens the transaction and puts the session into it.
    fn start(&mut self, replace: bool) -> Result<(), DriverError> {
        let target = Target::open(&self.host, self.source)?;
        let missing =
            || DriverError::new(ErrorCode::Unsupported, "the database has no table of sessions or of messages");
        let sessions = target.shape.filling("sessions", &header::COLUMNS)?.ok_or_else(missing)?;
        let nodes = target.shape.filling("message_nodes", &NODE_COLUMNS)?.ok_or_else(missing)?;
        let states = target.shape.filling("tool_call_state", &STATE_COLUMNS)?;
        target.shape.filling("prompt_history", &header::PROMPT_COLUMNS)?;
        target.database.begin()?;
        // From here on nobody else changes the database.
        if target.has(&self.id)? {
            if !replace {
                return Err(taken(&self.id));
            }
            self.replaced = target.copy(&self.host, &self.id, None)?;
            target.delete(&self.id, false)?;
        }
        sessions.insert(&*target.database, self.row.values(None))?;
        self.writing = Some(Writing { target, nodes, states });
        Ok(())
    }

    fn append_one(&mut self, node: MessageNode) -> Result<(), DriverError> {
        let last = self.nodes.last().map(|(outline, _)| outline.id);
        if node.node_id < 0 || last.is_some_and(|last| node.node_id <= last) {
            return Err(invalid(format!("node {} does not come after the one before it", node.node_id)));
        }
        if let Some(parent) = node.parent_node_id
            && self.nodes.binary_search_by_key(&parent, |(outline, _)| outline.id).is_err()
        {
            return Err(invalid(format!("node {} follows node {parent}, which did not come before it", node.node_id)));
        }
        let Made { id, parent, written, message, marks, states, outline, promise, prompt, model, losses, head } =
            self.maker.make(node)?;
        self.heads.extend(head.filter(|head| self.heads.iter().all(|known| known.agent != head.agent)));
        for loss in losses {
            if loss.kind != LossKind::MetadataOnly || self.losses.len() < MOST_LOSSES {
                self.losses.push(loss);
            } else {
                self.more_losses += 1;
            }
        }
        if let Some(prompt) = prompt.filter(|_| !self.row.has_title()) {
            self.prompts.insert(id, prompt);
        }
        if let Some(model) = model.filter(|_| self.header.model.is_empty()) {
            self.models.insert(id, model);
        }
        if let Some(writing) = &self.writing {
            let database = &*writing.target.database;
            let row = vec![
                text(&self.id),
                SqlValue::Integer(id),
                parent.map_or(SqlValue::Null, SqlValue::Integer),
                SqlValue::Text(message),
                SqlValue::Integer(written),
                marks.map_or(SqlValue::Null, SqlValue::Text),
            ];
            writing.nodes.insert(database, row)?;
        }
        for state in states {
            // Of a call that is told twice the first counts, as the table has it once.
            if !self.updates.note(&state.call, state.outcome) {
                continue;
            }
            if let Some(Writing { target, states: Some(filling), .. }) = &self.writing {
                let update = state.update.map_or(SqlValue::Null, SqlValue::Text);
                let row = vec![text(&self.id), SqlValue::Text(state.call), SqlValue::Text(state.json), update];
                filling.insert(&*target.database, row)?;
            }
        }
        self.nodes.push((outline, promise));
        Ok(())
    }

    /// What only the whole tells, in the transaction that is open.
    fn complete(&mut self) -> Result<(), DriverError> {
        let tip = self.nodes.last().map(|(outline, _)| outline.id);
        let wanted = self.header.main_chain_id;
        let is_there = self.nodes.binary_search_by_key(&wanted, |(outline, _)| outline.id).is_ok();
        self.row.tip = if is_there { Some(wanted) } else { tip };
        let (outlines, promises): (Vec<Outline>, Vec<Promise>) = std::mem::take(&mut self.nodes).into_iter().unzip();
        if !self.shape.has("tool_call_state", &["session_id", "tool_call_id", "tool_call_update_json"]) {
            self.updates = Updates::default();
        }
        let facts = Facts::of(&outlines, self.row.tip);
        let forest = Forest::of(outlines.iter().map(|outline| (outline.id, outline.parent)));
        let tip = self.row.tip;
        let can_note = self.shape.has("subagent_heads", &["session_id", "agent_id", "chain_node_id"]);
        self.heads.retain(|head| can_note && forest.of_sub_agent(tip, head.tip).is_some());
        self.keep_promises(&outlines, &promises, &facts)?;
        self.note_heads()?;

        let latest = self.latest_prompt()?;
        let prompts = prompt_rows(&self.header, &self.id, header::in_milliseconds(latest));
        let carried = self.difference(&outlines, &facts, &prompts);
        self.losses.extend(header::losses(&self.header, &self.shape, carried.is_some()));
        if let Some(Writing { target, .. }) = &self.writing {
            let database = &*target.database;
            if let Some(filling) = target.shape.filling("prompt_history", &header::PROMPT_COLUMNS)? {
                for row in prompts {
                    filling.insert(database, row)?;
                }
            }
            if target.shape.has("sessions", &["metadata"]) {
                let metadata = self.row.with(carried.as_deref()).map_or(SqlValue::Null, SqlValue::Text);
                if metadata != SqlValue::Null {
                    database.execute("UPDATE sessions SET metadata = ? WHERE id = ?", &[metadata, text(&self.id)])?;
                }
            }
            if target.shape.has("sessions", &["main_chain_id"]) && self.row.tip != Some(wanted) {
                let tip = self.row.tip.map_or(SqlValue::Null, SqlValue::Integer);
                let tip = if self.row.tip.is_none() && target.shape.is_filled("sessions", "main_chain_id") {
                    SqlValue::Integer(0)
                } else {
                    tip
                };
                database.execute("UPDATE sessions SET main_chain_id = ? WHERE id = ?", &[tip, text(&self.id)])?;
            }
        }
        Ok(())
    }

    /// Notes the sub-agents whose messages are among those of the session.
    fn note_heads(&self) -> Result<(), DriverError> {
        let Some(Writing { target, .. }) = &self.writing else { return Ok(()) };
        let Some(filling) = target.shape.filling("subagent_heads", &HEAD_COLUMNS)? else { return Ok(()) };
        for head in &self.heads {
            #[expect(clippy::cast_possible_truncation, reason = "times are far below 2^63")]
            let updated = SqlValue::Integer(head.updated as i64);
            let row = vec![text(&self.id), text(&head.agent), SqlValue::Integer(head.tip), updated];
            filling.insert(&*target.database, row)?;
        }
        Ok(())
    }

    /// Time of the newest prompt that is there, as stored.
    fn latest_prompt(&self) -> Result<Option<f64>, DriverError> {
        if self.header.prompt_history.is_empty() || !self.shape.has("prompt_history", &["timestamp"]) {
            return Ok(None);
        }
        let sql = "SELECT MAX(timestamp) FROM prompt_history";
        let rows = if let Some(writing) = &self.writing {
            let database: &dyn Database = &*writing.target.database;
            database.rows(sql, &[])?
        } else {
            let (store, path) = place_of(self.source);
            self.host.database(store, path)?.rows(sql, &[])?
        };
        Ok(rows.into_iter().next().and_then(|row| Columns::of(row).number()))
    }

    /// What of the session the columns don't say.
    fn difference(&self, outlines: &[Outline], facts: &Facts, prompts: &[Vec<SqlValue>]) -> Option<String> {
        let newest = outlines.last().map(|outline| outline.id);
        let (mut listed, stored) = self.row.read(&self.shape, self.source, newest)?;
        let history = prompts_read(prompts, &self.shape);
        let live = || outlines.iter().zip(&facts.nodes).filter(|(_, fact)| fact.live).map(|(outline, _)| outline.id);
        let prompt = live().find_map(|id| self.prompts.get(&id)).map(String::as_str);
        let model = live().filter_map(|id| self.models.get(&id)).next_back().map(String::as_str);
        header::complete(&mut listed, &history, prompt, model);
        let told =
            Told { file: self.source.file(), listed: &listed, stored: Some(&stored), spawned_by: None, stats: None };
        let mut native = told.header(outlines, facts, Vec::new());
        native.prompt_history = history.in_order();
        let carried = difference_of_session(&self.header, &native)?;
        Some(with_columns(&carried, &native))
    }

    /// Looks at the rows again that were written for something else than came.
    fn keep_promises(&self, outlines: &[Outline], promises: &[Promise], facts: &Facts) -> Result<(), DriverError> {
        let Some(writing) = &self.writing else { return Ok(()) };
        let company = Company { session: &self.id, heads: &self.heads, updates: &self.updates };
        for ((outline, promise), fact) in outlines.iter().zip(promises).zip(&facts.nodes) {
            if !promise.is_kept(outline, fact, facts, &company) {
                self.settle(&writing.target, outline.id, promise, facts)?;
            }
        }
        Ok(())
    }

    /// Has a row carry what its node lacks now that all rows are known.
    fn settle(&self, target: &Target, node: i64, promise: &Promise, facts: &Facts) -> Result<(), DriverError> {
        let columns: Vec<String> = COLUMNS.iter().map(|name| super::shape::quoted(name)).collect();
        let sql = format!("SELECT {} FROM message_nodes WHERE session_id = ? AND node_id = ?", columns.join(", "));
        let which = [text(&self.id), SqlValue::Integer(node)];
        let database: &dyn Database = &*target.database;
        let Some(row) = database.rows(&sql, &which)?.into_iter().find_map(Stored::of) else { return Ok(()) };
        let Some(place) = facts.place(node) else { return Ok(()) };
        let company = Company { session: &self.id, heads: &self.heads, updates: &self.updates };
        let promised: Vec<Head> =
            promise.agent.iter().map(|agent| Head { agent: agent.clone(), tip: node, updated: 0.0 }).collect();
        let promised = Company { heads: &promised, ..company };
        let file = target.source.file();
        let (known, read) = (facts.nodes[place], draft(&row, file));
        let carried = read.carried.clone();
        let native = facts.told(read, known, &company);
        let mut wanted = facts.told(draft(&row, file), promise.fact(known), &promised);
        promise.apply(&mut wanted);
        if let Some(carried) = carried {
            // It was made a moment ago, here.
            let _ = restore(&mut wanted, &carried);
        }
        let place = format!("$.metadata.extensions.\"{KEY}\"");
        let [session, node] = which;
        let which = "WHERE session_id = ? AND node_id = ?";
        if let Some(carried) = difference(&wanted, &native) {
            let sql = format!("UPDATE message_nodes SET chat_message = json_set(chat_message, ?, json(?)) {which}");
            target.database.execute(&sql, &[text(&place), text(&carried), session, node])?;
        } else {
            let sql = format!("UPDATE message_nodes SET chat_message = json_remove(chat_message, ?) {which}");
            target.database.execute(&sql, &[text(&place), session, node])?;
        }
        Ok(())
    }
}

fn taken(id: &str) -> DriverError {
    DriverError::new(ErrorCode::Conflict, format!("there is a session `{id}` already; replace it, or take another id"))
}

fn invalid(what: String) -> DriverError {
    DriverError::new(ErrorCode::Invalid, format!("the nodes are in no order that can be written: {what}"))
}

impl sepia_sdk::Draft for DevinDraft {
    fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), DriverError> {
        nodes.into_iter().try_for_each(|node| self.append_one(node))
    }

    fn commit(&mut self) -> Result<SaveReport, DriverError> {
        self.complete()?;
        if let Some(writing) = self.writing.take() {
            // Dropped without it, the transaction did not happen.
            writing.target.database.commit()?;
        }
        if self.more_losses > 0 {
            let message = format!("{} more nodes have something that is kept beside them", self.more_losses);
            self.losses.push(Loss { kind: LossKind::MetadataOnly, node_id: None, message });
        }
        Ok(SaveReport {
            id: self.id.clone(),
            losses: std::mem::take(&mut self.losses),
            resume_command: vec!["devin".to_owned(), "--resume".to_owned(), self.id.clone()],
            working_directory: self.header.working_directory.clone(),
        })
    }

    fn undo(&mut self) -> Result<(), DriverError> {
        let target = Target::open(&self.host, self.source)?;
        target.all_or_nothing(|| {
            target.delete(&self.id, false)?;
            target.put_back(&self.replaced)
        })
    }
}
