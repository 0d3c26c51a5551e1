//! A chat of the command line: `store.db` and the small files beside it.

use crate::blobs::{Blobs, bytes_of, hex};
use crate::conversation::Conversation;
use crate::json::{Object, decoded};
use crate::key::Source;
use crate::opening::Opening;
use crate::prompt::one_line;
use crate::proto::{ConversationStateStructure, SubagentPersistedState};
use crate::record::{About, BACKEND, Context, Kept, Record, Times, Typed};
use crate::saved::Saved;
use crate::time;
use crate::uri;
use crate::work;
use prost::Message;
use sepia_ir::{DriverError, ErrorCode, Session, SqlValue, Warning};
use sepia_sdk::{Database, Host};
use std::ops::Range;
use std::rc::Rc;

/// The small files are read up to here.
const NOTE: u32 = 256 << 10;
/// Names that the agent gives a chat that it has not named yet.
const PLACEHOLDER: &str = "New Agent";
/// Roots deeper inside roots than this are not read.
const DEEPEST: usize = 16;

/// Meta row and root in one query. The key that some builds keep in the row never leaves the
/// database.
const OPEN: &str = "WITH kept AS (SELECT CAST(COALESCE(unhex(value), value) AS TEXT) AS doc FROM meta WHERE key = '0' LIMIT 1), \
     about AS (SELECT CASE WHEN json_valid(doc) THEN json_remove(doc, '$.blobEncryptionKey') END AS doc, \
     CASE WHEN json_valid(doc) THEN json_extract(doc, '$.latestRootBlobId') END AS root FROM kept) \
     SELECT about.doc, b.data, (SELECT CAST(value AS TEXT) FROM meta WHERE key = 'sepia' AND octet_length(value) <= 16777216) \
     FROM about LEFT JOIN blobs AS b ON b.id = about.root AND octet_length(b.data) <= 67108864";

/// Blobs that may be an earlier root: they begin as a list of ids does. The newest first.
const EARLIER: &str = "SELECT id, data FROM blobs WHERE octet_length(data) BETWEEN 34 AND 4194304 \
     AND substr(CAST(data AS BLOB), 1, 2) = x'0A20' ORDER BY rowid DESC LIMIT 64";

/// Id of the empty blob.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

type Root = ConversationStateStructure;

/// A chat that was opened.
pub(crate) struct Chat {
    source: Source,
    blobs: Blobs,
    /// The row of its database, as JSON text; without one, `{}`.
    meta: String,
    /// `meta.json` beside it.
    note: String,
    root_id: String,
    root: Root,
    recovered: Option<String>,
    /// What rides along.
    saved: Option<Rc<Saved>>,
    warnings: Vec<Warning>,
    /// Newest time of its files.
    file_time: f64,
}

/// Opens a chat. None when it is gone, or nothing was ever said in it.
pub(crate) fn open(host: &Host, source: &Source) -> Result<Option<Chat>, DriverError> {
    let store = source.kind.store();
    let database: Rc<dyn Database> = match host.database(store, &source.path) {
        Ok(database) => database.into(),
        Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let rows = match (*database).rows(OPEN, &[]) {
        Ok(rows) => rows,
        Err(error) => return unknown_layout(&database, source, error),
    };
    let (doc, data, saved) = match rows.into_iter().next().map(<[SqlValue; 3]>::try_from) {
        Some(Ok([doc, data, saved])) => (bytes_of(doc), data, bytes_of(saved)),
        _ => (Vec::new(), SqlValue::Null, Vec::new()),
    };
    let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let note = beside(host, store, &format!("{folder}/meta.json"));
    let meta = decoded(&doc).0.into_owned();
    let mut chat = Chat {
        source: source.clone(),
        blobs: Blobs::of_chat(database),
        root_id: String::new(),
        root: Root::default(),
        recovered: None,
        warnings: Vec::new(),
        file_time: 0.0,
        meta,
        note: String::new(),
        saved: None,
    };
    match note {
        Ok(note) => chat.note = note.unwrap_or_default(),
        Err(warning) => chat.warnings.push(warning),
    }
    if !saved.is_empty() {
        match Saved::parse(&decoded(&saved).0) {
            Some(saved) => {
                // The database was written, and the file beside it not any more.
                if let Some(switch) = &saved.note
                    && hex(&host.sha256(chat.note.as_bytes())) == switch.was
                {
                    chat.note.clone_from(&switch.is);
                }
                chat.saved = Some(Rc::new(saved));
            }
            None => {
                chat.warn("broken-note", "what was kept beside its messages is of no known shape and was passed over");
            }
        }
    }
    if !chat.note.is_empty() && Object::parse(&chat.note).is_none() {
        chat.warn("broken-note", "`meta.json` is no JSON object and was passed over");
    }
    if Object::parse(&chat.meta).is_none() {
        chat.warn("unreadable-meta", "its row of settings is missing or no JSON");
        "{}".clone_into(&mut chat.meta);
    }
    let root_id = Object::parse(&chat.meta).and_then(|meta| meta.filled("latestRootBlobId")).unwrap_or_default();
    chat.root_id = root_id.to_ascii_lowercase();
    match data {
        // A chat in which nothing was said has the empty blob for its state.
        SqlValue::Null if chat.root_id == EMPTY => {}
        SqlValue::Null => {
            if !chat.recover()? && chat.root_id.is_empty() {
                return Ok(None);
            }
        }
        data => match Root::decode(bytes_of(data).as_slice()) {
            Ok(root) => chat.root = root,
            Err(_) => {
                chat.recover()?;
            }
        },
    }
    Ok(Some(chat))
}

/// A database without the tables of a chat: new and empty, or of a layout that is not known.
fn unknown_layout(
    database: &Rc<dyn Database>,
    source: &Source,
    error: DriverError,
) -> Result<Option<Chat>, DriverError> {
    let tables = (**database).rows("SELECT name FROM sqlite_schema WHERE type = 'table'", &[])?;
    if tables.is_empty() {
        return Ok(None);
    }
    let known = ["blobs", "meta"];
    let has = |name: &str| tables.iter().any(|row| matches!(row.first(), Some(SqlValue::Text(text)) if text == name));
    if known.iter().all(|name| has(name)) {
        return Err(error);
    }
    let message =
        format!("`{}` has none of the tables that a chat has; its layout is not known to this driver", source.path);
    Err(DriverError::new(ErrorCode::Unsupported, message))
}

/// A small file beside a chat, if it is there, as text. One that can't be read is no reason to
/// lose the chat.
fn beside(host: &Host, store: &str, path: &str) -> Result<Option<String>, Warning> {
    match host.read(store, path, 0, NOTE) {
        Ok(bytes) => Ok(Some(decoded(&bytes).0.into_owned())),
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        Err(error) => {
            let message = format!("`{path}` was passed over: {error}");
            Err(Warning::new("unreadable-file", message).in_file(path))
        }
    }
}

fn lossy(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

impl Chat {
    fn warn(&mut self, code: &str, what: &str) {
        let message = format!("of the chat `{}` {what}", self.source.path);
        self.warnings.push(Warning::new(code, message).in_file(&self.source.path));
    }

    /// Looks for the newest earlier root, since the one that the chat names is missing or
    /// broken. The agent itself would show an empty chat. Says whether one was found.
    fn recover(&mut self) -> Result<bool, DriverError> {
        let database = self.blobs.database();
        let mut best: Option<(String, Root)> = None;
        for row in (*database).rows(EARLIER, &[])? {
            let Ok([id, data]) = <[SqlValue; 2]>::try_from(row) else { continue };
            let Ok(root) = Root::decode(bytes_of(data).as_slice()) else { continue };
            // An archive begins alike, and has none of what every root has.
            let marked =
                !root.previous_workspace_uris.is_empty() || !root.agent_type.is_empty() || !root.turn_ids.is_empty();
            if marked && root.message_ids.iter().all(|id| id.len() == 32) {
                best = Some((String::from_utf8_lossy(&bytes_of(id)).into_owned(), root));
                break;
            }
        }
        let missing = self.root_id.clone();
        if let Some((id, root)) = best {
            let what = format!(
                "the state `{missing}` is not in it; the earlier state `{id}` is shown, and what came after is not"
            );
            self.warn("missing-root", &what);
            (self.root, self.recovered) = (root, Some(id));
            return Ok(true);
        }
        if !missing.is_empty() {
            let what = format!("the state `{missing}` is not in it, nor is any earlier one");
            self.warn("missing-root", &what);
        }
        Ok(false)
    }

    /// Whether anything was said in it.
    pub(crate) fn has_messages(&self) -> bool {
        !self.root.message_ids.is_empty() || !self.root.summary_archive_ids.is_empty() || !self.root.turn_ids.is_empty()
    }

    /// The chat and the sub-agents that are kept in it; `id` is empty where only the chat itself
    /// tells it.
    pub(crate) fn records(mut self, host: &Host, id: &str, file_time: f64) -> Result<Vec<Record>, DriverError> {
        self.file_time = file_time;
        let meta_text = std::mem::take(&mut self.meta);
        let note_text = std::mem::take(&mut self.note);
        let meta = Object::parse(&meta_text).unwrap_or_default();
        let note = Object::parse(&note_text).unwrap_or_default();
        let id = if id.is_empty() { meta.filled("agentId").unwrap_or_default() } else { id.to_owned() };
        if !crate::places::plausible(&id) {
            return Ok(Vec::new());
        }
        let mut about = About {
            space: self.source.kind.space(),
            root: Some(self.root_id.clone()).filter(|id| !id.is_empty()),
            recovered_root: self.recovered.clone(),
            run_everything: meta.flag("isRunEverything") || meta.text("mode").as_deref() == Some("auto-run"),
            subagent: note.flag("isSubagent") || meta.object("subagentInfo").is_some(),
            warnings: std::mem::take(&mut self.warnings),
            ..About::default()
        };
        let mut session = Session::new(&id, BACKEND);
        session.agent_mode = match meta.text("mode").as_deref() {
            Some(mode @ ("plan" | "search" | "debug" | "ask")) => mode.to_owned(),
            // What the agent does with a mode that it does not know.
            _ => "default".to_owned(),
        };
        session.model = meta.filled("lastUsedModel").unwrap_or_default();
        if about.subagent {
            session.parent_session_id = meta.object("subagentInfo").and_then(|info| parent_of(&info));
            session.agent_id = session.parent_session_id.as_ref().map(|_| id.clone());
        }
        let opening = Opening::of(&self.blobs, &self.root);
        self.directories(&mut session, &note, &opening)?;
        let number = |object: &Object<'_>, name: &str| object.number(name).and_then(time::of_number);
        let times = Times {
            created: number(&note, "createdAtMs").or_else(|| number(&meta, "createdAt")),
            active: number(&note, "updatedAtMs").or_else(|| last_turn(&self.root)),
        };
        times.fill(&mut session, &mut about, self.file_time);
        let named = [note.filled("title"), meta.filled("name")].into_iter().flatten().map(|name| one_line(&name));
        let named: Vec<String> = named.filter(|name| !name.is_empty()).collect();
        (session.title, about.title_source) = match named.iter().find(|name| *name != PLACEHOLDER) {
            Some(name) => (name.clone(), "generated"),
            None if !named.is_empty() => (PLACEHOLDER.to_owned(), "default"),
            None => opening.title(&id)?,
        };
        let typed = Some(self.typed(host));
        let parent = Parent { id: &id, cwd: session.working_directory.clone(), file: self.file_time };
        let kept = self.saved.as_ref().map(|saved| Kept {
            saved: Rc::clone(saved),
            blobs: self.blobs.clone(),
            went_on: saved.root != self.root_id,
        });
        let mut records = vec![self.record(&self.root, session, about, typed, kept)];
        self.subagents(&self.root, &parent, 0, &mut records)?;
        Ok(records)
    }

    fn directories(&self, session: &mut Session, note: &Object<'_>, opening: &Opening<'_>) -> Result<(), DriverError> {
        let mut dirs: Vec<String> = Vec::new();
        for raw in &self.root.previous_workspace_uris {
            if let Some(dir) = uri::path(&String::from_utf8_lossy(raw)).filter(|dir| !dirs.contains(dir)) {
                dirs.push(dir);
            }
        }
        session.working_directory = match note.filled("cwd").or_else(|| dirs.last().cloned()) {
            Some(cwd) => cwd,
            None => opening.workspace()?.unwrap_or_default(),
        };
        if dirs.len() > 1 {
            session.workspace_dirs = serde_json::to_string(&dirs).unwrap_or_else(|_| "[]".to_owned());
        }
        Ok(())
    }

    /// `prompt_history.json` is read when the session is opened; listing does without.
    fn typed(&self, host: &Host) -> Typed {
        let folder = self.source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (host, store, path) = (host.clone(), self.source.kind.store(), format!("{folder}/prompt_history.json"));
        Rc::new(move || {
            let text = match beside(&host, store, &path) {
                Ok(Some(text)) => text,
                Ok(None) => return Ok(Vec::new()),
                Err(warning) => return Err(warning),
            };
            serde_json::from_str::<Vec<String>>(&text).map_err(|_| {
                let message = format!("`{path}` is no list of prompts and was passed over");
                Warning::new("broken-note", message).in_file(&path)
            })
        })
    }

    fn record(
        &self,
        root: &Root,
        session: Session,
        mut about: About,
        typed: Option<Typed>,
        saved: Option<Kept>,
    ) -> Record {
        about.agent_type = lossy(&root.agent_type);
        let tracked = || root.tracked_git_repo_branches.iter().find_map(|repo| lossy(&repo.branch_name));
        about.git_branch = lossy(&root.active_branch_name).or_else(tracked);
        about.compactions = root.self_summary_count;
        #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^53")]
        let context =
            root.token_details.map(|tokens| Context { used: tokens.used_tokens as f64, max: tokens.max_tokens as f64 });
        about.context = context;
        let (blobs, shown, kept) = (self.blobs.clone(), self.source.path.clone(), Rc::new(root.clone()));
        let read = Rc::new(std::cell::OnceCell::<Rc<Conversation>>::new());
        let conversation = {
            let (blobs, kept, read) = (blobs.clone(), Rc::clone(&kept), Rc::clone(&read));
            let saved = saved.as_ref().map(|kept| Rc::clone(&kept.saved));
            move || -> Result<Rc<Conversation>, DriverError> {
                if let Some(known) = read.get() {
                    return Ok(Rc::clone(known));
                }
                let fresh = Rc::new(Conversation::read(&kept, &blobs, saved.as_deref())?);
                Ok(Rc::clone(read.get_or_init(|| fresh)))
            }
        };
        let more = {
            let (blobs, conversation) = (blobs.clone(), conversation.clone());
            move |about: &mut About| -> Result<(), DriverError> {
                let conversation = conversation()?;
                about.warnings.extend(conversation.warnings.iter().cloned());
                about.turns = Some(kept.turn_ids.len()).filter(|turns| *turns > 0);
                about.shell_turns = Some(conversation.shell_turns).filter(|turns| *turns > 0);
                work::tell(about, &kept, &blobs)
            }
        };
        let reader = {
            let conversation = conversation.clone();
            move |range: Range<usize>| conversation()?.feed(&blobs, &shown, &range)
        };
        Record { session, about, reader: Rc::new(reader), file: None, typed, more: Some(Rc::new(more)), kept: saved }
    }

    /// Sub-agents whose state is inside the root, and theirs inside that.
    fn subagents(
        &self,
        root: &Root,
        parent: &Parent<'_>,
        depth: usize,
        out: &mut Vec<Record>,
    ) -> Result<(), DriverError> {
        if depth >= DEEPEST {
            return Ok(());
        }
        for (id, state) in &root.subagent_states {
            let Some(inner) = state.conversation_state.as_ref().filter(|_| crate::places::plausible(id)) else {
                continue;
            };
            if out.iter().any(|record| record.session.id == *id) {
                continue;
            }
            let (session, about) = self.subagent(root, id, state, inner, parent)?;
            out.push(self.record(inner, session, about, None, None));
            let own = Parent { id, cwd: parent.cwd.clone(), file: parent.file };
            self.subagents(inner, &own, depth + 1, out)?;
        }
        Ok(())
    }

    fn subagent(
        &self,
        root: &Root,
        id: &str,
        state: &SubagentPersistedState,
        inner: &Root,
        parent: &Parent<'_>,
    ) -> Result<(Session, About), DriverError> {
        let run = root.subagent_runs_by_parent_tool_call_id.iter().find(|(_, run)| run.subagent_id == id.as_bytes());
        let status = run.and_then(|(_, run)| match run.status {
            1 => Some("running"),
            2 => Some("backgrounded"),
            3 => Some("success"),
            4 => Some("error"),
            5 => Some("aborted"),
            _ => None,
        });
        let mut about = About {
            space: self.source.kind.space(),
            subagent: true,
            tool_use_id: run.map(|(call, _)| call.clone()),
            status: status.map(str::to_owned),
            ..About::default()
        };
        let mut session = Session::new(id, BACKEND);
        session.parent_session_id = Some(parent.id.to_owned());
        session.agent_id = Some(id.to_owned());
        "default".clone_into(&mut session.agent_mode);
        session.model = lossy(&state.model_id).unwrap_or_default();
        session.working_directory.clone_from(&parent.cwd);
        let times = Times {
            created: time::of_ms(state.created_timestamp_ms),
            active: time::of_ms(state.last_used_timestamp_ms).or_else(|| time::of_ms(state.created_timestamp_ms)),
        };
        times.fill(&mut session, &mut about, parent.file);
        let described =
            run.and_then(|(_, run)| lossy(&run.title)).map(|title| one_line(&title)).filter(|t| !t.is_empty());
        let opening = Opening::of(&self.blobs, inner);
        (session.title, about.title_source) = match described {
            Some(title) => (title, "description"),
            None => opening.title(id)?,
        };
        Ok((session, about))
    }
}

/// What sub-agents have of the session that started them.
struct Parent<'a> {
    id: &'a str,
    cwd: String,
    file: f64,
}

/// The shape of what newer builds tell of a sub-agent is not settled: the names that a parent
/// may go by.
pub(crate) fn parent_of(info: &Object<'_>) -> Option<String> {
    let names = ["parentAgentId", "parentConversationId", "parentComposerId", "parentSessionId", "parentId"];
    names.iter().find_map(|name| info.filled(name)).filter(|id| crate::places::plausible(id))
}

/// End of the last turn that has a time.
fn last_turn(root: &Root) -> Option<f64> {
    root.turn_timings.iter().rev().find_map(|timing| time::of_ms(timing.timestamp_ms))
}
