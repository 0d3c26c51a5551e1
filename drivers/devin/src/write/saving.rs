//! A session being written: one transaction, in which the session comes first, then its messages
//! as they are handed over, and at the end what only the whole tells.

use super::cogs;
use super::destination::Destination;
use super::header::{self, Row, prompt_rows, prompts_read, with_columns};
use super::id;
use super::node::{Made, Maker};
use super::promise::Promise;
use super::shape::{Filling, Shape};
use super::target::Target;
use super::undo::Rows;
use super::whole::Whole;
use crate::facts::Outline;
use crate::heads::Head;
use crate::outcome::Updates;
use crate::session::Told;
use crate::value::{Columns, text};
use sepia_ir::{DriverError, ErrorCode, Loss, LossKind, MessageNode, SaveOptions, SaveReport, Session, SqlValue};
use sepia_sdk::Host;
use sepia_sdk::carried::difference_of_session;
use std::collections::HashMap;

/// Losses of nodes told one by one; of more only the number is told, unless a reader has to know.
const MOST_LOSSES: usize = 1000;

/// Columns of a row of a message.
const NODE_COLUMNS: [&str; 6] = ["session_id", "node_id", "parent_node_id", "chat_message", "created_at", "metadata"];
/// Columns of a row of a call's state.
const STATE_COLUMNS: [&str; 4] = ["session_id", "tool_call_id", "tool_call_json", "tool_call_update_json"];

/// See the module.
pub struct DevinDraft {
    host: Host,
    id: String,
    header: Session,
    row: Row,
    maker: Maker,
    destination: Destination,
    fillings: Fillings,
    nodes: Vec<(Outline, Promise)>,
    updates: Updates,
    /// Sub-agents that the nodes tell of.
    heads: Vec<Head>,
    /// What the session is called by when it has no title, and what model it has when it names none.
    prompts: HashMap<i64, String>,
    models: HashMap<i64, String>,
    losses: Vec<Loss>,
    more_losses: usize,
    /// The rows that were there before.
    replaced: Vec<Rows>,
}

/// How rows get into their tables.
struct Fillings {
    sessions: Filling,
    nodes: Filling,
    states: Option<Filling>,
    prompts: Option<Filling>,
}

impl Fillings {
    fn of(shape: &Shape) -> Result<Self, DriverError> {
        let missing =
            || DriverError::new(ErrorCode::Unsupported, "the database has no table of sessions or of messages");
        Ok(Self {
            sessions: shape.filling("sessions", &header::COLUMNS)?.ok_or_else(missing)?,
            nodes: shape.filling("message_nodes", &NODE_COLUMNS)?.ok_or_else(missing)?,
            states: shape.filling("tool_call_state", &STATE_COLUMNS)?,
            prompts: shape.filling("prompt_history", &header::PROMPT_COLUMNS)?,
        })
    }
}

impl DevinDraft {
    pub(crate) fn begin(host: &Host, header: Session, options: &SaveOptions) -> Result<Self, DriverError> {
        if !header.id.is_empty() && !id::is_native(&header.id) {
            let message = "the id of the session is none that this agent can have (letters, digits, `-` and `_`, at \
                           most 128); leave it out for a fresh one";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        let destination = Destination::open(host, options.dry_run)?;
        let fillings = Fillings::of(&destination.shape)?;
        let id = if header.id.is_empty() {
            id::fresh(|id| destination.is_taken(host, id))?
        } else {
            if !options.replace && destination.is_taken(host, &header.id)? {
                let id = &header.id;
                let message = format!("there is a session `{id}` already; replace it, or take another id");
                return Err(DriverError::new(ErrorCode::Conflict, message));
            }
            header.id.clone()
        };
        let cogs = cogs::of(&header, &destination.shape, destination.database())?;
        let mut row = Row::of(&header, &id, cogs)?;
        row.tip = Some(header.main_chain_id);
        let mut replaced = Vec::new();
        if let Some(target) = destination.target() {
            if target.has(&id)? {
                replaced = target.copy(host, &id, None)?;
                target.delete(&id, false)?;
            }
            fillings.sessions.insert(&*target.database, row.values(None))?;
        }
        let begun = if header.created_at > 0.0 { header.created_at } else { header.last_activity_at };
        Ok(Self {
            host: host.clone(),
            maker: Maker::new(&id, &header.working_directory, begun),
            destination,
            fillings,
            nodes: Vec::new(),
            updates: Updates::default(),
            heads: Vec::new(),
            prompts: HashMap::new(),
            models: HashMap::new(),
            losses: Vec::new(),
            more_losses: 0,
            replaced,
            id,
            header,
            row,
        })
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
        if let Some(target) = self.destination.target() {
            let row = vec![
                text(&self.id),
                SqlValue::Integer(id),
                parent.map_or(SqlValue::Null, SqlValue::Integer),
                SqlValue::Text(message),
                SqlValue::Integer(written),
                marks.map_or(SqlValue::Null, SqlValue::Text),
            ];
            self.fillings.nodes.insert(&*target.database, row)?;
        }
        for state in states {
            // Of a call that is told twice the first counts: the table has it once.
            if self.updates.note(&state.call, state.outcome)
                && let (Some(target), Some(filling)) = (self.destination.target(), &self.fillings.states)
            {
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
        let last = self.nodes.last().map(|(outline, _)| outline.id);
        let named = self.header.main_chain_id;
        let is_there = self.nodes.binary_search_by_key(&named, |(outline, _)| outline.id).is_ok();
        self.row.tip = if is_there { Some(named) } else { last };
        let nodes = std::mem::take(&mut self.nodes);
        let (updates, heads) = (std::mem::take(&mut self.updates), std::mem::take(&mut self.heads));
        let whole = Whole::of(&self.id, nodes, self.row.tip, updates, heads, &self.destination.shape);
        let prompts = prompt_rows(&self.header, &self.id, header::in_milliseconds(self.latest_prompt()?));
        let carried = self.difference(&whole, &prompts);
        self.losses.extend(header::losses(&self.header, &self.destination.shape, carried.is_some()));
        let Some(target) = self.destination.target() else { return Ok(()) };
        whole.finish(target)?;
        if let Some(filling) = &self.fillings.prompts {
            prompts.into_iter().try_for_each(|row| filling.insert(&*target.database, row))?;
        }
        self.set(target, "metadata", self.row.with(carried.as_deref()).map(SqlValue::Text))?;
        if !is_there {
            let none = target.shape.is_filled("sessions", "main_chain_id").then_some(0);
            self.set(target, "main_chain_id", self.row.tip.or(none).map(SqlValue::Integer))?;
        }
        Ok(())
    }

    /// Fills a column of the session, if there is such a one that can be filled so.
    fn set(&self, target: &Target, column: &str, value: Option<SqlValue>) -> Result<(), DriverError> {
        let value = value.unwrap_or(SqlValue::Null);
        if !target.shape.has("sessions", &[column])
            || value == SqlValue::Null && target.shape.is_filled("sessions", column)
        {
            return Ok(());
        }
        let sql = format!("UPDATE sessions SET {column} = ? WHERE id = ?");
        target.database.execute(&sql, &[value, text(&self.id)]).map(drop)
    }

    /// Time of the newest prompt that is there, as stored.
    fn latest_prompt(&self) -> Result<Option<f64>, DriverError> {
        if self.header.prompt_history.is_empty() || !self.destination.shape.has("prompt_history", &["timestamp"]) {
            return Ok(None);
        }
        let rows = self.destination.database().rows("SELECT MAX(timestamp) FROM prompt_history", &[])?;
        Ok(rows.into_iter().next().and_then(|row| Columns::of(row).number()))
    }

    /// What of the session the columns don't say.
    fn difference(&self, whole: &Whole, prompts: &[Vec<SqlValue>]) -> Option<String> {
        let Destination { shape, source, .. } = &self.destination;
        let newest = whole.outlines.last().map(|outline| outline.id);
        let (mut listed, stored) = self.row.read(shape, *source, newest)?;
        let history = prompts_read(prompts, shape);
        let prompt = whole.live().find_map(|id| self.prompts.get(&id)).map(String::as_str);
        let model = whole.live().filter_map(|id| self.models.get(&id)).next_back().map(String::as_str);
        header::complete(&mut listed, &history, prompt, model);
        let told = Told { file: source.file(), listed: &listed, stored: Some(&stored), spawned_by: None, stats: None };
        let mut native = told.header(&whole.outlines, &whole.facts, Vec::new());
        native.prompt_history = history.in_order();
        let carried = difference_of_session(&self.header, &native)?;
        Some(with_columns(&carried, &native))
    }
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
        if let Some(target) = self.destination.target() {
            target.database.commit()?;
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
        let target = Target::open(&self.host, self.destination.source)?;
        target.all_or_nothing(|| {
            target.delete(&self.id, false)?;
            target.put_back(&self.replaced)
        })
    }
}
