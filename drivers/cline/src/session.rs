//! Rows of sessions, and what their messages are read from: of session folders, of transcripts
//! in them, and of rows of the index that have no files.

use crate::about::{About, Parts};
use crate::carried_header::CarriedHeader;
use crate::compaction;
use crate::database::Index;
use crate::elements::Elements;
use crate::facts::{self, Facts};
use crate::gather::Gathered;
use crate::head::{self, Head};
use crate::index::{Dialect, Source};
use crate::nodes;
use crate::place::{self, Folder, Kept, SESSIONS, STORE};
use crate::task;
use crate::time;
use crate::title::Titles;
use sepia_ir::{DriverError, FileEntry, Session, SurveyQuery, Warning};
use sepia_sdk::Host;
use std::rc::Rc;

/// `backendType` of the sessions.
pub(crate) const BACKEND: &str = "cline";
/// A manifest is read up to this size.
const MANIFEST: u32 = 8 << 20;
/// Up to this size a manifest is taken in one look.
const SHORT_MANIFEST: u32 = 64 << 10;

/// A session that was found.
pub(crate) struct Found {
    pub(crate) session: Session,
    pub(crate) about: About,
    /// What its messages are read from, if there is anything.
    pub(crate) source: Option<Source>,
    /// Where what a compaction left stands, if there was one.
    pub(crate) compaction: Option<crate::pieces::Place>,
    /// Put into the session when it is read in full.
    pub(crate) checkpoints: Vec<sepia_ir::CheckpointRef>,
    /// Store and files of a task.
    pub(crate) task: Option<(&'static str, task::TaskFiles)>,
}

/// The session of a place; none when there is none any more.
pub(crate) fn find(host: &Host, kept: &Kept, index: &Index, tasks: &task::Lists) -> Result<Option<Found>, DriverError> {
    match kept {
        Kept::Folder(id) => of_folder(host, id, index),
        Kept::Agent { root, stem } => of_agent(host, root, stem, index),
        Kept::Row(id) => of_row(host, id, index),
        Kept::Task { store, id } => task::find(host, store, id, tasks),
    }
}

impl Found {
    /// Adds what lies beside the messages to what they are read with.
    pub(crate) fn prepare(&mut self, host: &Host) -> Result<(), DriverError> {
        self.with_shown(host)?;
        self.with_compaction(host)
    }

    fn with_compaction(&mut self, host: &Host) -> Result<(), DriverError> {
        let Some((place, source)) = self.compaction.take().zip(self.source.as_mut()) else { return Ok(()) };
        match compaction::read(host, place)? {
            Ok((compacted, told)) => {
                source.compaction = Some(compacted);
                self.about.compaction = Some(told);
            }
            Err(warning) => self.about.warnings.push(warning),
        }
        Ok(())
    }

    /// Adds what a look through the messages told.
    pub(crate) fn with_messages(&mut self, gathered: &mut Gathered) {
        let about = &mut self.about;
        about.stats = Some(std::mem::take(&mut gathered.stats));
        about.opaque = std::mem::take(&mut gathered.opaque);
        about.warnings.append(&mut gathered.warnings);
        if let Some(compaction) = &mut about.compaction {
            compaction.stale = !gathered.compacted;
        }
        self.session.main_chain_id = gathered.index.tip().into();
    }

    /// The session, with its metadata.
    pub(crate) fn finish(mut self, parts: Parts) -> Session {
        self.about.put_into(&mut self.session, parts);
        self.session
    }
}

/// The row of a session folder from its manifest alone, which most rows are: one that tells
/// everything, and whose times are not newer than itself. None says that more has to be looked
/// at, and nothing else.
pub(crate) fn of_manifest(host: &Host, id: &str) -> Option<Session> {
    let query = SurveyQuery { needles: Vec::new(), head: SHORT_MANIFEST, tail: 0, max_line: 0, max_lines: 0 };
    let report = host.survey(STORE, &format!("{SESSIONS}/{id}/{id}.json"), &query).ok()?;
    if report.file.bytes > u64::from(SHORT_MANIFEST) {
        return None;
    }
    let (facts, None) = facts::of_manifest(&report.head, id) else { return None };
    let file_time = time::of_file(report.file.modified_ns);
    let sound = |at: Option<f64>| at.is_some_and(|at| at <= time::bound(file_time));
    let told = sound(facts.started) && sound(facts.ended) && facts.meta.terminal_marker.is_none();
    let titled = Titles::new(facts.meta.title.as_deref(), None).stored.is_some();
    if told && titled { of_facts(host, id, &facts, file_time).ok() } else { None }
}

/// The row of a session as its manifest alone tells it. `file_time`: when that was written, epoch
/// seconds.
pub(crate) fn of_facts(host: &Host, id: &str, facts: &Facts, file_time: f64) -> Result<Session, DriverError> {
    let titles = Titles::new(facts.meta.title.as_deref(), facts.prompt.as_deref());
    let (mut session, mut about) = (Session::new(id, BACKEND), About::default());
    Basis { host, facts, titles, file_time }.fill(&mut session, &mut about, None)?;
    about.put_into(&mut session, Parts::default());
    Ok(session)
}

fn of_folder(host: &Host, id: &str, index: &Index) -> Result<Option<Found>, DriverError> {
    let folder = Folder::look(host, id)?;
    if !folder.is_session() {
        return Ok(None);
    }
    let mut about = About::default();
    let manifest = manifest(host, &folder, &mut about);
    let known = manifest.as_ref().is_some_and(|facts| facts.meta.title.is_some());
    let row = if known { None } else { row(index, id, &mut about) };
    let listed = manifest.is_some() || row.is_some();
    let (facts, row) = match (manifest, row) {
        (Some(facts), row) => (facts, row),
        (None, Some(row)) => ((*row).clone(), None),
        (None, None) => (Facts::default(), None),
    };
    if !listed && folder.messages().is_some_and(|file| is_unfinished(host, file)) {
        return Ok(None);
    }
    if !listed {
        let message = "the session has neither a manifest nor a row in the index, so the agent itself does not list it";
        about.warnings.push(Warning::new("unlisted", message));
    }
    let title = facts.meta.title.clone().or_else(|| row.and_then(|row| row.meta.title.clone()));
    let titles = Titles::new(title.as_deref(), facts.prompt.as_deref());
    let messages = messages(&folder, &facts);
    if messages.is_none() {
        let message = "the session has no file of messages";
        about.warnings.push(Warning::new("no-transcript", message));
    }
    let source = messages.map(|file| source(file, folder.compaction()));
    let mut session = Session::new(id, BACKEND);
    session.hidden = i64::from(!listed);
    let basis = Basis { host, facts: &facts, titles, file_time: folder.time() };
    basis.fill(&mut session, &mut about, source.as_ref())?;
    let compaction = folder.compaction().map(|file| place::place(STORE, file));
    Ok(Some(Found { session, about, source, compaction, checkpoints: facts.meta.checkpoints, task: None }))
}

fn of_agent(host: &Host, root: &str, stem: &str, index: &Index) -> Result<Option<Found>, DriverError> {
    let folder = Folder::look(host, root)?;
    let Some((_, file)) = folder.agents().find(|(known, _)| *known == stem) else { return Ok(None) };
    let id = place::agent_session(root, stem);
    let mut about = About::default();
    let mut facts = row(index, &id, &mut about).map(|row| (*row).clone()).unwrap_or_default();
    if facts.cwd.is_none() {
        // What the parent says holds for it, too.
        let mut of_parent = About::default();
        let parent = manifest(host, &folder, &mut of_parent);
        let parent = parent.or_else(|| row(index, root, &mut of_parent).map(|row| (*row).clone()));
        let parent = parent.unwrap_or_default();
        facts.cwd = parent.cwd;
        facts.workspace_root = parent.workspace_root;
        facts.model = facts.model.or(parent.model);
        facts.provider = facts.provider.or(parent.provider);
        facts.source = facts.source.or(parent.source);
    }
    let mut session = Session::new(&id, BACKEND);
    session.parent_session_id = Some(facts.parent.clone().unwrap_or_else(|| root.to_owned()));
    session.agent_id = Some(folder.agent_id(stem).to_owned());
    about.agent_type = Some(if stem.contains("__") { "teammate" } else { "subagent" });
    let source = source(file, None);
    let titles = Titles::new(facts.meta.title.as_deref(), facts.prompt.as_deref());
    let basis = Basis { host, facts: &facts, titles, file_time: source.file_time };
    basis.fill(&mut session, &mut about, Some(&source))?;
    Ok(Some(Found {
        session,
        about,
        source: Some(source),
        compaction: None,
        checkpoints: facts.meta.checkpoints,
        task: None,
    }))
}

fn of_row(host: &Host, id: &str, index: &Index) -> Result<Option<Found>, DriverError> {
    let mut about = About::default();
    let Some(facts) = index.row(id)? else { return Ok(None) };
    let mut session = Session::new(id, BACKEND);
    session.parent_session_id.clone_from(&facts.parent);
    if let Some(parent) = &facts.parent {
        let own = id.strip_prefix(parent.as_str()).and_then(|rest| rest.strip_prefix("__"));
        let task = own.and_then(|rest| rest.strip_prefix("teamtask__"));
        // Of several tasks of one agent only the newest is known by the agent's name alone.
        let newest = match &facts.agent {
            Some(agent) => index.child(parent, agent)?.filter(|newest| newest == id).and(Some(agent.clone())),
            None => None,
        };
        session.agent_id = newest.or_else(|| task.or(own).map(str::to_owned)).or_else(|| facts.agent.clone());
        about.agent_type = Some(if task.is_some() { "teammate" } else { "subagent" });
    }
    let message = "the session stands in the index and has no file of messages";
    about.warnings.push(Warning::new("no-transcript", message));
    let titles = Titles::new(facts.meta.title.as_deref(), facts.prompt.as_deref());
    let file_time = database_time(host)?;
    Basis { host, facts: &facts, titles, file_time }.fill(&mut session, &mut about, None)?;
    let checkpoints = facts.meta.checkpoints.clone();
    Ok(Some(Found { session, about, source: None, compaction: None, checkpoints, task: None }))
}

/// When the index changed last, epoch seconds.
pub(crate) fn database_time(host: &Host) -> Result<f64, DriverError> {
    let names = ["sessions.db".to_owned(), "sessions.db-wal".to_owned()];
    let files = host.walk(STORE, "db", 0, &names)?.files;
    Ok(files.iter().map(|file| time::of_file(file.modified_ns)).fold(0.0, f64::max))
}

/// What the manifest of a folder tells; a warning, and nothing, when the agent itself would
/// pass it over.
pub(crate) fn manifest(host: &Host, folder: &Folder, about: &mut About) -> Option<Facts> {
    let file = folder.manifest()?;
    let path = file.path.as_str();
    let wrong = match host.read(STORE, path, 0, MANIFEST) {
        Ok(bytes) => match facts::of_manifest(&bytes, &folder.name) {
            (facts, None) => return Some(facts),
            (_, Some(wrong)) => wrong,
        },
        Err(error) => error.to_string(),
    };
    let message = format!("the manifest `{path}` was passed over: {wrong}");
    about.warnings.push(Warning::new("invalid-manifest", message).in_file(path));
    None
}

/// The row of a session, a warning when the index can't be read.
fn row(index: &Index, id: &str, about: &mut About) -> Option<Rc<Facts>> {
    match index.row(id) {
        Ok(row) => row,
        Err(error) => {
            about.warnings.push(Index::warning(&error));
            None
        }
    }
}

/// The file of messages of a folder: the one that is named, when it lies in there, else the one
/// with the usual name. A path from the store never leads out of the folder.
fn messages<'a>(folder: &'a Folder, facts: &Facts) -> Option<&'a FileEntry> {
    let named = facts.messages_path.as_deref().and_then(|path| {
        // The store may have been moved, or be shown in another place: the folder and the name count.
        let (place, name) = path.rsplit_once('/')?;
        place.strip_suffix(folder.name.as_str())?.strip_suffix("/sessions/")?;
        folder.own().find(|file| place::file_name(file) == name && Some(*file) != folder.manifest())
    });
    named.or_else(|| folder.messages())
}

/// Whether a file of messages was never put in its place as a session: whoever writes one here
/// marks the file until the manifest stands beside it.
fn is_unfinished(host: &Host, file: &FileEntry) -> bool {
    let mut elements = Elements::head(host, place::place(STORE, file));
    elements.begin().is_ok() && elements.member(sepia_sdk::carried::KEY).is_some()
}

fn source(file: &FileEntry, compaction: Option<&FileEntry>) -> Source {
    let mut stamp = place::stamp(file);
    if let Some(compaction) = compaction {
        stamp.push('+');
        stamp.push_str(&place::stamp(compaction));
    }
    Source {
        place: place::place(STORE, file),
        dialect: Dialect::Session,
        file_time: time::of_file(file.modified_ns),
        stamp,
        ..Source::default()
    }
}

/// What a row is made from.
struct Basis<'a> {
    host: &'a Host,
    facts: &'a Facts,
    titles: Titles,
    /// When what it is kept in changed last, epoch seconds.
    file_time: f64,
}

impl Basis<'_> {
    fn fill(mut self, session: &mut Session, about: &mut About, source: Option<&Source>) -> Result<(), DriverError> {
        let facts = self.facts;
        // The end that is noted for a session whose process died is when somebody noticed.
        let ended = facts.ended.filter(|_| facts.meta.terminal_marker.is_none());
        let untitled = self.titles.is_empty();
        let head = match source {
            Some(source) if untitled || ended.is_none() || facts.started.is_none() => {
                head::look(self.host, source, untitled || facts.started.is_none())?
            }
            _ => Head::default(),
        };
        if untitled {
            self.titles.prompt = head.prompt;
        }
        (session.title, about.title_source) = self.titles.choose(&session.id);
        let last = ended.or(head.updated).or(facts.ended).or(facts.updated);
        let created = facts.started.or(head.started).or_else(|| time::of_id(&session.id));
        times(session, about, created, last, self.file_time);
        session.working_directory = facts.cwd.clone().unwrap_or_default();
        session.model = facts.model.clone().filter(|model| nodes::is_known(model)).unwrap_or_default();
        let wrapped = facts.prompt.as_deref().and_then(|prompt| crate::spoken::in_session(prompt).mode);
        if let Some(mode) = facts.meta.mode.as_deref().or(wrapped) {
            mode.clone_into(&mut session.agent_mode);
        }
        about.status.clone_from(&facts.status);
        about.exit_code = facts.exit_code;
        about.terminal_marker.clone_from(&facts.meta.terminal_marker);
        about.git_branch.clone_from(&facts.meta.git_branch);
        about.version.clone_from(&facts.meta.version);
        about.source.clone_from(&facts.source);
        about.provider = facts.provider.clone().filter(|provider| nodes::is_known(provider));
        about.carried = facts.meta.carried.as_ref().map(|json| CarriedHeader::new(json, facts, self.file_time));
        about.workspace_root = facts.workspace_root.clone().filter(|root| Some(root) != facts.cwd.as_ref());
        about.team.clone_from(&facts.team);
        about.parent_agent_id.clone_from(&facts.parent_agent);
        about.conversation_id.clone_from(&facts.conversation);
        about.total_cost = facts.meta.total_cost;
        about.aggregate_usage = facts.meta.aggregate_usage.clone().map(crate::json_value::JsonValue);
        Ok(())
    }
}

/// Sets the times of a row, none of them newer than what it is kept in.
pub(crate) fn times(session: &mut Session, about: &mut About, created: Option<f64>, last: Option<f64>, file_time: f64) {
    let (at, last_clamped) = time::not_after(last.unwrap_or(file_time), file_time);
    let (from, created_clamped) = time::not_after(created.unwrap_or(at), file_time);
    if last.is_none() {
        about.time_source = Some("file");
    } else if last_clamped || created_clamped {
        about.time_source = Some("clamped");
    }
    session.created_at = from.min(at);
    session.last_activity_at = at;
}
