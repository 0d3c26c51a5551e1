//! A session being written as a chat: messages as they come, the two views of them and the settings
//! at the end.
//!
//! Nodes are held back only as long as their calls are not answered. What is kept of all of them
//! until the end is which blob each is, and under which node it hangs.

use super::home::{self, Home};
use super::losses::Losses;
use super::outgoing::{OwnMeta, outgoing};
use super::over::Over;
use super::rows::Rows;
use super::tool_step::{Ended, tool_step};
use super::turns::{self, Shown};
use super::{ending, native, note};
use crate::blobs::hex;
use crate::outcome::Outcome;
use crate::places::is_own_id;
use crate::step;
use crate::time;
use sepia_ir::{DriverError, ErrorCode, MessageNode, Role, SaveOptions, SaveReport, Session, SessionRef, SqlValue};
use sepia_sdk::{Draft, Host, WritableDatabase, carried};
use std::collections::{HashMap, HashSet};

/// A session being written.
pub struct CursorDraft {
    pub(super) host: Host,
    pub(super) header: Session,
    pub(super) home: Home,
    /// The chat that is saved over.
    pub(super) over: Option<Over>,
    pub(super) dry_run: bool,
    pub(super) database: Option<Box<dyn WritableDatabase>>,
    pub(super) rows: Rows,
    /// Name of the rows that ride along.
    pub(super) generation: String,
    pub(super) nodes: Vec<Sent>,
    /// Number of each node, by its id.
    pub(super) numbers: HashMap<i64, u32>,
    pub(super) losses: Losses,
    /// Nodes whose calls are not all answered yet.
    waiting: Vec<Waiting>,
    /// Ids of requests that prompts have.
    requests: HashSet<String>,
    archive: Archive,
    /// Times up to which the agent's own record may say when a prompt was typed, epoch seconds.
    latest: f64,
}

/// What is kept of a node until the end.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) node_id: i64,
    pub(super) parent: Option<u32>,
    pub(super) blob: [u8; 32],
    /// It can stand before the model.
    pub(super) fits: bool,
    pub(super) archived: bool,
    /// It is a context that the agent gave, not a prompt.
    pub(super) context: bool,
    pub(super) shown: Shown,
}

/// A node with calls, and what a reader would make of its message.
struct Waiting {
    number: u32,
    node: MessageNode,
    native: MessageNode,
    ended: HashMap<String, (Outcome, Ended)>,
}

/// Whether messages may still be such that a compaction took away: they come first, but for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Archive {
    Start,
    Open,
    Closed,
}

impl std::fmt::Debug for CursorDraft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CursorDraft")
            .field("home", &self.home)
            .field("nodes", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

impl CursorDraft {
    /// Starts writing a session; see `SessionWrite::begin`.
    pub(crate) fn begin(host: &Host, mut header: Session, options: &SaveOptions) -> Result<Self, DriverError> {
        let directory = home::directory(&header.working_directory)?.to_owned();
        header.working_directory = directory;
        let fresh = header.id.is_empty();
        if fresh {
            header.id = turns::fresh_id();
        } else if !is_own_id(&header.id) {
            let message =
                "the id is not of the form that Cursor gives, a UUID in lower case; leave it out for a fresh one";
            return Err(DriverError::new(ErrorCode::Invalid, message));
        }
        let session = SessionRef { id: header.id.clone(), agent_id: None };
        let known = !fresh && crate::locate::is_known(host, &header.id)?;
        if known && !options.replace {
            let message = format!("there is a session `{}` already; replace it, or save under a fresh id", header.id);
            return Err(DriverError::new(ErrorCode::Conflict, message));
        }
        let over = if known { Some(Over::find(host, &session, &header)?) } else { None };
        let home =
            over.as_ref().map_or_else(|| Home::fresh(&header.working_directory, &header.id), |over| over.home.clone());
        let latest = header.last_activity_at.min(now()) + time::SLACK / 2.0;
        let mut draft = Self {
            host: host.clone(),
            header,
            home,
            over,
            dry_run: options.dry_run,
            database: None,
            rows: Rows::new(host),
            generation: turns::generation(),
            nodes: Vec::new(),
            numbers: HashMap::new(),
            losses: Losses::default(),
            waiting: Vec::new(),
            requests: HashSet::new(),
            archive: Archive::Start,
            latest,
        };
        if !draft.dry_run {
            draft.database = Some(draft.opened()?);
        }
        Ok(draft)
    }

    /// The database that it is written to, in a transaction.
    fn opened(&self) -> Result<Box<dyn WritableDatabase>, DriverError> {
        if let Some(over) = &self.over {
            return over.open(&self.host, &self.generation);
        }
        let database = self.host.new_database(self.home.store, &self.home.database(), note::MODE)?;
        // What the agent's own store is like.
        for pragma in ["page_size = 4096", "journal_mode = WAL", "user_version = 1"] {
            database.execute(&format!("PRAGMA {pragma}"), &[])?;
        }
        database.begin()?;
        database.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)", &[])?;
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)", &[])?;
        // The agent's row is the first of its table; its value comes last.
        database.execute("INSERT INTO meta (key, value) VALUES ('0', '')", &[])?;
        Ok(database)
    }

    fn add(&mut self, node: MessageNode) -> Result<(), DriverError> {
        let number = u32::try_from(self.nodes.len()).map_err(|_| too_many())?;
        let parent = node.parent_node_id.and_then(|id| self.numbers.get(&id)).copied();
        if node.role != Role::Tool {
            self.settle_all()?;
        }
        let meta = OwnMeta::of(&node);
        let request = self.request(&node, &meta);
        let tool = self.tool(&node);
        let out = outgoing(&self.host, &node, &meta, request.as_deref(), &tool);
        let archived = self.archived(&meta, out.fits);
        let native = match native::of_usual(&node, &out, &meta, request.as_deref(), &tool) {
            Some(native) => native,
            None => native::of(&out.json, &hex(&out.id), archived, &meta)?,
        };
        self.rows.blob_as(self.database.as_deref(), out.id, out.json)?;
        for what in &out.left_out {
            self.losses.kept(node.node_id, what);
        }
        if !out.fits && out.left_out.is_empty() {
            self.losses.kept(node.node_id, if node.role == Role::System { "the system message" } else { "all" });
        }
        let shown = match (node.role, request) {
            (Role::User, Some(request)) if out.fits && !meta.is_injected() => {
                let at = self.stamp(node.created_at);
                let prompt = turns::prompt(&node.content, &turns::fresh_id(), meta.is_simulated(), at);
                Shown::Prompt { message: self.rows.blob(self.database.as_deref(), prompt)?, request }
            }
            _ => Shown::Nothing,
        };
        let (fits, context) = (out.fits, meta.is_context());
        self.nodes.push(Sent { node_id: node.node_id, parent, blob: out.id, fits, archived, context, shown });
        self.numbers.insert(node.node_id, number);
        match node.role {
            Role::Assistant => {
                self.waiting.push(Waiting { number, node, native, ended: HashMap::new() });
                if self.waiting.last().is_some_and(Waiting::is_answered) {
                    self.settle_all()?;
                }
            }
            Role::Tool => {
                self.answer(&node, &native)?;
                self.carry(number, &node, &native)?;
            }
            Role::User | Role::System => self.carry(number, &node, &native)?,
        }
        Ok(())
    }

    /// Id of the request that a prompt begins: its own where that is one of its own, else a fresh one.
    fn request(&mut self, node: &MessageNode, meta: &OwnMeta) -> Option<String> {
        if node.role != Role::User {
            return None;
        }
        let own = node.request_id.as_ref().filter(|id| !id.is_empty());
        if meta.is_injected() || (meta.is_own() && own.is_none()) {
            return own.cloned();
        }
        let request = match own {
            Some(own) if !self.requests.contains(own) => own.clone(),
            _ => turns::fresh_id(),
        };
        self.requests.insert(request.clone());
        Some(request)
    }

    /// The tool that a result is of.
    fn tool(&self, node: &MessageNode) -> String {
        let named = node.tool_name.as_ref().filter(|name| !name.is_empty()).cloned();
        let called = || {
            let calls = self.waiting.iter().rev().flat_map(|waiting| &waiting.node.tool_calls);
            calls.into_iter().find(|call| Some(&call.id) == node.tool_call_id.as_ref()).map(|call| call.name.clone())
        };
        named.or_else(called).unwrap_or_default()
    }

    /// Whether a message stays one that a compaction took away.
    fn archived(&mut self, meta: &OwnMeta, fits: bool) -> bool {
        if !fits {
            return false;
        }
        self.archive = match (self.archive, meta.archived) {
            (Archive::Start | Archive::Open, true) | (Archive::Start, false) => Archive::Open,
            _ => Archive::Closed,
        };
        self.archive == Archive::Open && meta.archived
    }

    /// When a prompt was typed, epoch milliseconds, as far as the agent's own record may say so.
    fn stamp(&self, at: f64) -> Option<u64> {
        (at > 0.0 && at <= self.latest).then(|| ms(at))
    }

    /// Takes what a result says of its call.
    fn answer(&mut self, node: &MessageNode, native: &MessageNode) -> Result<(), DriverError> {
        let (Some(id), Some(result)) = (&node.tool_call_id, native.tool_result) else { return Ok(()) };
        let outcome = Outcome { status: result.status, exit_code: result.exit_code, duration_ms: result.duration_ms };
        let asked = |waiting: &&mut Waiting| {
            waiting.node.tool_calls.iter().any(|call| call.id == *id) && !waiting.ended.contains_key(id)
        };
        if let Some(waiting) = self.waiting.iter_mut().find(asked) {
            waiting.ended.insert(id.clone(), (outcome, Ended::of(node)));
        }
        if self.waiting.iter().all(Waiting::is_answered) {
            self.settle_all()?;
        }
        Ok(())
    }

    /// Writes what waited for answers.
    pub(super) fn settle_all(&mut self) -> Result<(), DriverError> {
        for mut waiting in std::mem::take(&mut self.waiting) {
            let mut steps = Vec::new();
            for step in turns::told(&waiting.node) {
                steps.push(self.rows.blob(self.database.as_deref(), step)?);
            }
            for call in &waiting.node.tool_calls {
                let ended = waiting.ended.get(&call.id).map(|(_, ended)| ended);
                let step = tool_step(call, &self.header.working_directory, ended);
                steps.push(self.rows.blob(self.database.as_deref(), step)?);
            }
            if waiting.is_answered() {
                step::settle_calls(&mut waiting.native, |call| waiting.ended.get(call).map(|(outcome, _)| *outcome));
            } else {
                // What a later result would make of them is not known here: they are carried whole.
                waiting.native.tool_calls.clear();
            }
            if let Some(sent) = self.nodes.get_mut(waiting.number as usize) {
                sent.shown = Shown::Steps(steps);
            }
            self.carry(waiting.number, &waiting.node, &waiting.native)?;
        }
        Ok(())
    }

    /// Has ride along what the message has no place for.
    fn carry(&mut self, number: u32, node: &MessageNode, native: &MessageNode) -> Result<(), DriverError> {
        match carried::difference(node, native) {
            Some(text) => {
                let key = format!("{}:{}:{number}", carried::KEY, self.generation);
                self.rows.setting(self.database.as_deref(), key, text)
            }
            None => Ok(()),
        }
    }
}

impl Waiting {
    fn is_answered(&self) -> bool {
        self.node.tool_calls.iter().all(|call| self.ended.contains_key(&call.id))
    }
}

fn too_many() -> DriverError {
    DriverError::new(ErrorCode::Invalid, "the session has more nodes than a chat of Cursor can number")
}

/// Epoch seconds now.
pub(super) fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Epoch milliseconds of epoch seconds.
pub(super) fn ms(seconds: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
    let ms = sepia_sdk::time::milliseconds(seconds).clamp(0.0, 9e15) as u64;
    ms
}

impl Draft for CursorDraft {
    fn append(&mut self, nodes: Vec<MessageNode>) -> Result<(), DriverError> {
        nodes.into_iter().try_for_each(|node| self.add(node))
    }

    fn commit(&mut self) -> Result<SaveReport, DriverError> {
        self.settle_all()?;
        let ending = ending::of(self)?;
        if !self.dry_run {
            self.put(&ending)?;
        }
        let resume_command = match self.home.kind {
            // Sessions of the protocol are loaded by the protocol alone.
            crate::key::Kind::Acp => Vec::new(),
            _ => ["cursor-agent", "--resume", &self.header.id].map(str::to_owned).to_vec(),
        };
        Ok(SaveReport {
            id: self.header.id.clone(),
            losses: std::mem::take(&mut self.losses).finish(),
            resume_command,
            working_directory: self.header.working_directory.clone(),
        })
    }

    fn undo(&mut self) -> Result<(), DriverError> {
        self.database = None;
        match &self.over {
            Some(over) => over.undo(&self.host, &self.generation),
            None => self.host.discard(self.home.store, &self.home.folder).map(|_| ()),
        }
    }
}

impl CursorDraft {
    /// Puts the session in its place: what makes it seen comes last.
    fn put(&mut self, ending: &ending::Ending) -> Result<(), DriverError> {
        let Some(database) = self.database.take() else { return Ok(()) };
        self.rows.flush(Some(&*database))?;
        if self.over.is_some() {
            super::over::point(&*database, ending)?;
        } else {
            let settings = SqlValue::Text(hex(ending.settings.as_bytes()));
            database.execute("UPDATE meta SET value = ? WHERE key = '0'", &[settings])?;
        }
        database.commit()?;
        drop(database);
        // The database says what the file is to be until it is that.
        let before = self.over.as_ref().and_then(|over| over.note.as_ref()).map(|(_, bytes)| *bytes);
        let written = self.host.replace(self.home.store, &self.home.note(), ending.note.as_bytes(), note::MODE, before);
        if let Err(error) = written {
            self.losses.session(format!("the agent's own list does not show the session as it is: {error}"));
        }
        Ok(())
    }
}
